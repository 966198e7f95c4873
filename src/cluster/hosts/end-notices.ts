/**
 * How one thread tells another which ranks have ended or are said to, and why. There is a word for each rank: 0 while
 * nothing is known against it. Otherwise it is the length of the text in the rank's place behind the words, with a bit
 * that is set if the end is certain. The word is written last.
 */
const TEXT_BYTES = 256
const CERTAIN = 1 << 16

/** What is known against a rank. */
export interface EndNotice {
  readonly why: string
  /** True if it has ended; false if nothing is heard from it. */
  readonly certain: boolean
}

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

  /** The first reason stays. A later call can still make the end certain. */
  tell(rank: number, why: string, certain: boolean): void {
    const flag = certain ? CERTAIN : 0
    if (Atomics.load(this.#words, rank) !== 0) {
      Atomics.or(this.#words, rank, flag)
      return
    }
    const text = Buffer.from(why === '' ? 'it ended' : why).subarray(0, TEXT_BYTES)
    this.#bytes.set(text, rank * TEXT_BYTES)
    Atomics.store(this.#words, rank, text.length | flag)
  }

  /** What is known against rank `rank`; undefined if nothing is. */
  look(rank: number): EndNotice | undefined {
    const word = Atomics.load(this.#words, rank)
    if (word === 0) return undefined
    const begin = rank * TEXT_BYTES
    const why = Buffer.from(this.#bytes.slice(begin, begin + (word & ~CERTAIN))).toString()
    return { why, certain: (word & CERTAIN) !== 0 }
  }
}
