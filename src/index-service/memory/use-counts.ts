import type { Chunk } from './chunk.ts'
import { HeaderWord, SEGMENT_BYTES, UNIT_MASK } from './layout.ts'

const WORDS: number = SEGMENT_BYTES / 4
/** A use counts in two words, one of each half. */
const ROW: number = WORDS / 2
const ROW_BITS = 15
const ROW_MASK: number = ROW - 1

/**
 * How often records of a table are used while someone wants to know. Otherwise word 12 of the header is 0, and a use
 * costs a look at it.
 *
 * Each use adds one to two words, chosen by different bits of the hash. The lower of the two is at least how often a
 * record was used. That is a count-min sketch of two rows (Cormode and Muthukrishnan, "An improved data stream
 * summary", 2005). As with marks, processes add without a lock, and what is lost when two do so at once does not
 * matter.
 */
export class UseCounts {
  readonly #header: Uint32Array
  readonly #chunkOf: (place: number) => Chunk | undefined
  /** Of the owner: where its segment is, and how many want to know. */
  #place = 0
  #windows = 0

  /** `chunkOf`: the chunk of a segment; undefined if it cannot be reached. */
  constructor(header: Uint32Array, chunkOf: (place: number) => Chunk | undefined) {
    this.#header = header
    this.#chunkOf = chunkOf
  }

  /** Someone wants to know. */
  get isOn(): boolean {
    return this.#header[HeaderWord.UseCounts] !== 0
  }

  /** A record is used. */
  use(hash: number): void {
    const place = this.#header[HeaderWord.UseCounts]!
    const chunk = place === 0 ? undefined : this.#chunkOf(place)
    if (chunk === undefined) return
    const begin = (place & UNIT_MASK) * 2
    chunk.words[begin + (hash & ROW_MASK)]! += 1
    chunk.words[begin + ROW + ((hash >>> ROW_BITS) & ROW_MASK)]! += 1
  }

  /** @internal For the owner: count from now on. `fix` makes a segment of zeros, which is kept for later. */
  begin(fix: () => number): UseWindow {
    this.#place ||= fix()
    const begin = (this.#place & UNIT_MASK) * 2
    const counts = this.#chunkOf(this.#place)!.words.subarray(begin, begin + WORDS)
    this.#windows += 1
    Atomics.store(this.#header, HeaderWord.UseCounts, this.#place)
    return new UseWindow(counts, () => {
      this.#windows -= 1
      if (this.#windows === 0) Atomics.store(this.#header, HeaderWord.UseCounts, 0)
    })
  }
}

/** Uses since it was made, until it is ended. */
export class UseWindow {
  readonly #now: Uint32Array
  readonly #before: Uint32Array
  readonly #end: () => void

  constructor(counts: Uint32Array, end: () => void) {
    this.#now = counts
    this.#before = counts.slice()
    this.#end = end
  }

  /** How often records of that hash were used, at most. */
  usesOf(hash: number): number {
    return Math.min(this.#at(hash & ROW_MASK), this.#at(ROW + ((hash >>> ROW_BITS) & ROW_MASK)))
  }

  end(): void {
    this.#end()
  }

  #at(word: number): number {
    return (this.#now[word]! - this.#before[word]!) >>> 0
  }
}
