import { Buffer } from 'node:buffer'
import { deserialize, serialize } from 'node:v8'
import type { RpcCodec } from './codec.ts'
import { MalformedFrameError } from './errors.ts'

/**
 * Values in a compact form of tags: one byte, or two, then what they say. Numbers that are whole and fit take 1, 2 or 5 bytes, others 9. Arrays, plain objects, texts, bytes and typed arrays are written
 * out; anything else that `structuredClone` takes (Map, Set, Date, RegExp, errors, class instances as plain objects, cycles) is given to V8's own format as a whole.
 */
const Tag = {
  Undefined: 0,
  Null: 1,
  False: 2,
  True: 3,
  Int8: 4,
  Int32: 5,
  Double: 6,
  /** u8 length, then Latin-1. */
  ShortText: 7,
  /** u32 length, then UTF-8. */
  Text: 8,
  /** u8 kind (index of `kinds`), u32 length in bytes, then the bytes. */
  Typed: 9,
  /** u32 count, then values. */
  Array: 10,
  /** u32 count, then key and value in turn; keys as texts. */
  Object: 11,
  /** u32 length, then V8's format. */
  Cloned: 12,
  /** Whether negative, u8 length, then the magnitude, least byte first. */
  BigInt: 13,
} as const

/** Nesting beyond this goes to V8's format when written, and is refused when read. */
const DEPTH_MAX = 64
const SHORT_TEXT_MAX = 24
const loneSurrogate = /\p{Surrogate}/u
const SCRATCH_BYTES_KEPT = 1 << 20

type AnyTyped = Uint8Array | Float64Array
type TypedConstructor = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => AnyTyped
const kinds = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
] as unknown as readonly (TypedConstructor & { readonly BYTES_PER_ELEMENT: number })[]

/** Says that a value is not written out here. */
class Foreign {}
const foreign = new Foreign()

let scratch: Buffer = Buffer.alloc(4096)
let view = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)
let at = 0
/** Where a codec's own scratch is in use, by a getter of a value that itself encodes. */
let encoding = false

function room(bytes: number): void {
  if (at + bytes <= scratch.length) return
  const larger = Buffer.alloc(Math.max(scratch.length * 2, at + bytes))
  larger.set(scratch.subarray(0, at))
  scratch = larger
  view = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)
}

function writeNumber(value: number): void {
  room(9)
  if (value === (value | 0) && !Object.is(value, -0)) {
    if (value >= -128 && value < 128) {
      scratch[at] = Tag.Int8
      scratch[at + 1] = value
      at += 2
      return
    }
    scratch[at] = Tag.Int32
    view.setInt32(at + 1, value, true)
    at += 5
    return
  }
  scratch[at] = Tag.Double
  view.setFloat64(at + 1, value, true)
  at += 9
}

/** A short text is looked at once, and written as it is looked at. */
function writeText(text: string): void {
  const length = text.length
  if (length <= SHORT_TEXT_MAX) {
    room(2 + length)
    let index = 0
    for (; index < length; index += 1) {
      const unit = text.charCodeAt(index)
      if (unit > 0xff) break
      scratch[at + 2 + index] = unit
    }
    if (index === length) {
      scratch[at] = Tag.ShortText
      scratch[at + 1] = length
      at += 2 + length
      return
    }
  }
  // UTF-8 has no word for half of a pair.
  if (loneSurrogate.test(text)) throw foreign
  room(5 + length * 3)
  const bytes = scratch.write(text, at + 5)
  scratch[at] = Tag.Text
  view.setUint32(at + 1, bytes, true)
  at += 5 + bytes
}

function writeTyped(value: ArrayBufferView): void {
  const kind = kinds.findIndex((each) => Object.getPrototypeOf(value) === each.prototype)
  // A Buffer goes as the bytes that it is.
  const known = kind === -1 && value instanceof Uint8Array ? 0 : kind
  if (known === -1) throw foreign
  room(6 + value.byteLength)
  scratch[at] = Tag.Typed
  scratch[at + 1] = known
  view.setUint32(at + 2, value.byteLength, true)
  scratch.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), at + 6)
  at += 6 + value.byteLength
}

