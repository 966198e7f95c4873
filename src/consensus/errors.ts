import { AetherError } from '../native/index.ts'

/** What is wrong: each is a code, `ERR_AETHER_CONSENSUS_RECORD` and so on. */
export type ConsensusErrorKind =
  /** It took longer than the caller would wait: no majority of the voters answers, or none did for that long. */
  | 'TIMEOUT'
  /** The replica was closed in the meantime. */
  | 'CLOSED'
  /** The voters of this log have ended, and its entries with them. */
  | 'LOST'
  /** Another process of the group has this name open with another log, or keeps it in another way. */
  | 'STRANGER'
  /** This process leads no election, or no more. */
  | 'NOT_LEADER'
  /** No process of that rank campaigns. */
  | 'NO_CANDIDATE'
  /** A decided entry holds bytes that are not records. `offset` is where. */
  | 'RECORD'
  /** A snapshot is damaged, cut off, or not in order. Nothing was restored. */
  | 'SNAPSHOT'
  /** A snapshot was taken by another version. */
  | 'SNAPSHOT_VERSION'
  /** `snapshot()` or `restore()` of the machine threw, and its replica was stopped. `cause` is what it threw. */
  | 'MACHINE'
  /** The machine threw. `cause` has the name, message and code of what it threw. */
  | 'REJECTED'
  /** The machine of this process came to other outcomes than those of a majority: it is not deterministic. */
  | 'DEVIATES'
  /** The log uses commands that this release does not know. The replica has stopped before the first of them. */
  | 'FORMAT'
  /** The session was unknown: it expired, or never began. */
  | 'EXPIRED'
  /** The command was applied before, and its answer was dropped after it had been acknowledged. */
  | 'ACKNOWLEDGED'
  /** Changes that are no longer kept. `first` is the number of the first that is. */
  | 'CHANGES_GONE'
  /** A file of the log is damaged before its tail. `file` and `offset` say where. */
  | 'LOG_DAMAGED'
  /** A file of the log was written by another version. */
  | 'LOG_VERSION'
  /** Another process, or another object, has the log open. */
  | 'LOG_IN_USE'
  /** The directory holds the log of another machine. */
  | 'LOG_FOREIGN'
  /** The disk is full. What was appended stays in memory and can be synced again. */
  | 'LOG_FULL'
  /** The disk failed. The log refuses all further use. */
  | 'LOG_FAILED'

/** What became of a proposed command. After `unknown` it may have been applied, or may still be. */
export type ProposalOutcome = 'applied' | 'not-applied' | 'unknown'

/** What an error has besides its message, where it applies. */
export interface ConsensusErrorDetails extends ErrorOptions {
  readonly outcome?: ProposalOutcome | undefined
  readonly file?: string | undefined
  readonly offset?: number | undefined
  readonly first?: number | undefined
}

const CODE = 'ERR_AETHER_CONSENSUS_'

/** A replicated machine, its snapshot or its log refused an operation; `code` says why. */
export class ConsensusError extends AetherError {
  override readonly name = 'ConsensusError'
  /** For a proposal: what became of the command. */
  readonly outcome: ProposalOutcome | undefined
  /** For a log: the path of the file. */
  readonly file: string | undefined
  /** For damage: the byte at which it begins. */
  readonly offset: number | undefined
  /** For `ERR_AETHER_CONSENSUS_CHANGES_GONE`: the number of the first change that is kept. */
  readonly first: number | undefined

  constructor(kind: ConsensusErrorKind, message: string, details: ConsensusErrorDetails = {}) {
    super(`${CODE}${kind}`, message, 'cause' in details ? { cause: details.cause } : undefined)
    this.outcome = details.outcome
    this.file = details.file
    this.offset = details.offset
    this.first = details.first
  }

  /** @internal What `code` says. */
  get kind(): ConsensusErrorKind {
    return this.code.slice(CODE.length) as ConsensusErrorKind
  }

  /** @internal The same, for a proposal. */
  withOutcome(outcome: ProposalOutcome | undefined): ConsensusError {
    const { kind, file, offset, first, cause } = this
    const details = { outcome, file, offset, first, ...(cause === undefined ? {} : { cause }) }
    return new ConsensusError(kind, this.message, details)
  }
}
