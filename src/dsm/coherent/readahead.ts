/** Streams of faults that are told apart. */
const STREAMS = 8
/** How far ahead is fetched at most, in pages and in bytes. */
const PAGES_MAX = 32
const BYTES_MAX = 2 * 2 ** 20

/** Faults that go up through a region page by page. */
interface Stream {
  /** The last page that was asked for. */
  last: number
  /** The first page of those fetched last: left unmapped, so that touching it tells that they are of use. */
  marker: number
  /** The first page that was not fetched. */
  end: number
  window: number
}

/** Pages to fetch: `from` up to but not including `to`. */
export interface PageRange {
  readonly from: number
  readonly to: number
}

const NONE: PageRange = { from: 0, to: 0 }

/**
 * Detects views being read or written from one page to the next, and says what to fetch ahead. The second fault in a
 * row starts it, with two pages. The first page of each batch is a marker: the next batch, twice as long, is fetched
 * only when the marker is touched. So at most one batch is fetched in vain, and random access fetches nothing ahead.
 */
export class Readahead {
  readonly #pages: number
  readonly #windowMax: number
  /** The least recently used first. */
  readonly #streams: Stream[] = []

  /** For a region of `pages` pages; `cachePages`: how many the cache holds, of which it takes a quarter at most. */
  constructor(pages: number, pageBytes: number, cachePages: number) {
    this.#pages = pages
    this.#windowMax = Math.min(PAGES_MAX, Math.floor(BYTES_MAX / pageBytes), Math.floor(cachePages / 4))
  }

  /** A thread has faulted on `page`: what to fetch beside it. */
  faulted(page: number): PageRange {
    if (this.#windowMax < 1) return NONE
    const stream = this.#streamOf(page)
    if (stream === undefined) {
      this.#begin(page)
      return NONE
    }
    stream.last = page
    if (page !== stream.marker && page !== stream.end) return NONE
    const from = Math.max(stream.end, page + 1)
    stream.window = Math.min(this.#windowMax, Math.max(2, 2 * stream.window))
    const to = Math.min(from + stream.window, this.#pages)
    stream.marker = from
    stream.end = Math.max(from, to)
    return { from, to: stream.end }
  }

  /** Whether a touch of the page has to be seen. */
  isMarker(page: number): boolean {
    for (const { marker } of this.#streams) if (marker === page) return true
    return false
  }

  /** The stream that the page goes on with, or lies in. */
  #streamOf(page: number): Stream | undefined {
    const index = this.#streams.findIndex(({ last, end }) => page >= last && page <= end)
    if (index < 0) return undefined
    const [stream] = this.#streams.splice(index, 1)
    this.#streams.push(stream!)
    return stream
  }

  #begin(page: number): void {
    if (this.#streams.length === STREAMS) this.#streams.shift()
    this.#streams.push({ last: page, marker: -1, end: page + 1, window: 0 })
  }
}
