import { ProtocolViolation } from './errors.ts'
import type { MessageHandler } from './message-link.ts'
import { HEADER_BYTES, KIND_SHIFT, LENGTH_MASK, PADDING_KIND, recordBytes } from './ring-record.ts'

/** From a message's first word to what may lie in the next cache line: a short call ends there. */
const SHORT_WORDS = 12

/** The receiver's side of a ring, whose bytes the peer writes. Trusts nothing that it reads there. */
export class IncomingRing {
  readonly bytes: Uint8Array
  readonly #words: Uint32Array
  readonly #length: number
  #offset = 0
  /** What `touch` saw. It has no meaning, but an engine would leave out an unused read. */
  touched = 0
  /** Bytes that have come and were not yet taken. */
  available = 0
  /** Bytes taken since credit was last returned. */
  taken = 0

  /** `bytes` starts at a multiple of 4 of its buffer. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
    this.#length = bytes.length
  }

  /** This many more bytes have come. */
  arrived(bytes: number): void {
    this.available += bytes
    if (this.available + this.taken > this.#length)
      throw new ProtocolViolation('the peer sent more than the ring has room for')
  }

  /**
   * Touch the place of the next message, and the line in which a short one ends. A reader that spins on another word
   * would otherwise fetch the message only then. This way all these lines come side by side.
   */
  touch(): void {
    const words = this.#words
    const at = this.#offset >>> 2
    this.touched = words[at]! ^ words[(at + SHORT_WORDS) & (words.length - 1)]!
  }

  /**
   * Pass the next message to `deliver`. Returns false if only padding was left. The place is returned once `deliver`
   * has.
   */
  next(deliver: MessageHandler): boolean {
    const at = this.#offset >>> 2
    const word = this.#words[at]!
    const length = word & LENGTH_MASK
    const kind = word >>> KIND_SHIFT
    const record = recordBytes(length)
    if (record > this.available || record > this.#length - this.#offset)
      throw new ProtocolViolation(`a message of ${length} bytes where ${this.available} have come`)
    if (kind === PADDING_KIND) {
      if (this.#offset + record !== this.#length) throw new ProtocolViolation('padding that does not end with the ring')
      this.#take(record)
      return this.available > 0 && this.next(deliver)
    }
    const immediate = this.#words[at + 1]!
    const from = this.#offset + HEADER_BYTES
    deliver(this.bytes, from, length, immediate, kind)
    this.#take(record)
    return true
  }

  #take(record: number): void {
    this.#offset += record
    if (this.#offset === this.#length) this.#offset = 0
    this.available -= record
    this.taken += record
  }
}
