import { Buffer } from 'node:buffer'
import { IndexError } from '../errors.ts'
import { NameTable } from '../values/name-table.ts'

const COUNT_BYTES_MAX = 8
/** Shorter than a call for what is usual. */
const COPIED_BY_LOOP_MAX = 32
const names = new NameTable((name) => name)

/** Appends to one buffer, which grows and is used again. Counts are varints; numbers are little-endian. */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(4096)
  #length = 0

  begin(kind: number): void {
    this.#length = 0
    this.u8(kind)
  }

  /** Valid until the next command is written. */
  end(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  u8(value: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = value
  }

  count(value: number): void {
    this.#room(COUNT_BYTES_MAX)
    let left = value
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#bytes[this.#length++] = (left % 0x80) | 0x80
    this.#bytes[this.#length++] = left
  }

  f64(value: number): void {
    this.#room(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes
    this.count(length)
    this.#room(length)
    if (length > COPIED_BY_LOOP_MAX) this.#bytes.set(bytes, this.#length)
    else for (let at = 0; at < length; at += 1) this.#bytes[this.#length + at] = bytes[at]!
    this.#length += length
  }

  /** Without their length. */
  append(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  text(latin1: string): void {
    this.count(latin1.length)
    const { length } = latin1
    this.#room(length)
    if (length > COPIED_BY_LOOP_MAX) this.#bytes.write(latin1, this.#length, 'latin1')
    else for (let at = 0; at < length; at += 1) this.#bytes[this.#length + at] = latin1.charCodeAt(at)
    this.#length += length
  }

  #room(lengthBytes: number): void {
    if (this.#length + lengthBytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + lengthBytes))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

/** Reads what a {@link WireWriter} wrote. @throws IndexError for anything else */
export class WireReader {
  readonly #bytes: Buffer
  /** To ask for it takes a call. */
  readonly #memory: ArrayBufferLike
  readonly #offset: number
  readonly #part: ((bytes: Buffer, begin: number, end: number) => Uint8Array) | undefined
  #at = 0

  /** `part`: what {@link bytes} returns; default: views. */
  constructor(bytes: Buffer, part?: (bytes: Buffer, begin: number, end: number) => Uint8Array) {
    this.#bytes = bytes
    this.#part = part
    this.#memory = bytes.buffer
    this.#offset = bytes.byteOffset
  }

  /** Where it reads on. */
  get at(): number {
    return this.#at
  }

  set at(at: number) {
    this.#at = at
  }

  u8(): number {
    const value = this.#bytes[this.#at]
    if (value === undefined) throw this.damaged('it is cut off')
    this.#at += 1
    return value
  }

  count(): number {
    const first = this.u8()
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let scale = 0x80; scale < 2 ** 56; scale *= 0x80) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80 && Number.isSafeInteger(value)) return value
      if (byte < 0x80) break
    }
    throw this.damaged('a count is too large')
  }

  /** A count of things that take a byte at least each. */
  countOfThings(): number {
    const count = this.count()
    if (count > this.#bytes.length - this.#at) throw this.damaged('it is cut off')
    return count
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#skip(8))
  }

  /** A whole number that was written as Float64. */
  whole(): number {
    const value = this.f64()
    if (!Number.isSafeInteger(value)) throw this.damaged('a number is not whole')
    return value
  }

  bytes(): Uint8Array {
    const length = this.count()
    const start = this.#skip(length)
    if (this.#part !== undefined) return this.#part(this.#bytes, start, start + length)
    // Not a Buffer, of which to make a part takes longer.
    return new Uint8Array(this.#memory, this.#offset + start, length)
  }

  /** What was read since a place: a view. */
  from(begin: number): Uint8Array {
    return new Uint8Array(this.#memory, this.#offset + begin, this.#at - begin)
  }

  /** Read past {@link bytes}. */
  skipBytes(): void {
    this.#skip(this.count())
  }

  /** Short ones are names mostly, of commands, statuses and errors. */
  text(): string {
    const length = this.count()
    const start = this.#skip(length)
    return names.at(this.#bytes, start, length)
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw this.damaged('more follows after it')
  }

  #skip(lengthBytes: number): number {
    const start = this.#at
    if (lengthBytes > this.#bytes.length - start) throw this.damaged('it is cut off')
    this.#at = start + lengthBytes
    return start
  }

  /** A byte of at most `max`, which is called `what`. */
  u8Below(max: number, what: string): number {
    const value = this.u8()
    if (value > max) throw this.damaged(`its ${what} ${value} is unknown`)
    return value
  }

  /** What is thrown. */
  damaged(how: string): IndexError {
    const what = `a message for or from a shard cannot be read: ${how}`
    const message = `${what}; run the same version of Aether in every process`
    return new IndexError('COMMAND', message, { offset: this.#at })
  }
}