function writeBigInt(value: bigint): void {
  let magnitude = value < 0n ? -value : value
  const start = at
  room(3)
  at += 3
  for (; magnitude > 0n; magnitude >>= 8n) {
    room(1)
    scratch[at] = Number(magnitude & 0xffn)
    at += 1
  }
  if (at - start - 3 > 255) throw foreign
  scratch[start] = Tag.BigInt
  scratch[start + 1] = value < 0n ? 1 : 0
  scratch[start + 2] = at - start - 3
}

function writeCount(tag: number, count: number): void {
  room(5)
  scratch[at] = tag
  view.setUint32(at + 1, count, true)
  at += 5
}

function writeArray(values: readonly unknown[], depth: number): void {
  writeCount(Tag.Array, values.length)
  for (let index = 0; index < values.length; index += 1) {
    // A hole is not undefined.
    if (values[index] === undefined && !(index in values)) throw foreign
    write(values[index], depth + 1)
  }
}

function writeObject(value: object, depth: number): void {
  if (ArrayBuffer.isView(value)) writeTyped(value)
  else if (Array.isArray(value)) writeArray(value, depth)
  else writePlain(value, depth)
}

function writePlain(value: object, depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw foreign
  const keys = Object.keys(value)
  writeCount(Tag.Object, keys.length)
  for (const key of keys) {
    writeText(key)
    write((value as Readonly<Record<string, unknown>>)[key], depth + 1)
  }
}

function writeByte(tag: number): void {
  room(1)
  scratch[at] = tag
  at += 1
}

function write(value: unknown, depth: number): void {
  // So deep, or a cycle.
  if (depth > DEPTH_MAX) throw foreign
  switch (typeof value) {
    case 'number':
      writeNumber(value)
      break
    case 'string':
      writeText(value)
      break
    case 'boolean':
      writeByte(value ? Tag.True : Tag.False)
      break
    case 'undefined':
      writeByte(Tag.Undefined)
      break
    case 'bigint':
      writeBigInt(value)
      break
    case 'object':
      if (value === null) writeByte(Tag.Null)
      else writeObject(value, depth)
      break
    default:
      throw foreign
  }
}

function encodeValue(value: unknown): Uint8Array {
  // Within a getter of a value that is being encoded.
  if (encoding) return cloned(value)
  at = 0
  encoding = true
  try {
    write(value, 0)
  } catch (error) {
    if (error === foreign) return cloned(value)
    throw error
  } finally {
    encoding = false
  }
  const whole = scratch.subarray(0, at)
  // A long one is given away, so that it need not be copied while it waits for room.
  if (scratch.length > SCRATCH_BYTES_KEPT) resetScratch()
  return whole
}

function resetScratch(): void {
  scratch = Buffer.alloc(4096)
  view = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)
}

function cloned(value: unknown): Uint8Array {
  const body = serialize(value)
  const whole = Buffer.alloc(5 + body.length)
  whole[0] = Tag.Cloned
  whole.writeUInt32LE(body.length, 1)
  whole.set(body, 5)
  return whole
}

/** Reads one value; what it meets may be anything. */
class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  whole(): unknown {
    const value = this.#value(0)
    if (this.#at !== this.#bytes.length) throw new MalformedFrameError('bytes follow a value')
    return value
  }

  /** Moves on by `count` bytes and says where they began. */
  #take(count: number): number {
    const from = this.#at
    if (count > this.#bytes.length - from) throw new MalformedFrameError('a value is cut short')
    this.#at = from + count
    return from
  }

