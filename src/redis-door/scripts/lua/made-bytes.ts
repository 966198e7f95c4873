import { Buffer } from 'node:buffer'
import { LuaFault } from './lua.ts'

/** Values are much shorter. To make more, the process might need more memory than it has. */
const BYTES_MAX = 2 ** 27
const FIRST_BYTES = 256

/** @throws LuaFault if a library is to make as many bytes, and these are too many */
export function checkMade(bytes: number): void {
  if (bytes > BYTES_MAX) throw new LuaFault(`Cannot make more than ${BYTES_MAX} bytes`)
}

/** What a library makes. It is one buffer, since many small ones would take far more memory than their bytes. */
export class MadeBytes {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** A view. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** @throws LuaFault if it comes to too many. */
  add(bytes: Uint8Array): void {
    const end = this.#length + bytes.length
    this.#room(end)
    this.#buffer.set(bytes, this.#length)
    this.#length = end
  }

  /** @throws LuaFault if it comes to too many. */
  addZeros(count: number): void {
    const end = this.#length + count
    this.#room(end)
    this.#buffer.fill(0, this.#length, end)
    this.#length = end
  }

  #room(end: number): void {
    checkMade(end)
    if (end <= this.#buffer.length) return
    const buffer = Buffer.allocUnsafe(Math.max(end, 2 * this.#buffer.length))
    buffer.set(this.bytes)
    this.#buffer = buffer
  }
}
