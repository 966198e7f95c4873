import { ArgumentError, mustBe } from '../../native/index.ts'
import { decodeTuple, encodeTuple } from './tuple-key.ts'
import type { TuplePart } from './tuple-part.ts'

/** A key: text or bytes, or a tuple, which {@link Index.range} finds in order. */
export type IndexKey = string | Uint8Array | readonly TuplePart[]

/** Before the bytes of a tuple. No other key begins with it. */
export const TUPLE_MARK = 0
const KEY_BYTES_MAX = 65_536

/** @throws ArgumentError */
export function bytesOfKey(key: IndexKey, name: string = 'key'): Uint8Array {
  const bytes = encoded(key, name)
  if (bytes.length > KEY_BYTES_MAX)
    throw new ArgumentError(name, `a key has at most ${KEY_BYTES_MAX} bytes, not ${bytes.length}`)
  return bytes
}

/** Text that is looked for is mostly as short. */
const LOOKED_MAX = 64
const looked = new Uint8Array(LOOKED_MAX)
const lookedViews: readonly Uint8Array[] = Array.from({ length: LOOKED_MAX + 1 }, (_, end) => looked.subarray(0, end))

/** As {@link bytesOfKey}, in memory that is used again: valid until the next one. @throws ArgumentError */
export function bytesToLookFor(key: IndexKey): Uint8Array {
  if (typeof key !== 'string' || key.length > LOOKED_MAX || key.charCodeAt(0) === TUPLE_MARK) return bytesOfKey(key)
  for (let at = 0; at < key.length; at += 1) {
    const unit = key.charCodeAt(at)
    if (unit >= 0x80) return bytesOfKey(key)
    looked[at] = unit
  }
  return lookedViews[key.length]!
}

function encoded(key: IndexKey, name: string): Uint8Array {
  if (Array.isArray(key)) return markedTuple(key as readonly TuplePart[])
  if (typeof key !== 'string' && !(key instanceof Uint8Array))
    throw mustBe(name, 'text, bytes, or a tuple such as ["user", 7]', key)
  // A copy: the caller may change its own before this one is sent.
  const bytes = Buffer.from(key as Uint8Array)
  if (bytes[0] === TUPLE_MARK && bytes.length > 0)
    throw new ArgumentError(name, `a key of text or bytes must not begin with the byte 0, which marks tuples`)
  return bytes
}

/** The bytes of a tuple as a key. */
export function markedTuple(parts: readonly TuplePart[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(TUPLE_MARK), encodeTuple(parts)])
}

/**
 * The key that has these bytes: a tuple, or bytes. Clients of Redis may have any bytes as a key, also such as begin
 * like a tuple and are none.
 */
export function keyOfBytes(bytes: Uint8Array): Buffer | readonly TuplePart[] {
  const tuple = bytes[0] === TUPLE_MARK && bytes.length > 0 ? tupleOf(bytes) : undefined
  return tuple ?? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function tupleOf(bytes: Uint8Array): readonly TuplePart[] | undefined {
  try {
    return decodeTuple(bytes, 1)
  } catch {
    return undefined
  }
}
