import { Buffer, isUtf8 } from 'node:buffer'
import { checkBytes } from '../../native/index.ts'
import { IndexError } from '../errors.ts'
import { latin1Between } from '../values/latin1.ts'
import { ABOVE, DEPTH_MAX, END, SHORT_BYTES_MAX, Tag } from './tuple-format.ts'
import type { TuplePart } from './tuple-part.ts'

/** Longer texts are searched for their ends. */
const PLAIN_BYTES_MAX = 32

/** Reads one tuple, as `tuple-format.ts` lays it out, and accepts only what a `TupleWriter` would write. */
export class TupleReader {
  readonly #bytes: Buffer
  readonly #begin: number
  #at: number

  /** The tuple begins at `begin`. */
  constructor(key: Uint8Array, begin = 0) {
    checkBytes('key', key)
    this.#bytes = Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length)
    this.#begin = begin
    this.#at = begin
  }

  /** @throws IndexError */
  tuple(): TuplePart[] {
    const parts: TuplePart[] = []
    while (this.#at < this.#bytes.length) parts.push(this.#part(0))
    return parts
  }

  #part(depth: number): TuplePart {
    const tag = this.#byte()
    switch (tag) {
      case Tag.NULL:
        return null
      case Tag.FALSE:
        return false
      case Tag.TRUE:
        return true
      case Tag.MINUS_INFINITY:
        return Number.NEGATIVE_INFINITY
      case Tag.INFINITY:
        return Number.POSITIVE_INFINITY
      case Tag.TEXT:
        return this.#text()
      case Tag.BYTES:
        return Uint8Array.from(this.#data())
      case Tag.TUPLE:
        return this.#nested(depth + 1)
      case Tag.LONG_NEGATIVE:
        return this.#long(true)
      case Tag.LONG_POSITIVE:
        return this.#long(false)
    }
    if (Math.abs(tag - Tag.ZERO) <= SHORT_BYTES_MAX) return this.#number(tag - Tag.ZERO)
    throw this.#damage(this.#at - 1, 'no part begins so')
  }

  #nested(depth: number): TuplePart[] {
    if (depth > DEPTH_MAX) throw this.#damage(this.#at - 1, `tuples are nested at most ${DEPTH_MAX} deep`)
    const parts: TuplePart[] = []
    while (this.#peek() !== END) parts.push(this.#part(depth))
    this.#at += 1
    return parts
  }

  /** Its floor has this many bytes; with a minus if it is below zero. */
  #number(signedBytes: number): number | bigint {
    const floor = this.#whole(Math.abs(signedBytes), signedBytes < 0)
    return this.#at < this.#bytes.length && this.#bytes[this.#at] === ABOVE ? this.#double(floor) : floor
  }

  #long(isNegative: boolean): number | bigint {
    const lengthBytes = this.#byte() ^ (isNegative ? 0xff : 0)
    if (lengthBytes <= SHORT_BYTES_MAX) throw this.#damage(this.#at - 1, 'the length has a shorter form')
    return this.#whole(lengthBytes, isNegative)
  }

  #whole(lengthBytes: number, isNegative: boolean): number | bigint {
    const flip = isNegative ? 0xff : 0
    const start = this.#skip(lengthBytes)
    if (lengthBytes > 0 && this.#bytes[start] === flip) throw this.#damage(start, 'the number has a shorter form')
    let value = 0
    for (let at = start; at < this.#at; at += 1) value = value * 256 + (this.#bytes[at]! ^ flip)
    if (value <= Number.MAX_SAFE_INTEGER) return isNegative ? -value : value
    const digits = this.#bytes.toString('hex', start, this.#at)
    if (!isNegative) return BigInt(`0x${digits}`)
    return BigInt(`0x${digits}`) - (1n << BigInt(lengthBytes * 8)) + 1n
  }

  #double(floor: number | bigint): number {
    const start = this.#skip(9) + 1
    const bytes = Buffer.from(this.#bytes.subarray(start, this.#at))
    if (bytes[0]! >= 0x80) bytes[0]! ^= 0x80
    else for (let at = 0; at < 8; at += 1) bytes[at]! ^= 0xff
    const value = bytes.readDoubleBE()
    if (Number.isInteger(value) || Math.floor(value) !== floor)
      throw this.#damage(start, 'the double contradicts what precedes it')
    return value
  }

  #text(): string {
    const start = this.#at
    const end = this.#plainEnd()
    if (end >= 0) {
      this.#at = end + 1
      return latin1Between(this.#bytes, start, end)
    }
    const bytes = this.#data()
    if (!isUtf8(bytes)) throw this.#damage(start, 'the text is not UTF-8')
    return bytes.toString()
  }

  /** Where text of ASCII alone ends, without zeros; -1 if it has others, or is long. Most texts are found so. */
  #plainEnd(): number {
    const bytes = this.#bytes
    const last = Math.min(bytes.length, this.#at + PLAIN_BYTES_MAX)
    for (let at = this.#at; at < last; at += 1) {
      const byte = bytes[at]!
      if (byte >= 0x80) return -1
      if (byte === END) return bytes[at + 1] === ABOVE ? -1 : at
    }
    return -1
  }

  /** What lies before the next end, without what was added to its zeros. It may be a view. */
  #data(): Buffer {
    const start = this.#at
    let isView = true
    for (;;) {
      const zero = this.#bytes.indexOf(0, this.#at)
      if (zero < 0) throw this.#damage(this.#bytes.length, 'text or bytes are cut off')
      this.#at = zero + 1
      if (this.#at === this.#bytes.length || this.#bytes[this.#at] !== ABOVE) break
      isView = false
      this.#at += 1
    }
    const escaped = this.#bytes.subarray(start, this.#at - 1)
    return isView ? escaped : unescaped(escaped)
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)]!
  }

  #peek(): number {
    if (this.#at === this.#bytes.length) throw this.#damage(this.#at, 'a tuple is cut off')
    return this.#bytes[this.#at]!
  }

  #skip(lengthBytes: number): number {
    const at = this.#at
    if (lengthBytes > this.#bytes.length - at) throw this.#damage(this.#bytes.length, 'a part is cut off')
    this.#at = at + lengthBytes
    return at
  }

  #damage(offset: number, what: string): IndexError {
    const at = offset - this.#begin
    const message = `this is not the key of a tuple: ${what}, at byte ${at} of ${this.#bytes.length - this.#begin}`
    return new IndexError('KEY', `${message}; decode only what encodeTuple() returned`, { offset: at })
  }
}

/** Each zero is followed by one byte that is left out. */
function unescaped(bytes: Buffer): Buffer {
  const result = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += bytes[at] === 0 ? 2 : 1) result[length++] = bytes[at]!
  return result.subarray(0, length)
}
