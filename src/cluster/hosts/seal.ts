import { createHmac, timingSafeEqual } from 'node:crypto'

const TAG_BYTES = 32

/**
 * Messages of one direction of a connection, each with a tag over its number and its bytes. A message that was changed,
 * dropped, repeated or inserted on the way does not open. The contents are not encrypted.
 */
export class Seal {
  readonly #key: Buffer
  #count = 0n

  constructor(key: Buffer) {
    this.#key = key
  }

  close(message: Buffer): Buffer {
    return Buffer.concat([message, this.#tag(message)])
  }

  /** The message; undefined if it is not the next one. */
  open(frame: Buffer): Buffer | undefined {
    if (frame.length < TAG_BYTES) return undefined
    const message = frame.subarray(0, -TAG_BYTES)
    return timingSafeEqual(frame.subarray(-TAG_BYTES), this.#tag(message)) ? message : undefined
  }

  #tag(message: Buffer): Buffer {
    const number = Buffer.alloc(8)
    number.writeBigUInt64BE(this.#count++)
    return createHmac('sha256', this.#key).update(number).update(message).digest()
  }
}
