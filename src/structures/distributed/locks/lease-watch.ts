/** How much longer than a lease to watch: the clocks of two machines may run at rates that differ by this factor. */
const PATIENCE = 1.1
/** The most between two looks of one watch: the number of renewals comes again after twenty times as long. */
const LEASES_BETWEEN_LOOKS = 1000

/**
 * Tells a follower on another machine when a leader's lease is over. Then it has seen the same word for longer than a
 * lease, by its own clock.
 */
export class LeaseWatch {
  readonly #leaseMs: number
  /** The word of the last look, and since when it has been so. */
  #seen: { readonly word: bigint; readonly sinceMs: number; readonly lastMs: number } | undefined

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** This is the word at `nowMs`. */
  look(word: bigint, nowMs: number): void {
    const seen = this.#seen
    const isSame = seen?.word === word && nowMs - seen.lastMs < this.#leaseMs * LEASES_BETWEEN_LOOKS
    this.#seen = { word, sinceMs: isSame ? seen.sinceMs : nowMs, lastMs: nowMs }
  }

  /** Whether the lease of the word that was looked at last is over. */
  get isOver(): boolean {
    return this.#seen !== undefined && this.#seen.lastMs - this.#seen.sinceMs > this.#leaseMs * PATIENCE
  }
}
