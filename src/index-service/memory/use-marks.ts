import type { Chunk } from './chunk.ts'
import { HeaderWord, MARK_SEGMENTS_MAX, SEGMENT_BYTES, UNIT_MASK } from './layout.ts'

/** What a mark says of the records whose hash belongs to it. */
export const MarkMode = {
  /** When one of them was used last: hundredths of a second, as 32 bits that wrap after 497 days. */
  Recency: 1,
  /** How often they are used: a {@link COUNTER_MASK counter}, and above it the minute in which it was changed last. */
  Frequency: 2,
} as const

/** A {@link MarkMode}. */
export type MarkModeNumber = (typeof MarkMode)[keyof typeof MarkMode]

/** A segment has as many. */
const MARKS: number = SEGMENT_BYTES / 4
const MARK_BITS = 16
const MARK_MASK = MARKS - 1
const TICK_MS = 10
/** If the clock was set back by less than this, two days, a record is not taken for old. */
const BACK_TICKS = 2 ** 24
const MINUTE_MS = 60_000

const COUNTER_BITS = 8
const COUNTER_MASK = 2 ** COUNTER_BITS - 1
/** Of a record that is new: it may have time to become popular. */
const COUNTER_START = 5
/** The higher the counter, the less likely a use counts: with this factor, 255 stands for a million uses. */
const COUNTER_FACTOR = 10

/**
 * When, or how often, the records of a table were used: one word for each hash, modulo their number. Records whose
 * hashes share a mark are taken for one, so a mark says at least what is true of each. There are at least as many marks
 * as records.
 *
 * The owner of the table and those who read it from outside set marks without a lock. What is lost when two do so at
 * once does not matter.
 *
 * The counter is the probabilistic one of Morris ("Counting large numbers of events in small registers", CACM 1978),
 * less one for each minute that passes.
 */
export class UseMarks {
  readonly #header: Uint32Array
  readonly #chunkOf: (place: number) => Chunk | undefined
  /** The mark that was found last. */
  #words: Uint32Array = new Uint32Array(0)
  #word = 0

  /** `chunkOf`: the chunk of a segment; undefined if it cannot be reached. */
  constructor(header: Uint32Array, chunkOf: (place: number) => Chunk | undefined) {
    this.#header = header
    this.#chunkOf = chunkOf
  }

  /** Undefined while there are no marks. */
  get mode(): MarkModeNumber | undefined {
    return this.#header[HeaderWord.MarkSegments] === 0
      ? undefined
      : (this.#header[HeaderWord.MarkMode] as MarkModeNumber)
  }

  /** A record is used. `nowMs`: since 1970. */
  use(hash: number, nowMs: number): void {
    if (this.#header[HeaderWord.MarkSegments] === 0 || !this.#find(hash)) return
    if (this.#header[HeaderWord.MarkMode] === MarkMode.Recency) this.#words[this.#word] = tickOf(nowMs)
    else {
      const count = this.#countAt(nowMs)
      const isCounted = Math.random() * (Math.max(0, count - COUNTER_START) * COUNTER_FACTOR + 1) < 1
      this.#setCount(isCounted ? Math.min(count + 1, COUNTER_MASK) : count, nowMs)
    }
  }

  /** A record is new. */
  start(hash: number, nowMs: number): void {
    if (this.#header[HeaderWord.MarkSegments] === 0 || !this.#find(hash)) return
    if (this.#header[HeaderWord.MarkMode] === MarkMode.Recency) this.#words[this.#word] = tickOf(nowMs)
    else this.#setCount(COUNTER_START, nowMs)
  }

  /** How long ago a record was used; undefined if that is not noted. */
  idleMs(hash: number, nowMs: number): number | undefined {
    if (this.mode !== MarkMode.Recency || !this.#find(hash)) return undefined
    const ticks = (tickOf(nowMs) - this.#words[this.#word]!) >>> 0
    return ticks > 2 ** 32 - BACK_TICKS ? 0 : ticks * TICK_MS
  }

  /** How often a record is used, from 0 to 255; undefined if that is not noted. */
  frequency(hash: number, nowMs: number): number | undefined {
    return this.mode === MarkMode.Frequency && this.#find(hash) ? this.#countAt(nowMs) : undefined
  }

  /** @internal For the owner: have marks that say so, for `records` records. `fix` makes a segment of zeros. */
  begin(mode: MarkModeNumber, records: number, nowMs: number, fix: () => number): void {
    const header = this.#header
    Atomics.store(header, HeaderWord.MarkSegments, 0)
    header[HeaderWord.MarkMode] = mode
    const first = mode === MarkMode.Recency ? tickOf(nowMs) : markOf(COUNTER_START, nowMs)
    let segments = 1
    while (segments * MARKS < records && segments < MARK_SEGMENTS_MAX) segments *= 2
    for (let at = 0; at < segments; at += 1) this.#segment(at, fix).fill(first)
    Atomics.store(header, HeaderWord.MarkSegments, segments)
  }

  /** @internal For the owner: have no marks. Their memory is kept for later. */
  end(): void {
    Atomics.store(this.#header, HeaderWord.MarkSegments, 0)
  }

  /** @internal For the owner: have twice as many, if there are fewer than `records`. */
  grow(records: number, fix: () => number): void {
    const segments = this.#header[HeaderWord.MarkSegments]!
    if (segments === 0 || records <= segments * MARKS || segments === MARK_SEGMENTS_MAX) return
    // Each new mark is for half of the hashes of an old one.
    for (let at = 0; at < segments; at += 1) this.#segment(segments + at, fix).set(this.#segment(at, fix))
    Atomics.store(this.#header, HeaderWord.MarkSegments, segments * 2)
  }

  #segment(at: number, fix: () => number): Uint32Array {
    const place = this.#header[HeaderWord.Marks + at]! || fix()
    this.#header[HeaderWord.Marks + at] = place
    const begin = (place & UNIT_MASK) * 2
    return this.#chunkOf(place)!.words.subarray(begin, begin + MARKS)
  }

  #find(hash: number): boolean {
    const segment = (hash >>> MARK_BITS) & (this.#header[HeaderWord.MarkSegments]! - 1)
    const place = this.#header[HeaderWord.Marks + segment]!
    const chunk = this.#chunkOf(place)
    if (chunk === undefined) return false
    this.#words = chunk.words
    this.#word = (place & UNIT_MASK) * 2 + (hash & MARK_MASK)
    return true
  }

  #countAt(nowMs: number): number {
    const mark = this.#words[this.#word]!
    const minutes = (minuteOf(nowMs) - (mark >>> COUNTER_BITS)) & MINUTE_MASK
    // The clock may have been set back.
    const passed = minutes > MINUTE_MASK / 2 ? 0 : minutes
    return Math.max(0, (mark & COUNTER_MASK) - passed)
  }

  #setCount(count: number, nowMs: number): void {
    this.#words[this.#word] = markOf(count, nowMs)
  }
}

const MINUTE_MASK = 2 ** (32 - COUNTER_BITS) - 1

function tickOf(nowMs: number): number {
  return Math.floor(nowMs / TICK_MS) >>> 0
}

function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS) & MINUTE_MASK
}

function markOf(count: number, nowMs: number): number {
  return ((minuteOf(nowMs) << COUNTER_BITS) | count) >>> 0
}
