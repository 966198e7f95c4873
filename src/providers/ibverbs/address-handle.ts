import { VECTOR_WORDS, type VerbsToken } from '../../native/index.ts'
import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import { encodeVector } from './attribute-words.ts'
import type { IbverbsDomain } from './context.ts'
import { attempt, check } from './verb.ts'

interface AddressDomain extends IbverbsDomain {
  readonly addressHandles: Set<IbverbsAddressHandle>
}

/** ibv_create_ah(3). */
export class IbverbsAddressHandle implements ProviderAddressHandle {
  readonly token: VerbsToken
  readonly #domain: AddressDomain

  constructor(domain: AddressDomain, vector: AddressVector) {
    const { verbs, port } = domain.device
    const words = new Float64Array(VECTOR_WORDS)
    encodeVector(words, 0, vector, port, port.number)
    this.#domain = domain
    this.token = attempt(() => verbs.createAddressHandle(domain.handle, words))
  }

  destroy(): void {
    check('ibv_destroy_ah', this.#domain.device.verbs.destroy(this.token), () => 'the address handle is in use')
    this.#domain.addressHandles.delete(this)
  }
}