  #u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  #value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new MalformedFrameError('values are nested too deep')
    switch (this.#bytes[this.#take(1)]) {
      case Tag.Undefined:
        return undefined
      case Tag.Null:
        return null
      case Tag.False:
        return false
      case Tag.True:
        return true
      case Tag.Int8:
        return this.#view.getInt8(this.#take(1))
      case Tag.Int32:
        return this.#view.getInt32(this.#take(4), true)
      case Tag.Double:
        return this.#view.getFloat64(this.#take(8), true)
      case Tag.ShortText:
        return this.#shortText()
      case Tag.Text:
        return this.#text()
      case Tag.Typed:
        return this.#typed()
      case Tag.Array:
        return this.#array(depth)
      case Tag.Object:
        return this.#object(depth)
      case Tag.Cloned:
        return this.#cloned()
      case Tag.BigInt:
        return this.#bigint()
      default:
        throw new MalformedFrameError('a value of unknown kind')
    }
  }

  #shortText(): string {
    const length = this.#view.getUint8(this.#take(1))
    const from = this.#take(length)
    let text = ''
    for (let index = from; index < from + length; index += 1) text += String.fromCharCode(this.#bytes[index] as number)
    return text
  }

  #text(): string {
    const length = this.#u32()
    const from = this.#take(length)
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, length).toString()
  }

  #typed(): unknown {
    const kind = kinds[this.#view.getUint8(this.#take(1))]
    const length = this.#u32()
    const from = this.#take(length)
    if (kind === undefined || length % kind.BYTES_PER_ELEMENT !== 0)
      throw new MalformedFrameError('a typed array of no known kind')
    const own = Uint8Array.prototype.slice.call(this.#bytes, from, from + length)
    return new kind(own.buffer, 0, length / kind.BYTES_PER_ELEMENT)
  }

  #array(depth: number): unknown[] {
    const count = this.#u32()
    // Each value takes a byte at least.
    if (count > this.#bytes.length - this.#at) throw new MalformedFrameError('an array is longer than its message')
    const values: unknown[] = []
    for (let index = 0; index < count; index += 1) values.push(this.#value(depth + 1))
    return values
  }

  #object(depth: number): unknown {
    const count = this.#u32()
    if (count > this.#bytes.length - this.#at) throw new MalformedFrameError('an object is larger than its message')
    const values: Record<string, unknown> = {}
    for (let index = 0; index < count; index += 1) {
      const key = this.#value(DEPTH_MAX)
      if (typeof key !== 'string') throw new MalformedFrameError('a key that is no text')
      const value = this.#value(depth + 1)
      // Assigned, it would become the prototype.
      if (key === '__proto__') Object.defineProperty(values, key, { value, ...ownProperty })
      else values[key] = value
    }
    return values
  }

  #cloned(): unknown {
    const length = this.#u32()
    const from = this.#take(length)
    // Typed arrays within it would be views of bytes that are used again.
    const own = Uint8Array.prototype.slice.call(this.#bytes, from, from + length)
    try {
      return deserialize(own)
    } catch (error) {
      throw new MalformedFrameError(`V8 does not read it: ${String(error)}`)
    }
  }

  #bigint(): bigint {
    const negative = this.#view.getUint8(this.#take(1)) === 1
    const length = this.#view.getUint8(this.#take(1))
    const from = this.#take(length)
    let value = 0n
    for (let index = from + length - 1; index >= from; index -= 1)
      value = (value << 8n) | BigInt(this.#bytes[index] as number)
    return negative ? -value : value
  }
}

const ownProperty = { writable: true, enumerable: true, configurable: true } as const

/**
 * Whatever `structuredClone` takes, small values in few bytes and fast. The default. Typed arrays come out as arrays of the receiver's own; a `Buffer` comes out as the `Uint8Array` that it is; properties of an
 * object without a prototype come out in a plain one.
 */
export const values: RpcCodec = {
  name: 'values',
  encode: encodeValue,
  decode: (bytes) => new Reader(bytes).whole(),
}
