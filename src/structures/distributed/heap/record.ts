import { hashBytes } from '../../../codecs/index.ts'
import { type BlockName, bytesOfClass } from './block-word.ts'

/**
 * The block of an entry of a log, or of a version of a cell:
 *
 * ```
 *   0  tag
 *   4  checksum of 8 to 32
 *   8  length of the value
 *  12  checksum of the value
 *  16  index or version, Float64
 *  24  bytes of all values up to this one, Float64
 *  32  value
 * ```
 *
 * The tag is that of the slot, and both checksums begin with it. So a reader with an outdated word, or one that reads
 * while the block is used again, sees that it is another.
 */
const Offset = { Tag: 0, Checksum: 4, Length: 8, ValueChecksum: 12, Index: 16, Bytes: 24, Value: 32 } as const

/** What an entry needs besides its value, and what is to be read where only the rest is wanted. */
export const RECORD_BYTES: number = Offset.Value

/** What a block says besides the value. */
export interface RecordHead {
  readonly index: number
  /** Of the value. */
  readonly lengthBytes: number
  /** Of all values up to this one. Only where the log has a bound on bytes. */
  readonly bytes: number
}

export function writeRecord(
  tag: number,
  { index, bytes }: Omit<RecordHead, 'lengthBytes'>,
  value: Uint8Array,
): Uint8Array {
  const record = new Uint8Array(Offset.Value + value.length)
  const view = new DataView(record.buffer)
  view.setUint32(Offset.Tag, tag, true)
  view.setUint32(Offset.Length, value.length, true)
  view.setUint32(Offset.ValueChecksum, hashBytes(value, value.length, tag), true)
  view.setFloat64(Offset.Index, index, true)
  view.setFloat64(Offset.Bytes, bytes, true)
  record.set(value, Offset.Value)
  view.setUint32(Offset.Checksum, checksum(tag, record), true)
  return record
}

/** Undefined where the bytes are not of the block that its name meant. */
export function readRecordHead({ tag }: BlockName, bytes: Uint8Array): RecordHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getUint32(Offset.Tag, true) !== tag || view.getUint32(Offset.Checksum, true) !== checksum(tag, bytes))
    return undefined
  return {
    index: view.getFloat64(Offset.Index, true),
    lengthBytes: view.getUint32(Offset.Length, true),
    bytes: view.getFloat64(Offset.Bytes, true),
  }
}

/** With the value, of all bytes of the block. */
export function readRecord(
  block: BlockName,
  bytes: Uint8Array,
): { readonly index: number; readonly value: Uint8Array } | undefined {
  const head = readRecordHead(block, bytes)
  if (head === undefined || Offset.Value + head.lengthBytes > bytesOfClass(block.sizeClass)) return undefined
  const value = bytes.subarray(Offset.Value, Offset.Value + head.lengthBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const isWhole = view.getUint32(Offset.ValueChecksum, true) === hashBytes(value, value.length, block.tag)
  return isWhole ? { index: head.index, value } : undefined
}

function checksum(tag: number, bytes: Uint8Array): number {
  return hashBytes(bytes.subarray(Offset.Length, Offset.Value), Offset.Value - Offset.Length, tag)
}
