import { checkWhole, mustBe } from '../native/index.ts'
import { SHEET_BYTES } from './block-header.ts'

const WORDS_BYTES = 64
const Word = { Magic: 0, Unplaced: 1, Begun: 2, Done: 3 } as const
/** Reads 'AEAR'. */
const AREA_MAGIC = 0x52414541
/** How often a reader looks again where figures go from one block to another meanwhile. */
const READS_MAX = 16

/**
 * Allocates the sheets of a profiling area. Any thread of the member takes and frees sheets, without a lock. A thread
 * that is terminated between two stores leaves a few sheets taken, but no thread waiting.
 *
 * ```
 * byte  0  magic      Int32   0: the area is not in use
 *       4  unplaced   Int32   blocks in use that found no place
 *       8  begun      Int32   transfers of figures between blocks that began
 *      12  done       Int32   transfers that ended
 *      64  sheets     Uint8 each: 1 taken, 0 free
 *          blocks     from the next sheet on
 * ```
 */
export class Sheets {
  readonly buffer: ArrayBufferLike
  readonly offsetBytes: number
  /** The number of sheets, this table's own included. */
  readonly count: number
  readonly #words: Int32Array
  readonly #taken: Uint8Array
  readonly #first: number

  /** Opens zeroed memory, or an area that another thread uses. A reader leaves no trace. */
  constructor(buffer: ArrayBufferLike, offsetBytes: number, lengthBytes: number, as: 'writer' | 'reader' = 'writer') {
    checkArea(buffer, offsetBytes, lengthBytes)
    this.buffer = buffer
    this.offsetBytes = offsetBytes
    this.count = Math.floor(lengthBytes / SHEET_BYTES)
    this.#words = new Int32Array(buffer, offsetBytes, WORDS_BYTES / 4)
    this.#taken = new Uint8Array(buffer, offsetBytes + WORDS_BYTES, this.count)
    this.#first = firstSheet(lengthBytes)
    if (as === 'writer') Atomics.compareExchange(this.#words, Word.Magic, 0, AREA_MAGIC)
  }

  /** Take `length` sheets in a row. Returns the first; undefined if there are none. */
  take(length: number): number | undefined {
    // The member has left: this memory is unused, or soon another's.
    if (Atomics.load(this.#words, Word.Magic) !== AREA_MAGIC) return undefined
    for (let first = this.#first; first + length <= this.count; ) {
      const had = this.#claim(first, length)
      if (had === length) return first
      first += had + 1
    }
    return undefined
  }

  giveBack(first: number, length: number): void {
    for (let sheet = first; sheet < first + length; sheet += 1) Atomics.store(this.#taken, sheet, 0)
  }

  /** Where sheet `sheet` starts in the buffer. */
  at(sheet: number): number {
    return this.offsetBytes + sheet * SHEET_BYTES
  }

  countUnplaced(by: number): void {
    Atomics.add(this.#words, Word.Unplaced, by)
  }

  /** Move figures from one block to another. A reader that is not warned would see them twice, or not at all. */
  transfer(change: () => void): void {
    Atomics.add(this.#words, Word.Begun, 1)
    change()
    Atomics.add(this.#words, Word.Done, 1)
  }

  /**
   * Return the result of `read` when no {@link transfer} was under way in the meantime. If one always is, because a
   * thread was terminated in it, return the last result.
   */
  undisturbed<T>(read: () => T): T {
    for (let left = READS_MAX; ; left -= 1) {
      const done = Atomics.load(this.#words, Word.Done)
      const result = read()
      if (Atomics.load(this.#words, Word.Begun) === done || left === 1) return result
    }
  }

  /** How many of `length` sheets from `first` on could be claimed in a row; where not all, none is kept. */
  #claim(first: number, length: number): number {
    for (let had = 0; had < length; had += 1) {
      if (Atomics.compareExchange(this.#taken, first + had, 0, 1) === 0) continue
      this.giveBack(first, had)
      return had
    }
    return length
  }
}

/** Where blocks start in an area of `lengthBytes`. */
export function firstSheet(lengthBytes: number): number {
  return Math.ceil((WORDS_BYTES + Math.floor(lengthBytes / SHEET_BYTES)) / SHEET_BYTES)
}

/** How many blocks in use found no place in the area. */
export function unplacedOf(buffer: ArrayBufferLike, offsetBytes: number): number {
  const words = new Int32Array(buffer, offsetBytes, WORDS_BYTES / 4)
  return Atomics.load(words, Word.Magic) === AREA_MAGIC ? Atomics.load(words, Word.Unplaced) : 0
}

const SHEETS_MIN = 4
const SHEETS_MAX = 65_536

/** @throws ArgumentError */
function checkArea(buffer: ArrayBufferLike, offsetBytes: number, lengthBytes: number): void {
  if (!(buffer instanceof ArrayBuffer || buffer instanceof SharedArrayBuffer))
    throw mustBe('buffer', 'an ArrayBuffer or a SharedArrayBuffer', buffer)
  checkWhole('offsetBytes', offsetBytes, 0, buffer.byteLength)
  if (offsetBytes % 8 !== 0) throw mustBe('offsetBytes', 'a multiple of 8', offsetBytes)
  const most = Math.min(buffer.byteLength - offsetBytes, SHEETS_MAX * SHEET_BYTES)
  const least = SHEETS_MIN * SHEET_BYTES
  if (most < least) throw mustBe('buffer', `at least ${least} bytes from offset ${offsetBytes} on`, buffer)
  checkWhole('lengthBytes', lengthBytes, least, most)
}
