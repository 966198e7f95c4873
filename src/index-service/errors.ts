import { AetherError } from '../native/index.ts'

/** What is wrong: each is a code, `ERR_AETHER_INDEX_MEMORY` and so on. */
export type IndexErrorKind =
  /** The index, or this client, was closed. */
  | 'CLOSED'
  /** This machine has no memory left for the index. */
  | 'MEMORY'
  /** The bound of the index's memory is reached, and its policy evicts nothing that could go. */
  | 'FULL'
  /** The key holds a value of another type. */
  | 'WRONG_TYPE'
  /** The command was refused: its arguments, or the state of its keys. The message is that of the command. */
  | 'REFUSED'
  /** No node answered in time. `outcome` says what is known of a write. */
  | 'TIMEOUT'
  /** No node of the index can be reached. */
  | 'UNREACHABLE'
  /** More is under way than the node takes. Nothing was done: try again later. */
  | 'BUSY'
  /** Bytes that are no encoded tuple. */
  | 'TUPLE'

/** What became of a write. After `unknown` it may have been applied, or may still be. */
export type IndexOutcome = 'not-applied' | 'unknown'

const CODE = 'ERR_AETHER_INDEX_'

/** The index refused an operation, or could not be asked; `code` says why. */
export class IndexError extends AetherError {
  override readonly name = 'IndexError'
  /** For a write that failed: what is known of it. */
  readonly outcome: IndexOutcome | undefined

  constructor(kind: IndexErrorKind, message: string, details: ErrorOptions & { outcome?: IndexOutcome } = {}) {
    super(`${CODE}${kind}`, message, 'cause' in details ? { cause: details.cause } : undefined)
    this.outcome = details.outcome
  }
}
