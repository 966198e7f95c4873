import { deserialize, serialize } from 'node:v8'
import { ArgumentError, messageOfThrown, mustBe, shown } from '../../native/index.ts'
import { hashBytes } from '../hash.ts'
import { fixed, type Parameter } from '../parameter.ts'
import type { Codec } from './codec.ts'

const decoder = new TextDecoder()

/** First byte of a structured value. */
const Tag = { Undefined: 0, Null: 1, False: 2, True: 3, Number: 4, Text: 5, Bytes: 6, Cloned: 7 } as const

let scratch = Buffer.alloc(1024)

function room(lengthBytes: number): Buffer {
  if (scratch.length < lengthBytes) scratch = Buffer.alloc(lengthBytes * 2)
  return scratch
}

function tagged(tag: number, lengthBytes: number): Uint8Array {
  scratch[0] = tag
  return scratch.subarray(0, 1 + lengthBytes)
}

function encodeStructured(value: unknown): Uint8Array {
  switch (typeof value) {
    case 'undefined':
      return tagged(Tag.Undefined, 0)
    case 'boolean':
      return tagged(value ? Tag.True : Tag.False, 0)
    case 'number':
      scratch.writeDoubleLE(value, 1)
      return tagged(Tag.Number, 8)
    case 'string': {
      const length = room(1 + value.length * 3).write(value, 1)
      return tagged(Tag.Text, length)
    }
    default:
      return value === null ? tagged(Tag.Null, 0) : encodeObject(value)
  }
}

function encodeObject(value: unknown): Uint8Array {
  const isBytes = value instanceof Uint8Array
  const bytes = isBytes ? value : serialized(value)
  const target = room(1 + bytes.length)
  // Detached memory has no bytes, but cannot be copied either.
  if (bytes.length > 0) target.set(bytes, 1)
  return tagged(isBytes ? Tag.Bytes : Tag.Cloned, bytes.length)
}

/** @throws ArgumentError */
function serialized(value: unknown): Uint8Array {
  try {
    return serialize(value)
  } catch (error) {
    const why = `value must be what structuredClone takes: ${messageOfThrown(error)}; pass plain data, or another codec`
    throw new ArgumentError('value', why, { cause: error })
  }
}

function decodeStructured(bytes: Uint8Array): unknown {
  switch (bytes[0]) {
    case Tag.Null:
      return null
    case Tag.False:
      return false
    case Tag.True:
      return true
    case Tag.Number:
      return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(1, true)
    case Tag.Text:
      return decoder.decode(bytes.subarray(1))
    case Tag.Bytes:
      return new Uint8Array(bytes.subarray(1))
    case Tag.Cloned:
      // Typed arrays within it would be views of the bytes that are used again.
      return deserialize(new Uint8Array(bytes.subarray(1)))
    default:
      return undefined
  }
}

/**
 * All that `structuredClone` takes: objects, arrays, Map, Set, Date, bigint, typed arrays, cycles; no functions, no
 * instances of your own classes. Numbers, text, booleans and `Uint8Array` have a short form. The rest is in V8's own
 * format (`node:v8`), which later versions of Node.js read too. The default.
 */
export const structured: Codec<unknown> = { name: 'structured', encode: encodeStructured, decode: decodeStructured }

/** @throws ArgumentError */
function jsonOf(value: unknown): string {
  let why = `not ${shown(value)}`
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return text
  } catch (error) {
    why = messageOfThrown(error)
  }
  throw new ArgumentError('value', `value must be what JSON can represent: ${why}`)
}

/** JSON text. Other tools can read it, and for plain objects it is faster than `structured`. */
export const json: Codec<unknown> = {
  name: 'json',
  encode(value) {
    const text = jsonOf(value)
    const length = room(text.length * 3).write(text, 0)
    return scratch.subarray(0, length)
  },
  decode: (bytes) => JSON.parse(decoder.decode(bytes)),
}

/** Bytes as they are. Decoding returns a copy. */
export const bytes: Codec<Uint8Array> = {
  name: 'bytes',
  encode(value) {
    if (value instanceof Uint8Array) return value
    throw mustBe('value', "a Uint8Array for the codec 'bytes'", value)
  },
  // A Buffer's own slice would be no copy.
  decode: (value) => Uint8Array.prototype.slice.call(value),
  adopt: (value) => value,
}

const float = new Float64Array(1)
const floatBytes = new Uint8Array(float.buffer)

/** Numbers, 8 bytes each. */
export const number: Codec<number> = {
  name: 'number',
  encode(value) {
    if (typeof value !== 'number') throw mustBe('value', "a number for the codec 'number'", value)
    float[0] = value
    return floatBytes
  },
  decode(value) {
    for (let at = 0; at < 8; at += 1) floatBytes[at] = value[at]!
    return float[0]!
  },
}

const CODEC_NAME_MAX = 64

function isCodec(value: unknown): value is Codec<unknown> {
  const { name, encode, decode } = (value ?? {}) as Partial<Record<keyof Codec<unknown>, unknown>>
  const isNamed = typeof name === 'string' && name.length > 0 && name.length <= CODEC_NAME_MAX
  return isNamed && typeof encode === 'function' && typeof decode === 'function'
}

/**
 * A number kept with a structure, so that all processes read its bytes alike. @throws ArgumentError if it is not a
 * codec.
 */
export function codecNumber(codec: object): number {
  if (!isCodec(codec)) {
    const own = `an object with encode, decode and a name of 1 to ${CODEC_NAME_MAX} characters`
    const why = `options.codec must be structured, json, number or bytes, which 'aether-dsm/structures' exports, or ${own}; not ${shown(codec)}`
    throw new ArgumentError('options.codec', why)
  }
  const name = Buffer.from(codec.name)
  return hashBytes(name, name.length, 1)
}

/** How values become bytes, as a parameter of a structure: all its openers must agree. @throws ArgumentError */
export function codecParameter(codec: object): Parameter {
  const known = [structured, json, bytes, number, codec as Codec<unknown>]
  const nameOf = (value: number) => known.find((each) => codecNumber(each) === value)?.name ?? 'of another name'
  return fixed('codec', codecNumber(codec), nameOf)
}
