import type { ProviderThreadDomain } from '../providers/index.ts'
import { type Children, Closable } from './lifetime.ts'
import type { OpenedDevice } from './opened-device.ts'

/** A device, as its thread domains know it. */
export interface ThreadDevice extends OpenedDevice {
  /** @internal */
  readonly threadDomains: Children<ThreadDomain>
  createThreadDomain(): ThreadDomain
}

/**
 * A promise that one thread at a time uses what is made under it: ibv_alloc_td(3). A real device's library can then
 * leave out locks. Pass it to {@link ProtectionDomain.createParentDomain}.
 */
export class ThreadDomain extends Closable {
  readonly label = 'thread domain'
  readonly device: ThreadDevice
  /** @internal */
  readonly provider: ProviderThreadDomain

  /** @internal Made by {@link Device.createThreadDomain}. */
  constructor(device: ThreadDevice, provider: ProviderThreadDomain) {
    super()
    this.device = device
    this.provider = provider
  }

  protected release(): void {
    this.provider.destroy()
    this.device.threadDomains.remove(this)
  }
}
