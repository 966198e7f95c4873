/** Pages that are counted at a time. */
const SLOTS = 4096

/** So many losses within {@link WINDOW_NS} make a page one that bounces. */
export const BOUNCES_MIN = 8
export const WINDOW_NS = 5e9

const NOBODY = -1

/**
 * Counts how often each page of a region was lost lately, in memory that does not grow: a page has one slot, which it may have to share. Of several it keeps the one
 * that comes most, by Misra and Gries, "Finding repeated elements" (1982): one that finds another there takes a count off, and has the slot when none is left. So a
 * page is never counted higher than it was lost.
 */
export class BounceCounts {
  readonly #pages = new Int32Array(SLOTS).fill(NOBODY)
  readonly #counts = new Uint8Array(SLOTS)
  readonly #sinceNs = new Float64Array(SLOTS)

  /** True where the page was lost so often within a window that it bounces; counting then begins anew. */
  lost(page: number, nowNs: number): boolean {
    const slot = page % SLOTS
    if (nowNs - this.#sinceNs[slot]! > WINDOW_NS) this.#pages[slot] = NOBODY
    if (this.#pages[slot] !== page && !this.#take(slot, page, nowNs)) return false
    this.#counts[slot]!++
    if (this.#counts[slot]! < BOUNCES_MIN) return false
    this.#pages[slot] = NOBODY
    return true
  }

  #take(slot: number, page: number, nowNs: number): boolean {
    if (this.#pages[slot] !== NOBODY) {
      this.#counts[slot]!--
      if (this.#counts[slot]! > 0) return false
    }
    this.#pages[slot] = page
    this.#counts[slot] = 0
    this.#sinceNs[slot] = nowNs
    return true
  }
}
