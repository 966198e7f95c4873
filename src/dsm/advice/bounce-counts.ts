/** Size of the counting table: the number of sets, and pages counted in each. */
const SET_BITS = 10
const SETS = 2 ** SET_BITS
const PAGES_PER_SET = 4

/** So many losses within {@link WINDOW_NS} make a page one that bounces. */
export const BOUNCES_MIN = 8
export const WINDOW_NS = 5e9

const NOBODY = -1

/**
 * Counts how often each page of a region was lost recently, in bounded memory. A page has one set of places, which it
 * shares with other pages. Each set keeps the pages that come most often, by Misra and Gries, "Finding repeated
 * elements" (1982). A page that finds no place takes one off each count, and a page whose count reaches zero loses its
 * place.
 *
 * So a page is never counted higher than it was lost. As many pages as a set has places are counted exactly, wherever
 * they are.
 */
export class BounceCounts {
  readonly #pages = new Int32Array(SETS * PAGES_PER_SET).fill(NOBODY)
  readonly #counts = new Uint8Array(SETS * PAGES_PER_SET)
  readonly #sinceNs = new Float64Array(SETS * PAGES_PER_SET)

  /** True if the page was lost often enough within a window to count as bouncing; counting then starts again. */
  lost(page: number, nowNs: number): boolean {
    const place = this.#placeOf(page, nowNs)
    if (place === undefined) return false
    this.#counts[place]! += 1
    if (this.#counts[place]! < BOUNCES_MIN) return false
    this.#pages[place] = NOBODY
    return true
  }

  /** Where the page is counted; undefined where all places of its set are others'. */
  #placeOf(page: number, nowNs: number): number | undefined {
    const first = setOf(page) * PAGES_PER_SET
    let free: number | undefined
    for (let place = first; place < first + PAGES_PER_SET; place += 1) {
      if (nowNs - this.#sinceNs[place]! > WINDOW_NS) this.#pages[place] = NOBODY
      if (this.#pages[place] === page) return place
      if (this.#pages[place] === NOBODY) free ??= place
    }
    if (free === undefined) {
      this.#takeOff(first)
      return undefined
    }
    this.#pages[free] = page
    this.#counts[free] = 0
    this.#sinceNs[free] = nowNs
    return free
  }

  #takeOff(first: number): void {
    for (let place = first; place < first + PAGES_PER_SET; place += 1)
      if (--this.#counts[place]! === 0) this.#pages[place] = NOBODY
  }
}

/**
 * Multiplicative hashing (Knuth, volume 3, 6.4), by the golden ratio: pages at the same distance, as equal places of
 * several arrays are, go to different sets.
 */
const setOf = (page: number): number => Math.imul(page, 0x9e3779b1) >>> (32 - SET_BITS)
