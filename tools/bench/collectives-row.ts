import type { CollectiveName } from 'aether-dsm/internal/collectives'

/** Of everything that `aether bench collectives` sends. */
export const ELEMENT_BYTES = 8

/** One line of `aether bench collectives`, and one object of its `--json`. Nanoseconds are of one collective. */
export interface CollectivesRow {
  readonly op: CollectiveName
  readonly algorithm: string
  /**
   * `default`: it is used if no algorithm is named. `deterministic`: it is used if the order of ranks is required.
   * Both, or neither.
   */
  readonly chosen: 'default' | 'deterministic' | 'both' | ''
  readonly processes: number
  /** Of what a rank gives, or, where ranks give parts of their own, of all parts together. */
  readonly bytes: number
  readonly samples: number
  /** At rank 0, asleep between messages. */
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /** The distribution at `quantileShares`. */
  readonly quantilesNs: readonly number[]
  /** Processor time of all processes. */
  readonly cpuNsPerOp: number
  /** Counted in the schedules: rounds one after the other, messages and bytes of all ranks, bytes of the busiest. */
  readonly rounds: number
  readonly messages: number
  readonly sentBytes: number
  readonly busiestBytes: number
}

/** What all members do next; each the same number of times. */
export interface CollectivesCell {
  readonly op: CollectiveName
  readonly algorithm: string
  readonly count: number
  readonly calls: number
}

/** What a member says of it: how long each call took, and its processor time. */
export interface CollectivesReport {
  readonly ns: readonly number[]
  readonly cpuNs: number
}
