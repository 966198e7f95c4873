/**
 * Which ranks have ended, and why, as one thread tells another: a word for each rank, 0 while nothing is known against it, then the length of the
 * text that stands in the rank's place behind the words; written last.
 */
const TEXT_BYTES = 256

export class EndNotices {
  readonly buffer: SharedArrayBuffer
  readonly size: number
  readonly #words: Int32Array
  readonly #bytes: Uint8Array

  constructor(size: number, buffer: SharedArrayBuffer = new SharedArrayBuffer((4 + TEXT_BYTES) * size)) {
    this.size = size
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, size)
    this.#bytes = new Uint8Array(buffer, 4 * size)
  }

  /** The first reason stays. */
  tell(rank: number, why: string): void {
    if (Atomics.load(this.#words, rank) !== 0) return
    const text = Buffer.from(why === '' ? 'it ended' : why).subarray(0, TEXT_BYTES)
    this.#bytes.set(text, rank * TEXT_BYTES)
    Atomics.store(this.#words, rank, text.length)
  }

  /** Why rank `rank` has ended; undefined where it has not. */
  why(rank: number): string | undefined {
    const length = Atomics.load(this.#words, rank)
    if (length === 0) return undefined
    const begin = rank * TEXT_BYTES
    return Buffer.from(this.#bytes.slice(begin, begin + length)).toString()
  }
}
