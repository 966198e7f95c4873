import { AetherError } from '../native/index.ts'

/** What is wrong: each is a code, `ERR_AETHER_INDEX_KEY` and so on. */
type IndexErrorKind =
  /** Bytes that are not an encoded tuple. `offset` is where. */
  | 'KEY'
  /** Bytes that are not a command for a shard. `offset` is where. */
  | 'COMMAND'

/** The index service refused an operation; `code` says why. */
export class IndexError extends AetherError {
  override readonly name = 'IndexError'
  /** For damage: the byte at which it is. */
  readonly offset: number | undefined

  constructor(kind: IndexErrorKind, message: string, details: { readonly offset?: number | undefined } = {}) {
    super(`ERR_AETHER_INDEX_${kind}`, message)
    this.offset = details.offset
  }
}
