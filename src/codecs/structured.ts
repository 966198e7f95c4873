import { deserialize, serialize } from 'node:v8'
import { ArgumentError, messageOfThrown } from '../native/index.ts'
import type { Codec } from './codec.ts'

/** A byte order mark belongs to the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

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
      // UTF-8 has no word for half of a pair.
      if (!value.isWellFormed()) return encodeObject(value)
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
