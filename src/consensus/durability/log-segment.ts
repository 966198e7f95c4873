import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import type { Entry } from '../machine/applier.ts'

/**
 * A file of a log: entries, one behind the other. Numbers are little-endian.
 *
 * ```
 *  segment    0 'AeLg'   4 version of the format   8 number of the segment   12 CRC-32 of these 12 bytes
 *  entry      0 CRC-32 of the head, from 4 on   4 CRC-32 of the payload   8 length of the payload
 *            12 durable   16 index (48 bits)   22 term   26 time (Float64)   34 payload
 * ```
 *
 * Entries are written in batches, and a batch is synced before the next one is written. `durable` is where its batch
 * begins: all before that was on the disk. So what is wrong with a file tells what happened:
 *
 * - Nothing behind the wrong place was written after it had been synced: a crash has cut the last batch. No one was
 *   told that it was on the disk, so it may be cut off.
 * - An entry behind it was written later: something changed what was on the disk. Entries that count are lost.
 *
 * A change of the last batch after it was synced looks like the first case.
 */
const MAGIC = 0x674c6541
/** Raised whenever anything in the format changes. */
export const SEGMENT_VERSION = 1
export const SEGMENT_HEAD_BYTES = 16
const ENTRY_HEAD_BYTES = 34

export function segmentHead(number: number): Buffer {
  const head = Buffer.alloc(SEGMENT_HEAD_BYTES)
  head.writeUInt32LE(MAGIC, 0)
  head.writeUInt32LE(SEGMENT_VERSION, 4)
  head.writeUInt32LE(number, 8)
  head.writeUInt32LE(crc32(head.subarray(0, 12)), 12)
  return head
}

/** The version of the format; undefined if that is not the head of this segment. */
export function versionIn(segment: Buffer, number: number): number | undefined {
  if (segment.length < SEGMENT_HEAD_BYTES || segment.readUInt32LE(12) !== crc32(segment.subarray(0, 12)))
    return undefined
  return segment.readUInt32LE(0) === MAGIC && segment.readUInt32LE(8) === number ? segment.readUInt32LE(4) : undefined
}

export function encodeEntry({ index, term, timeMs, payload }: Entry, durable: number): Buffer[] {
  const head = Buffer.alloc(ENTRY_HEAD_BYTES)
  head.writeUInt32LE(crc32(payload), 4)
  head.writeUInt32LE(payload.length, 8)
  head.writeUInt32LE(durable, 12)
  head.writeUIntLE(index, 16, 6)
  head.writeUInt32LE(term, 22)
  head.writeDoubleLE(timeMs, 26)
  head.writeUInt32LE(crc32(head.subarray(4)), 0)
  return [head, Buffer.from(payload.buffer, payload.byteOffset, payload.length)]
}

export interface SegmentContents {
  readonly entries: readonly Entry[]
  /** Where the batch of the last whole entry begins: all before it is on the disk. */
  readonly durableBytes: number
  /** Where that entry ends. */
  readonly endBytes: number
  /** True if what follows there was on the disk once. */
  readonly isDamaged: boolean
}

/** What a segment holds. Payloads are views of it. */
export function contentsOf(segment: Buffer): SegmentContents {
  const entries: Entry[] = []
  let at = SEGMENT_HEAD_BYTES
  let durableBytes = 0
  while (isHeadAt(segment, at)) {
    const start = at + ENTRY_HEAD_BYTES
    const payload = segment.subarray(start, start + segment.readUInt32LE(at + 8))
    if (payload.length < segment.readUInt32LE(at + 8) || crc32(payload) !== segment.readUInt32LE(at + 4)) break
    const [index, term] = [segment.readUIntLE(at + 16, 6), segment.readUInt32LE(at + 22)]
    entries.push({ index, term, timeMs: segment.readDoubleLE(at + 26), payload })
    durableBytes = segment.readUInt32LE(at + 12)
    at = start + payload.length
  }
  return { entries, durableBytes, endBytes: at, isDamaged: isFollowed(segment, at) }
}

function isHeadAt(segment: Buffer, at: number): boolean {
  if (at + ENTRY_HEAD_BYTES > segment.length) return false
  // A batch begins before its entries. Most other bytes need no checksum then.
  if (segment.readUInt32LE(at + 12) > at) return false
  return segment.readUInt32LE(at) === crc32(segment.subarray(at + 4, at + ENTRY_HEAD_BYTES))
}

/** True if a batch that was begun behind `end` left an entry there. */
function isFollowed(segment: Buffer, end: number): boolean {
  for (let at = end + 1; at + ENTRY_HEAD_BYTES <= segment.length; at += 1)
    if (segment.readUInt32LE(at + 12) > end && isHeadAt(segment, at)) return true
  return false
}
