import { ArgumentError } from '../native/index.ts'
import { BlockKind, SHEET_BYTES, sheetsFor, slotsAt, writeHeader } from './block-header.ts'
import { CounterBlock, privateCounters } from './counter-block.ts'
import { type CounterLayout, defineCounters } from './counter-layout.ts'
import { HISTOGRAM_SLOTS, HistogramBlock, privateHistogram } from './histogram-block.ts'

/** Length of one member's profiling area. */
export const PROFILING_AREA_BYTES = 65_536

/**
 * The place in shared memory where one member's threads put their blocks:
 *
 * ```
 * sheet 0        word 0: sheets given out so far, this one included (Atomics.add; 0 means 1)
 * sheet 1 …      blocks, each a whole number of sheets
 * ```
 *
 * Any thread of the member takes sheets; a block belongs to the thread that took it. Sheets are not given back before the member ends.
 * When the area is full a block is private memory: counting must never be why a program fails.
 */
export class ProfilingArea {
  readonly #buffer: ArrayBufferLike
  readonly #offsetBytes: number
  readonly #used: Int32Array
  readonly #sheets: number
  readonly #thread: number

  /** Over zeroed or used shared memory. `thread` is the id of the calling thread, for readers. */
  constructor(
    buffer: ArrayBufferLike,
    offsetBytes: number = 0,
    lengthBytes: number = PROFILING_AREA_BYTES,
    thread: number = 0,
  ) {
    if (offsetBytes % 8 !== 0 || lengthBytes < 2 * SHEET_BYTES) {
      throw new ArgumentError(
        'buffer',
        `a profiling area begins at a multiple of 8 and holds two sheets of ${SHEET_BYTES} bytes`,
      )
    }
    this.#buffer = buffer
    this.#offsetBytes = offsetBytes
    this.#sheets = Math.floor(lengthBytes / SHEET_BYTES)
    this.#used = new Int32Array(buffer, offsetBytes, 1)
    this.#thread = thread
    Atomics.compareExchange(this.#used, 0, 0, 1)
  }

  /** New counters, all 0, for the calling thread. */
  counters<Name extends string>(layout: CounterLayout<Name>): CounterBlock<Name> {
    const slots = this.#take(BlockKind.Counters, layout.id, layout.counters.length)
    return slots === undefined ? privateCounters(layout) : new CounterBlock(layout, slots, true)
  }

  /** A new empty histogram for the calling thread. */
  histogram(name: string): HistogramBlock {
    const slots = this.#take(BlockKind.Histogram, defineCounters(name, []).id, HISTOGRAM_SLOTS)
    return slots === undefined ? privateHistogram(name) : new HistogramBlock(name, slots, true)
  }

  #take(kind: number, layout: number, slots: number): Float64Array | undefined {
    const sheets = sheetsFor(slots)
    // Never 0 while the area is there: the member has left, and this is memory of nobody.
    if (Atomics.load(this.#used, 0) === 0) return undefined
    const first = Atomics.add(this.#used, 0, sheets)
    if (first + sheets > this.#sheets) {
      Atomics.sub(this.#used, 0, sheets)
      return undefined
    }
    const offsetBytes = this.#offsetBytes + first * SHEET_BYTES
    writeHeader(this.#buffer, offsetBytes, { kind, layout, sheets, slots, thread: this.#thread })
    return slotsAt(this.#buffer, offsetBytes, slots)
  }
}
