import type { VerbsToken } from '../../native/index.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import type { IbverbsContext } from './context.ts'
import { attempt, check } from './verb.ts'

/** ibv_open_xrcd(3). */
export class IbverbsXrcDomain implements ProviderXrcDomain {
  readonly handle: VerbsToken
  readonly #device: IbverbsContext

  constructor(device: IbverbsContext, options: XrcDomainOptions) {
    const { path = '', create = true, exclusive = false } = options
    this.#device = device
    this.handle = attempt(() => device.verbs.openXrcDomain(device.handle, path, create, exclusive))
  }

  destroy(): void {
    check('ibv_close_xrcd', this.#device.verbs.destroy(this.handle), () => 'queue pairs or receive queues are in it')
  }
}
