import { Buffer } from 'node:buffer'
import { deserialize } from 'node:v8'
import { MalformedFrameError } from './errors.ts'
import { shortText } from './short-texts.ts'
import { DEPTH_MAX, kinds, Tag } from './value-tag.ts'

const NOTHING = new Uint8Array(0)
const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

/** What is being read: nothing of a program runs meanwhile, so there is one at a time. */
let source: Uint8Array = NOTHING
let at = 0
let end = 0

/**
 * Read the one value in `length` bytes of `bytes` from `offset`. The bytes may be anything, but must not change in the
 * meantime.
 * @throws MalformedFrameError.
 */
export function readValue(bytes: Uint8Array, offset: number, length: number): unknown {
  source = bytes
  at = offset
  end = offset + length
  try {
    const value = read(0)
    if (at !== end) throw new MalformedFrameError('there are bytes after a value')
    return value
  } finally {
    source = NOTHING
  }
}

/** Moves on by `count` bytes and says where they began. */
function take(count: number): number {
  const from = at
  if (count > end - from) throw new MalformedFrameError('a value is truncated')
  at = from + count
  return from
}

function u8(): number {
  return source[take(1)]!
}

function i32(): number {
  const from = take(4)
  return source[from]! | (source[from + 1]! << 8) | (source[from + 2]! << 16) | (source[from + 3]! << 24)
}

function f64(): number {
  const from = take(8)
  for (let index = 0; index < 8; index += 1) doubleBytes[index] = source[from + index]!
  return double[0]!
}

function read(depth: number): unknown {
  if (depth > DEPTH_MAX) throw new MalformedFrameError('values are nested too deeply')
  switch (u8()) {
    case Tag.Undefined:
      return undefined
    case Tag.Null:
      return null
    case Tag.False:
      return false
    case Tag.True:
      return true
    case Tag.Int8:
      return (u8() << 24) >> 24
    case Tag.Int32:
      return i32()
    case Tag.Double:
      return f64()
    case Tag.ShortText:
      return readShortText()
    case Tag.Text:
      return readText()
    case Tag.Typed:
      return readTyped()
    case Tag.Array:
      return readArray(depth)
    case Tag.Object:
      return readObject(depth)
    case Tag.Cloned:
      return readCloned()
    case Tag.BigInt:
      return readBigInt()
    default:
      throw new MalformedFrameError('a value has an unknown kind')
  }
}

function readShortText(): string {
  const length = u8()
  return shortText(source, take(length), length)
}

function readText(): string {
  const length = i32() >>> 0
  const from = take(length)
  return Buffer.from(source.buffer, source.byteOffset + from, length).toString()
}

function readTyped(): unknown {
  const kind = kinds[u8()]
  const length = i32() >>> 0
  const from = take(length)
  if (kind === undefined || length % kind.BYTES_PER_ELEMENT !== 0)
    throw new MalformedFrameError('a typed array has an unknown kind')
  const own = ownBytes(from, length)
  return new kind(own.buffer, 0, length / kind.BYTES_PER_ELEMENT)
}

/** A Buffer's own slice would be no copy. */
function ownBytes(from: number, length: number): Uint8Array {
  return Uint8Array.prototype.slice.call(source, from, from + length)
}

function readArray(depth: number): unknown[] {
  const count = i32() >>> 0
  // Each value takes a byte at least.
  if (count > end - at) throw new MalformedFrameError('an array is longer than its message')
  const values: unknown[] = []
  for (let index = 0; index < count; index += 1) values.push(read(depth + 1))
  return values
}

function readObject(depth: number): unknown {
  const count = i32() >>> 0
  if (count > end - at) throw new MalformedFrameError('an object is larger than its message')
  const values: Record<string, unknown> = {}
  for (let index = 0; index < count; index += 1) {
    const key = readKey()
    const value = read(depth + 1)
    // Assigned, it would become the prototype.
    if (key === '__proto__') Object.defineProperty(values, key, { value, ...ownProperty })
    else values[key] = value
  }
  return values
}

function readKey(): string {
  const tag = u8()
  if (tag === Tag.ShortText) return readShortText()
  if (tag === Tag.Text) return readText()
  throw new MalformedFrameError('a key is not a string')
}

function readCloned(): unknown {
  const length = i32() >>> 0
  // Typed arrays within it would be views of bytes that are used again.
  const own = ownBytes(take(length), length)
  try {
    return deserialize(own)
  } catch (error) {
    throw new MalformedFrameError(`V8 cannot read a value: ${String(error)}`)
  }
}

function readBigInt(): bigint {
  const negative = u8() === 1
  const length = u8()
  const from = take(length)
  let value = 0n
  for (let index = from + length - 1; index >= from; index -= 1) value = (value << 8n) | BigInt(source[index]!)
  return negative ? -value : value
}

const ownProperty = { writable: true, enumerable: true, configurable: true } as const
