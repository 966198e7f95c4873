import { ProtocolViolation } from './errors.ts'
import { HEADER_BYTES, KIND_SHIFT, LENGTH_MASK, PADDING_KIND, recordBytes } from './ring-record.ts'

/**
 * The sender's side of a ring: its bytes, how many of them may be written, and how many were not sent yet.
 *
 * ```
 *   … consumed by the peer | sent | committed, not sent (`pending`) | free …
 * ```
 * Positions are offsets. The bytes between them are counted, so that an empty ring and a full one differ.
 */
export class OutgoingRing {
  readonly bytes: Uint8Array
  readonly #words: Uint32Array
  readonly #length: number
  /** Where the next record begins. */
  #offset = 0
  #free: number
  #reserved = -1
  /** Where the first byte that was not sent lies. */
  pendingOffset = 0
  pending = 0

  /** `bytes` starts at a multiple of 4 of its buffer; its length is a multiple of 8. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
    this.#length = bytes.length
    this.#free = bytes.length
  }

  /** Bytes that the peer has not reported as taken. */
  get outstanding(): number {
    return this.#length - this.#free
  }

  /** Whether a message of `length` bytes has room. */
  hasRoom(length: number): boolean {
    const record = recordBytes(length)
    const tail = this.#length - this.#offset
    return (tail < record ? tail + record : record) <= this.#free
  }

  /** Return the place for a message of `length` bytes, or -1. */
  reserve(length: number): number {
    const record = recordBytes(length)
    const tail = this.#length - this.#offset
    if (tail < record) {
      if (tail + record > this.#free) return -1
      this.#pad(tail)
    } else if (record > this.#free) return -1
    this.#reserved = record
    return this.#offset + HEADER_BYTES
  }

  /** Bytes of the last `reserve`, or -1 if no place is reserved. */
  get reserved(): number {
    return this.#reserved < 0 ? -1 : this.#reserved - HEADER_BYTES
  }

  commit(length: number, immediate: number, kind: number): void {
    const at = this.#offset >>> 2
    this.#words[at] = (kind << KIND_SHIFT) | length
    this.#words[at + 1] = immediate
    this.#advance(recordBytes(length))
    this.#reserved = -1
  }

  /** Bytes of the whole pending records that fit `bytesMax` bytes together. */
  wholeRecords(bytesMax: number): number {
    if (this.pending <= bytesMax) return this.pending
    let offset = this.pendingOffset
    let bytes = 0
    for (;;) {
      const record = recordBytes(this.#words[offset >>> 2]! & LENGTH_MASK)
      if (bytes + record > bytesMax) return bytes
      bytes += record
      offset += record
      if (offset === this.#length) offset = 0
    }
  }

  /** This many pending bytes were sent. */
  sent(bytes: number): void {
    this.pending -= bytes
    this.pendingOffset += bytes
    if (this.pendingOffset >= this.#length) this.pendingOffset -= this.#length
  }

  /** The peer has taken this many bytes more. */
  credit(bytes: number): void {
    if (bytes > this.#length - this.#free - this.pending)
      throw new ProtocolViolation(`the peer reports ${bytes} bytes as taken, more than were sent`)
    this.#free += bytes
  }

  #pad(tail: number): void {
    const at = this.#offset >>> 2
    this.#words[at] = ((PADDING_KIND << KIND_SHIFT) | (tail - HEADER_BYTES)) >>> 0
    this.#words[at + 1] = 0
    this.#advance(tail)
  }

  #advance(bytes: number): void {
    this.#offset += bytes
    if (this.#offset === this.#length) this.#offset = 0
    this.#free -= bytes
    this.pending += bytes
  }
}
