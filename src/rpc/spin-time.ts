/**
 * A thread that looks takes a processor from the server, where they share it: as long as this always, and never longer
 * than that.
 */
const LEAST_MS = 0.2
const MOST_MS = 5
/** So many times as long as the median answer: most of them come within it. */
const MARGIN = 2
/** Each answer moves the median by so much at most, however late it is. */
const STEP = 9 / 8
/**
 * Of calls that nap early, one in so many looks for as long as a call may: naps themselves make answers late, and who
 * never looks would not learn that they come sooner.
 */
const TRIAL_EVERY = 16
const MEDIAN_MIN_MS = LEAST_MS / MARGIN
/** One step beyond the longest that is looked for. */
const MEDIAN_MAX_MS = (MOST_MS / MARGIN) * STEP

/**
 * How long a blocking call looks before it naps. A nap costs what the kernel's timer makes of it (50 us, or 4 ms where
 * it only ticks), so answers that come just after the first nap would take many times as long: who waits looks for as
 * long as answers take, where that is short. It is the median that counts: a few answers that are very late, as where
 * processors are shared, would pull a mean beyond what most of them take.
 */
export class SpinTime {
  #medianMs = MEDIAN_MIN_MS
  #lookMs = LEAST_MS
  #naps = 0

  /** Of the call that waits now. */
  begin(): number {
    const wanted = MARGIN * this.#medianMs
    if (wanted <= MOST_MS) this.#lookMs = wanted
    else {
      this.#naps += 1
      this.#lookMs = this.#naps % TRIAL_EVERY === 0 ? MOST_MS : LEAST_MS
    }
    return this.#lookMs
  }

  /** Its answer took so long. */
  record(answerMs: number): void {
    const median = this.#medianMs
    // After a nap that came so early, nobody knows when it would have been seen.
    if (answerMs > this.#lookMs && this.#lookMs < median) return
    const moved = Math.min(Math.max(answerMs, median / STEP), median * STEP)
    this.#medianMs = Math.min(Math.max(moved, MEDIAN_MIN_MS), MEDIAN_MAX_MS)
  }
}
