import { AetherError } from '../native/index.ts'

/** What is wrong: each is a code, `ERR_AETHER_INDEX_CLOSED` and so on. */
export type IndexErrorKind =
  /** The index, or this client, was closed. */
  | 'CLOSED'
  /** This machine has no memory left for the index. */
  | 'MEMORY'
  /** The bound of the index's memory is reached, and nothing could be evicted. */
  | 'FULL'
  /** The key holds a value of another type. */
  | 'WRONG_TYPE'
  /** The command was refused: its arguments, or the state of its keys. The message is that of the command. */
  | 'REFUSED'
  /** No answer came in time. `outcome` says what is known of a write. */
  | 'TIMEOUT'
  /** No node of the index can be reached. */
  | 'UNREACHABLE'
  /** More is under way than the node takes. Nothing was done: try again later. */
  | 'BUSY'
  /** A file is no whole backup, or the index into which it is to be restored has keys. `offset`: where damage is. */
  | 'BACKUP'
  /** Bytes that are not an encoded tuple. `offset` is where. */
  | 'KEY'
  /** Bytes that are not a command for a shard. `offset` is where. */
  | 'COMMAND'

/** What became of a write. After `unknown` it may have been applied, or may still be. */
export type IndexOutcome = 'not-applied' | 'unknown'

/** What an error has besides its message, where it applies. */
export interface IndexErrorDetails extends ErrorOptions {
  readonly outcome?: IndexOutcome | undefined
  readonly offset?: number | undefined
}

/** The index refused an operation, or could not be asked; `code` says why. */
export class IndexError extends AetherError {
  override readonly name = 'IndexError'
  /** @internal What `code` says. */
  readonly kind: IndexErrorKind
  /** For a write that failed: what is known of it. */
  readonly outcome: IndexOutcome | undefined
  /** For damage: the byte at which it is. */
  readonly offset: number | undefined

  constructor(kind: IndexErrorKind, message: string, details: IndexErrorDetails = {}) {
    super(`ERR_AETHER_INDEX_${kind}`, message, 'cause' in details ? { cause: details.cause } : undefined)
    this.kind = kind
    this.outcome = details.outcome
    this.offset = details.offset
  }
}
