/** Sizes and times of a replicated log. All replicas have the same sizes. */
export interface ReplicaSettings {
  /** Entries that a replica's ring holds: what may be stored and not yet taken. A power of two. */
  readonly window: number
  /** Bytes of a cell: the header of an entry and its payload. */
  readonly cellBytes: number
  /** Proposers whose values an acceptor can hold at a time. */
  readonly frames: number
  /** Entries under way at a time. */
  readonly inFlightMax: number
  /** How far ahead a leader prepares. */
  readonly ahead: number
  /** How often a replica looks at the others. */
  readonly tickNs: number
  /** A replica whose counter stood still at this many looks counts as silent. */
  readonly silentTicks: number
  /** A leader that cannot replicate for this long stops being one. */
  readonly stuckNs: number
  /**
   * How long a device waits for an acknowledgement, as an exponent: 4.096 µs × 2^n. After seven times that a connection
   * is broken, and made again. Shared memory needs none.
   */
  readonly acknowledgeTimeout: number
  /** Bytes of decided entries that a replica keeps for those that lag behind. */
  readonly historyBytes: number
  /** Bytes of entries that a journal gathers before a snapshot takes their place. */
  readonly journalBytes: number
}

/** A replica that begins again reports nothing for this long: what it had in memory before, others may still read. */
export function graceNsOf({ tickNs }: ReplicaSettings): number {
  return GRACE_TICKS * tickNs
}

/** One that was seen alive within this time has not begun again, as far as its reports go. */
export function currentNsOf(settings: ReplicaSettings): number {
  return 0.75 * graceNsOf(settings)
}

const GRACE_TICKS = 40

export const defaultSettings: ReplicaSettings = {
  window: 128,
  cellBytes: 8192,
  frames: 16,
  inFlightMax: 8,
  ahead: 64,
  tickNs: 5_000_000,
  silentTicks: 40,
  stuckNs: 500_000_000,
  acknowledgeTimeout: 14,
  historyBytes: 32 * 2 ** 20,
  journalBytes: 64 * 2 ** 20,
}
