/**
 * A thread that looks takes a processor from the server, where they share it: as long as this always, and never longer
 * than that.
 */
const LEAST_MS = 0.2
const MOST_MS = 5
/** How many times the median answer to look: most answers come within it. */
const MARGIN = 2
/** How far each answer moves the median at most, however late it is. */
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
 * How long a blocking call looks before it naps. A nap takes as long as the kernel's timer needs (50 us, or 4 ms if it
 * only ticks). So an answer just after the first nap would take many times as long. A waiting caller therefore looks
 * for as long as answers take, if that is short. The median counts: with shared processors, a few very late answers
 * would pull a mean beyond most of them.
 */
export class SpinTime {
  #medianMs = MEDIAN_MIN_MS
  #lookMs = LEAST_MS
  #naps = 0

  /** Start the wait of a call. */
  begin(): number {
    const wanted = MARGIN * this.#medianMs
    if (wanted <= MOST_MS) this.#lookMs = wanted
    else {
      this.#naps += 1
      this.#lookMs = this.#naps % TRIAL_EVERY === 0 ? MOST_MS : LEAST_MS
    }
    return this.#lookMs
  }

  /** Record how long its answer took. */
  record(answerMs: number): void {
    const median = this.#medianMs
    // After a nap this early, it is unknown when the answer would have been seen.
    if (answerMs > this.#lookMs && this.#lookMs < median) return
    const moved = Math.min(Math.max(answerMs, median / STEP), median * STEP)
    this.#medianMs = Math.min(Math.max(moved, MEDIAN_MIN_MS), MEDIAN_MAX_MS)
  }
}
