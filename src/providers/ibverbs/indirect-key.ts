import { UnsupportedError, type VerbsToken } from '../../native/index.ts'
import type { ProviderIndirectKey } from '../memory-contract.ts'
import type { IbverbsDomain } from './context.ts'
import { attempt, check } from './verb.ts'

interface KeyDomain extends IbverbsDomain {
  readonly indirectKeys: Set<IbverbsIndirectKey>
}

/** mlx5dv_create_mkey(3): a key made of others (UMR). Never run on hardware by us. */
export class IbverbsIndirectKey implements ProviderIndirectKey {
  readonly token: VerbsToken
  readonly localKey: number
  readonly remoteKey: number
  readonly maxPieces: number
  readonly #domain: KeyDomain

  constructor(domain: KeyDomain, maxPieces: number) {
    const { verbs, attributes } = domain.device
    const why = `mlx5dv_create_mkey: ${attributes.name} does not support indirect keys (mlx5 does)`
    if (verbs.createIndirectKey === undefined) throw new UnsupportedError(why)
    const made = attempt(
      () => verbs.createIndirectKey?.(domain.handle, maxPieces),
      () => why,
    )
    if (made === undefined) throw new UnsupportedError(why)
    this.#domain = domain
    this.token = made.handle
    this.localKey = made.localKey
    this.remoteKey = made.remoteKey
    this.maxPieces = maxPieces
  }

  destroy(): void {
    check('mlx5dv_destroy_mkey', this.#domain.device.verbs.destroy(this.token), () => 'the key is in use')
    this.#domain.indirectKeys.delete(this)
  }
}
