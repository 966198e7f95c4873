/** A thread that looks takes a processor from the server, where they share it: as long as this always, and never longer than that. */
const LEAST_MS = 0.2
const MOST_MS = 5
/** So many times as long as answers have taken of late: most of them come within it. */
const MARGIN = 2
/** Of each new answer in the smoothed time. */
const WEIGHT = 1 / 8

/**
 * How long a blocking call looks before it naps. A nap costs what the kernel's timer makes of it (50 us, or 4 ms where it only ticks), so answers that
 * come just after the first nap would take many times as long: who waits looks for as long as answers take, where that is short.
 */
export class SpinTime {
  #answerMs = 0

  get ms(): number {
    const wanted = MARGIN * this.#answerMs
    return wanted > MOST_MS ? LEAST_MS : Math.max(LEAST_MS, wanted)
  }

  /** An answer took so long. */
  record(answerMs: number): void {
    this.#answerMs += WEIGHT * (answerMs - this.#answerMs)
  }
}
