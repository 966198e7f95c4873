import { hashBytes } from '../../../codecs/index.ts'
import { type BlockName, bytesOfClass } from '../heap/block-word.ts'
import type { KeyBytes } from './key.ts'

/**
 * The block of an entry:
 *
 * ```
 *   0  tag
 *   4  checksum of all that follows
 *   8  key: length, and kind from bit 16 on
 *  12  length of the value
 *  16  end of life, Float64
 *  24  hash
 *  32  key, then value
 * ```
 *
 * The tag is that of the slot, and the checksum begins with it. So a reader with an outdated slot, or one that reads
 * while the block is used again, sees that the block is another.
 */
const Offset = { Tag: 0, Checksum: 4, Key: 8, ValueLength: 12, EndOfLife: 16, Hash: 24, Bytes: 32 } as const

/** What an entry needs besides its key and its value. */
export const ENTRY_BYTES: number = Offset.Bytes

/** What is read of an entry that is moved to another table. */
export const HEAD_BYTES: number = Offset.Bytes

/** What a block says. */
export interface MapEntry {
  readonly keyMeta: number
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** 0: for ever. */
  readonly endOfLife: number
}

export function writeMapEntry(tag: number, key: KeyBytes, value: Uint8Array, endOfLife: number): Uint8Array {
  const bytes = new Uint8Array(Offset.Bytes + key.bytes.length + value.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(Offset.Tag, tag, true)
  view.setUint32(Offset.Key, key.meta, true)
  view.setUint32(Offset.ValueLength, value.length, true)
  view.setFloat64(Offset.EndOfLife, endOfLife, true)
  view.setUint32(Offset.Hash, key.first, true)
  bytes.set(key.bytes, Offset.Bytes)
  bytes.set(value, Offset.Bytes + key.bytes.length)
  view.setUint32(Offset.Checksum, checksum(tag, bytes), true)
  return bytes
}

/** Undefined where the bytes are not those of the block that the slot meant. */
export function readMapEntry({ tag, sizeClass }: BlockName, bytes: Uint8Array): MapEntry | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const keyMeta = view.getUint32(Offset.Key, true)
  const keyEnd = Offset.Bytes + (keyMeta & 0xffff)
  const end = keyEnd + view.getUint32(Offset.ValueLength, true)
  if (view.getUint32(Offset.Tag, true) !== tag || end > bytesOfClass(sizeClass)) return undefined
  if (view.getUint32(Offset.Checksum, true) !== checksum(tag, bytes.subarray(0, end))) return undefined
  return {
    keyMeta,
    key: bytes.subarray(Offset.Bytes, keyEnd),
    value: bytes.subarray(keyEnd, end),
    endOfLife: view.getFloat64(Offset.EndOfLife, true),
  }
}

/** The hash of an entry's key and the end of its life, from its head; undefined where the block is another by now. */
export function readHead(
  { tag }: BlockName,
  bytes: Uint8Array,
): { readonly hash: number; readonly endOfLife: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(Offset.Tag, true) !== tag) return undefined
  return { hash: view.getUint32(Offset.Hash, true), endOfLife: view.getFloat64(Offset.EndOfLife, true) }
}

function checksum(tag: number, bytes: Uint8Array): number {
  const covered = bytes.subarray(Offset.Key)
  return hashBytes(covered, covered.length, tag)
}
