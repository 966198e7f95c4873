import { ProtocolViolation } from './errors.ts'
import type { MessageHandler } from './message-link.ts'
import { HEADER_BYTES, KIND_SHIFT, LENGTH_MASK, PADDING_KIND, recordBytes } from './ring-record.ts'

/** The receiver's side of a ring, whose bytes the peer writes. Believes nothing of what it reads there. */
export class IncomingRing {
  readonly bytes: Uint8Array
  readonly #words: Uint32Array
  readonly #length: number
  #offset = 0
  /** Bytes that have come and were not taken. */
  available = 0
  /** Bytes taken since credit was last returned. */
  taken = 0

  /** `bytes` begins at a multiple of 4 of its buffer. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
    this.#length = bytes.length
  }

  /** So many bytes more have come. */
  arrived(bytes: number): void {
    this.available += bytes
    if (this.available + this.taken > this.#length)
      throw new ProtocolViolation('the peer sent more than the ring has room for')
  }

  /** Hand the next message to `deliver`. False where only padding was left. The place goes back once `deliver` has returned. */
  next(deliver: MessageHandler): boolean {
    const at = this.#offset >>> 2
    const word = this.#words[at] as number
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
    const immediate = this.#words[at + 1] as number
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
