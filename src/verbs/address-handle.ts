import type { AddressVector, ProviderAddressHandle } from '../providers/index.ts'
import { type Children, Closable } from './lifetime.ts'
import type { MemoryDomain } from './memory-region.ts'

/** A protection domain, as its address handles know it. */
export interface AddressDomain extends MemoryDomain {
  /** @internal */
  readonly addressHandles: Children<AddressHandle>
  createAddressHandle(vector: AddressVector): AddressHandle
}

/**
 * The destination of datagrams: ibv_create_ah(3). Each request of a `ud` queue pair names an address handle and the
 * queue pair number there.
 */
export class AddressHandle extends Closable {
  readonly label = 'address handle'
  readonly domain: AddressDomain
  readonly vector: AddressVector
  readonly #provider: ProviderAddressHandle

  /** @internal Made by {@link ProtectionDomain.createAddressHandle}. */
  constructor(domain: AddressDomain, vector: AddressVector, provider: ProviderAddressHandle) {
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
