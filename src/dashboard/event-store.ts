import type { ReadEvent } from '../dsm/index.ts'

/** How many events are kept: the latest. */
const EVENTS_KEPT_MAX = 65_536

const COLUMNS = [
  'rank',
  'region',
  'timeNs',
  'what',
  'page',
  'peer',
  'before',
  'after',
  'requester',
  'bytes',
  'tookNs',
] as const

/**
 * The latest events of pages, of all ranks. They are stored in columns, so that an event needs no allocation: there may
 * be a hundred thousand per second.
 */
export class EventStore {
  readonly #columns = COLUMNS.map(() => new Float64Array(EVENTS_KEPT_MAX))
  #count = 0

  add(event: ReadEvent): void {
    const at = this.#count++ % EVENTS_KEPT_MAX
    for (let column = 0; column < COLUMNS.length; column += 1) this.#columns[column]![at] = event[COLUMNS[column]!]
  }

  /** How many events were ever added. */
  get count(): number {
    return this.#count
  }

  /** Call `take` with the events after the first `count`, at most the last `most`. Returns how many were left out. */
  since(count: number, most: number, take: (event: ReadEvent) => void): number {
    const first = Math.max(count, this.#count - Math.min(most, EVENTS_KEPT_MAX))
    for (let number = first; number < this.#count; number += 1) take(this.#at(number % EVENTS_KEPT_MAX))
    return first - count
  }

  /**
   * The last `most` events of the page, in order of time. `isRegion` says whether a number that a rank uses means this
   * region.
   */
  ofPage(page: number, isRegion: (rank: number, region: number) => boolean, most: number): readonly ReadEvent[] {
    const found: ReadEvent[] = []
    const [ranks, regions, , , pages] = this.#columns as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ]
    const oldest = Math.max(0, this.#count - EVENTS_KEPT_MAX)
    for (let number = this.#count - 1; number >= oldest && found.length < 4 * most; number -= 1) {
      const at = number % EVENTS_KEPT_MAX
      if (pages[at] === page && isRegion(ranks[at]!, regions[at]!)) found.push(this.#at(at))
    }
    // Events of one rank are in order, but ranks were read one after another.
    return found.sort((a, b) => a.timeNs - b.timeNs).slice(-most)
  }

  #at(at: number): ReadEvent {
    return Object.fromEntries(
      COLUMNS.map((name, column) => [name, this.#columns[column]![at]!]),
    ) as unknown as ReadEvent
  }
}
