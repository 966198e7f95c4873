import type { FailOver } from './replica/fail-over.ts'

/** Where a replica stands. */
export interface ReplicatedStatus {
  readonly term: number
  /** Rank of the leader; undefined while none is known. */
  readonly leader: number | undefined
  readonly isLeader: boolean
  /** The last entry that this replica has, and the last one that its machine has applied. */
  readonly decided: number
  readonly applied: number
  /** The last entry that this process has on its disk; undefined without a directory. */
  readonly durable: number | undefined
  /** `full`: that disk has no room, and what it lacks waits. Undefined without a directory. */
  readonly disk: 'well' | 'full' | undefined
  /**
   * How old the state may be, in milliseconds of this process's clock: it has all that anyone was answered before. It
   * counts from the last call of this process that a majority has confirmed, so it grows without calls.
   */
  readonly staleMs: number
  /** Ranks that vote; undefined until this replica has heard from a leader. */
  readonly voters: readonly number[] | undefined
  /** At the leader: by how many entries each rank is behind. */
  readonly lags: readonly { readonly rank: number; readonly entries: number }[]
  /** A hash of all outcomes up to `applied`: equal at replicas that have applied the same. */
  readonly hash: string
  /** Ranks that were stopped, because their machines came to other outcomes than those of a majority. */
  readonly deviating: readonly number[]
  /** Proposals of this process that have no answer yet. */
  readonly proposing: number
  /** How leaders store entries in the memory of this process; see `ReplicateOptions.protocol`. */
  readonly protocol: 'mu' | 'velos'
  /** Undefined if this process never led. */
  readonly lastFailOver: FailOver | undefined
}
