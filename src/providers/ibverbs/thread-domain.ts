import type { VerbsToken } from '../../native/index.ts'
import type { ProviderThreadDomain } from '../memory-contract.ts'
import type { IbverbsContext } from './context.ts'
import { attempt, check } from './verb.ts'

/** ibv_alloc_td(3). */
export class IbverbsThreadDomain implements ProviderThreadDomain {
  readonly handle: VerbsToken
  readonly #device: IbverbsContext

  constructor(device: IbverbsContext) {
    this.#device = device
    this.handle = attempt(() => device.verbs.allocateThreadDomain(device.handle))
  }

  destroy(): void {
    check('ibv_dealloc_td', this.#device.verbs.destroy(this.handle), () => 'a parent domain uses it')
  }
}
