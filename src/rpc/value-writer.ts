import { Buffer } from 'node:buffer'
import { serialize } from 'node:v8'
import { ArgumentError, messageOfThrown } from '../native/index.ts'
import { DEPTH_MAX, kinds, SHORT_TEXT_MAX, Tag } from './value-tag.ts'

const SCRATCH_BYTES_KEPT = 1 << 20

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
  if (!text.isWellFormed()) throw foreign
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
  // Detached memory has no bytes, but cannot be copied either.
  if (value.byteLength > 0) scratch.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), at + 6)
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

/** What {@link writeValue} wrote: the first bytes of it. */
let written: Uint8Array = scratch

/**
 * Encode a value. Returns how many bytes it took. They are at the start of the next {@link writtenBytes}, until another
 * value is written.
 */
export function writeValue(value: unknown): number {
  // Within a getter of a value that is being encoded.
  if (encoding) return writeCloned(value)
  at = 0
  encoding = true
  try {
    write(value, 0)
  } catch (error) {
    if (error === foreign) return writeCloned(value)
    throw error
  } finally {
    encoding = false
  }
  written = scratch
  // A long one is given away, so that it need not be copied while it waits for room.
  if (scratch.length > SCRATCH_BYTES_KEPT) resetScratch()
  return at
}

/** Call it once after {@link writeValue}. */
export function writtenBytes(): Uint8Array {
  const bytes = written
  written = scratch
  return bytes
}

function resetScratch(): void {
  scratch = Buffer.alloc(4096)
  view = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)
}

function writeCloned(value: unknown): number {
  written = cloned(value)
  return written.length
}

function cloneOf(value: unknown): Uint8Array {
  try {
    return serialize(value)
  } catch (error) {
    const why = messageOfThrown(error)
    throw new ArgumentError('value', `the codec 'values' takes only what structuredClone takes: ${why}`, {
      cause: error,
    })
  }
}

function cloned(value: unknown): Uint8Array {
  const body = cloneOf(value)
  const whole = Buffer.alloc(5 + body.length)
  whole[0] = Tag.Cloned
  whole.writeUInt32LE(body.length, 1)
  whole.set(body, 5)
  return whole
}
