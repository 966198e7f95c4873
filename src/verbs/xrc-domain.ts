import type { ProviderXrcDomain, XrcDomainOptions } from '../providers/index.ts'
import { type Children, Closable } from './lifetime.ts'
import type { OpenedDevice } from './opened-device.ts'

/** A device, as its XRC domains know it. */
export interface XrcDevice extends OpenedDevice {
  /** @internal */
  readonly xrcDomains: Children<XrcDomain>
  openXrcDomain(options?: XrcDomainOptions): XrcDomain
}

/**
 * The XRC domain of receive queue pairs and the shared receive queues behind them: ibv_open_xrcd(3). With a `path`,
 * processes that open the same file share the domain. One receive queue pair then serves them all, each with its own
 * shared receive queue.
 */
export class XrcDomain extends Closable {
  readonly label = 'XRC domain'
  readonly device: XrcDevice
  /** @internal */
  readonly provider: ProviderXrcDomain

  /** @internal Made by {@link Device.openXrcDomain}. */
  constructor(device: XrcDevice, provider: ProviderXrcDomain) {
    super()
    this.device = device
    this.provider = provider
  }

  protected release(): void {
    this.provider.destroy()
    this.device.xrcDomains.remove(this)
  }
}
