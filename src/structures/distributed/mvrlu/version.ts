import { hashBytes } from '../../../codecs/index.ts'
import { type BlockName, bytesOfClass } from '../heap/block-word.ts'

/**
 * The block of a version of an object:
 *
 * ```
 *  0  tag   4  checksum of 8 to 32   8  length of the value, or 2^32-1: the object is freed from here on   12
 *       checksum of the value   16  clock, Float64   24  object, Float64   32  word of the version below, or 0   40
 *       value
 * ```
 *
 * Nothing of it changes while it can be reached but that the word at 32 becomes 0. The tag is that of the word that
 * names it, and both checksums begin with it.
 */
const Offset = {
  Tag: 0,
  Checksum: 4,
  Length: 8,
  ValueChecksum: 12,
  Clock: 16,
  Object: 24,
  Older: 32,
  Value: 40,
} as const
const GONE = 0xffffffff

/** What a version needs besides its value, and what is to be read where only the rest is wanted. */
export const VERSION_BYTES: number = Offset.Value
export const OLDER_OFFSET: number = Offset.Older
/** Of these nothing changes but the clock, and the checksum with it, until it is committed. */
const HEAD_BYTES = Offset.Older

/** A version without its value. */
export interface VersionHead {
  readonly clock: number
  readonly object: number
  readonly older: bigint
  /** The object is freed from here on. */
  readonly isGone: boolean
}

export interface Version extends VersionHead {
  readonly value: Uint8Array
}

/** `value`: undefined where the object is freed from here on. */
export function writeVersion(
  tag: number,
  { clock, object, older }: Omit<VersionHead, 'isGone'>,
  value: Uint8Array | undefined,
): Uint8Array {
  const bytes = new Uint8Array(Offset.Value + (value?.length ?? 0))
  const view = new DataView(bytes.buffer)
  view.setUint32(Offset.Tag, tag, true)
  view.setUint32(Offset.Length, value?.length ?? GONE, true)
  if (value !== undefined) view.setUint32(Offset.ValueChecksum, hashBytes(value, value.length, tag), true)
  view.setFloat64(Offset.Object, object, true)
  view.setBigUint64(Offset.Older, older, true)
  if (value !== undefined) bytes.set(value, Offset.Value)
  setClock(bytes, clock)
  return bytes
}

/** Give a version that was written before another clock; gives the bytes that have to be written for it. */
export function setClock(version: Uint8Array, clock: number): Uint8Array {
  const view = new DataView(version.buffer, version.byteOffset, version.length)
  view.setFloat64(Offset.Clock, clock, true)
  view.setUint32(Offset.Checksum, checksum(view.getUint32(Offset.Tag, true), version), true)
  return version.subarray(0, HEAD_BYTES)
}

/** Undefined where the bytes are not of the block that its name meant. */
export function readVersionHead({ tag }: BlockName, bytes: Uint8Array): VersionHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(Offset.Tag, true) !== tag || view.getUint32(Offset.Checksum, true) !== checksum(tag, bytes))
    return undefined
  return {
    clock: view.getFloat64(Offset.Clock, true),
    object: view.getFloat64(Offset.Object, true),
    older: view.getBigUint64(Offset.Older, true),
    isGone: view.getUint32(Offset.Length, true) === GONE,
  }
}

/** The same with the value, of all bytes of the block. */
export function readVersion(name: BlockName, bytes: Uint8Array): Version | undefined {
  const head = readVersionHead(name, bytes)
  if (head === undefined) return undefined
  if (head.isGone) return { ...head, value: bytes.subarray(0, 0) }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const length = view.getUint32(Offset.Length, true)
  if (Offset.Value + length > bytesOfClass(name.sizeClass)) return undefined
  const value = bytes.subarray(Offset.Value, Offset.Value + length)
  const isWhole = view.getUint32(Offset.ValueChecksum, true) === hashBytes(value, length, name.tag)
  return isWhole ? { ...head, value } : undefined
}

function checksum(tag: number, bytes: Uint8Array): number {
  return hashBytes(bytes.subarray(Offset.Length, HEAD_BYTES), HEAD_BYTES - Offset.Length, tag)
}
