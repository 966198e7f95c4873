import type { AddressVector, ProviderAddressHandle } from '../providers/index.ts'
import { Closable } from './lifetime.ts'
import type { ProtectionDomain } from './protection-domain.ts'

/**
 * Where datagrams go: ibv_create_ah(3). Each request of a `ud` queue pair names one, and the number of the queue pair
 * there.
 */
export class AddressHandle extends Closable {
  readonly label = 'address handle'
  readonly domain: ProtectionDomain
  readonly vector: AddressVector
  readonly #provider: ProviderAddressHandle

  /** @internal Made by {@link ProtectionDomain.createAddressHandle}. */
  constructor(domain: ProtectionDomain, vector: AddressVector, provider: ProviderAddressHandle) {
    super()
    this.domain = domain
    this.vector = vector
    this.#provider = provider
  }

  /** @internal For RequestSlot.AddressHandle. */
  get token(): number {
    this.assertOpen()
    return this.#provider.token
  }

  protected release(): void {
    this.#provider.destroy()
    this.domain.addressHandles.remove(this)
  }
}
