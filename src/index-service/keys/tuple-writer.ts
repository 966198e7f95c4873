import { Buffer } from 'node:buffer'
import { ArgumentError, mustBe } from '../../native/index.ts'
import { ABOVE, DEPTH_MAX, END, LONG_BYTES_MAX, SHORT_BYTES_MAX, Tag } from './tuple-format.ts'
import type { TuplePart } from './tuple-part.ts'

const FLIPPED = 0xff

/** Writes one tuple, as `tuple-format.ts` lays it out. */
export class TupleWriter {
  #bytes = Buffer.allocUnsafe(128)
  #length = 0
  /** The index of the part that is written, in each tuple around it. */
  readonly #path: number[] = []

  /** Return its key. @throws ArgumentError */
  tuple(parts: readonly TuplePart[]): Uint8Array {
    if (!Array.isArray(parts)) throw mustBe('parts', "an array of parts, such as ['user', 7]", parts)
    this.#parts(parts)
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length)
  }

  #parts(parts: readonly unknown[]): void {
    const depth = this.#path.length
    for (let index = 0; index < parts.length; index += 1) {
      this.#path[depth] = index
      this.#part(parts[index])
    }
    this.#path.length = depth
  }

  #part(part: unknown): void {
    if (typeof part === 'string') this.#text(part)
    else if (typeof part === 'number') this.#number(part)
    else if (typeof part === 'bigint') this.#bigint(part)
    else if (typeof part === 'boolean') this.#byte(part ? Tag.TRUE : Tag.FALSE)
    else if (part === null) this.#byte(Tag.NULL)
    else if (part instanceof Uint8Array) this.#data(Tag.BYTES, part)
    else if (Array.isArray(part)) this.#nested(part)
    else throw foreign(this.#name, part)
  }

  #nested(parts: readonly unknown[]): void {
    if (this.#path.length > DEPTH_MAX) {
      const message = `tuples in parts are nested more than ${DEPTH_MAX} deep; use fewer levels, and no cycles`
      throw new ArgumentError('parts', message)
    }
    this.#byte(Tag.TUPLE)
    this.#parts(parts)
    this.#byte(END)
  }

  /** As the caller knows the part that is written. */
  get #name(): string {
    return `parts[${this.#path.join('][')}]`
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) this.#safeInteger(value)
    else if (Number.isNaN(value)) throw mustBe(this.#name, 'a number that has an order, or null', value)
    else if (value === Number.POSITIVE_INFINITY) this.#byte(Tag.INFINITY)
    else if (value === Number.NEGATIVE_INFINITY) this.#byte(Tag.MINUS_INFINITY)
    else if (Number.isInteger(value))
      throw mustBe(this.#name, 'a bigint from 2^53 on, since numbers are rounded there', value)
    else this.#fraction(value)
  }

  #fraction(value: number): void {
    this.#safeInteger(Math.floor(value))
    this.#byte(ABOVE)
    const at = this.#take(8)
    this.#bytes.writeDoubleBE(value, at)
    if (value > 0) this.#bytes[at]! ^= 0x80
    else flip(this.#bytes, at, 8)
  }

  #safeInteger(value: number): void {
    const isNegative = value < 0
    let rest = Math.abs(value)
    let lengthBytes = 0
    for (let limit = 1; rest >= limit; limit *= 256) lengthBytes += 1
    this.#byte(isNegative ? Tag.ZERO - lengthBytes : Tag.ZERO + lengthBytes)
    const at = this.#take(lengthBytes)
    for (let digit = at + lengthBytes - 1; digit >= at; digit -= 1) {
      this.#bytes[digit] = rest % 256
      rest = Math.floor(rest / 256)
    }
    if (isNegative) flip(this.#bytes, at, lengthBytes)
  }

  #bigint(value: bigint): void {
    const number = Number(value)
    if (Number.isSafeInteger(number)) this.#safeInteger(number)
    else this.#large(value < 0n ? -value : value, value < 0n)
  }

  #large(magnitude: bigint, isNegative: boolean): void {
    const digits = magnitude.toString(16)
    const lengthBytes = (digits.length + 1) >>> 1
    if (lengthBytes > LONG_BYTES_MAX) throw tooLong(this.#name, lengthBytes)
    if (lengthBytes <= SHORT_BYTES_MAX) this.#byte(isNegative ? Tag.ZERO - lengthBytes : Tag.ZERO + lengthBytes)
    else {
      this.#byte(isNegative ? Tag.LONG_NEGATIVE : Tag.LONG_POSITIVE)
      this.#byte(isNegative ? lengthBytes ^ FLIPPED : lengthBytes)
    }
    const at = this.#take(lengthBytes)
    this.#bytes.write(digits.padStart(lengthBytes * 2, '0'), at, 'hex')
    if (isNegative) flip(this.#bytes, at, lengthBytes)
  }

  #text(text: string): void {
    if (!text.isWellFormed())
      throw mustBe(this.#name, 'text without halves of surrogate pairs, as its toWellFormed() returns', text)
    if (text.includes('\0')) this.#data(Tag.TEXT, Buffer.from(text))
    else {
      this.#byte(Tag.TEXT)
      const at = this.#take(text.length * 3)
      this.#length = at + this.#bytes.write(text, at)
      this.#byte(END)
    }
  }

  /** Bytes between a tag and the end. */
  #data(tag: number, bytes: Uint8Array): void {
    this.#byte(tag)
    let start = 0
    for (let zero = bytes.indexOf(0); zero >= 0; zero = bytes.indexOf(0, start)) {
      this.#append(bytes, start, zero + 1)
      this.#byte(ABOVE)
      start = zero + 1
    }
    this.#append(bytes, start, bytes.length)
    this.#byte(END)
  }

  #append(bytes: Uint8Array, start: number, end: number): void {
    const at = this.#take(end - start)
    this.#bytes.set(bytes.subarray(start, end), at)
  }

  #byte(value: number): void {
    const at = this.#take(1)
    this.#bytes[at] = value
  }

  /** Returns where the next `lengthBytes` bytes go. It may replace the buffer, so call it before you look at that. */
  #take(lengthBytes: number): number {
    const at = this.#length
    this.#length = at + lengthBytes
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length))
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    return at
  }
}

function flip(bytes: Uint8Array, start: number, lengthBytes: number): void {
  for (let at = start; at < start + lengthBytes; at += 1) bytes[at]! ^= FLIPPED
}

function tooLong(name: string, lengthBytes: number): ArgumentError {
  const message = `${name} must be a bigint of at most ${LONG_BYTES_MAX} bytes, not of ${lengthBytes}; pass a hash of it`
  return new ArgumentError(name, message)
}

/** The error of a value of another type, and what to pass instead. */
function foreign(name: string, part: unknown): ArgumentError {
  const rule = 'null, true, false, a number, a bigint, text, a Uint8Array or an array of these'
  const { message } = mustBe(name, rule, part)
  const instead = insteadOf(part)
  return new ArgumentError(name, instead === undefined ? message : `${message}; pass ${instead}`)
}

function insteadOf(part: unknown): string | undefined {
  if (part === undefined) return 'null, or leave it out'
  if (part instanceof Date) return 'its getTime(), or its toISOString()'
  if (typeof part === 'symbol') return 'its description'
  if (typeof part === 'function') return 'its name'
  if (part instanceof ArrayBuffer || part instanceof SharedArrayBuffer) return 'new Uint8Array() of it'
  if (ArrayBuffer.isView(part)) return 'new Uint8Array() of its buffer, byteOffset and byteLength'
  return undefined
}
