import type { ProviderXrcDomain } from '../providers/index.ts'
import type { Device } from './device.ts'
import { Closable } from './lifetime.ts'

/**
 * The XRC domain of receive queue pairs and the shared receive queues behind them: ibv_open_xrcd(3). With a `path`,
 * processes that open the same file share the domain. One receive queue pair then serves them all, each with its own
 * shared receive queue.
 */
export class XrcDomain extends Closable {
  readonly label = 'XRC domain'
  readonly device: Device
  /** @internal */
  readonly provider: ProviderXrcDomain

  /** @internal Made by {@link Device.openXrcDomain}. */
  constructor(device: Device, provider: ProviderXrcDomain) {
    super()
    this.device = device
    this.provider = provider
  }

  protected release(): void {
    this.provider.destroy()
    this.device.xrcDomains.remove(this)
  }
}
