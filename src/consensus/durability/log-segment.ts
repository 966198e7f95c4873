import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { DefectError } from '../../native/index.ts'
import type { AcceptedEntry } from '../replica/cell.ts'

/**
 * A file of a log: records, one behind the other. Numbers are little-endian.
 *
 * ```
 *  segment    0 'AeLg'   4 version of the format   8 number of the segment   12 CRC-32 of these 12 bytes
 *  record     0 CRC-32 of the head, from 4 on   4 CRC-32 of the payload   8 length of the payload
 *            12 durable   16 index (48 bits)   22 term   26 time (Float64)   34 accepted in   38 flags
 *            42 decided (48 bits)   48 payload
 * ```
 *
 * A record is an accepted entry. One of index 0 is a promise: of the term in `accepted in`.
 *
 * Records are written in batches. All before `durable` was on the disk when a batch was written. By the policy `always`
 * that is where the batch begins. So what is wrong with a file tells what happened:
 *
 * - Nothing behind the wrong place was written after it had been synced: a crash has cut what was not on the disk. No
 *   one was told that it was there, so it may be cut off.
 * - A record behind it was written later: something changed what was on the disk. Records that count are lost.
 *
 * A change of what was synced last looks like the first case.
 */
const MAGIC = 0x674c6541
/** Raised whenever anything in the format changes. */
export const SEGMENT_VERSION = 2
export const SEGMENT_HEAD_BYTES = 16
const RECORD_HEAD_BYTES = 48
/** So that a segment can be read at once. */
const PAYLOAD_BYTES_MAX = 2 ** 30

/** The name of its file. */
export function segmentName(number: number): string {
  return `${String(number).padStart(10, '0')}.log`
}

/** The numbers of the segments among these files, in order. */
export function segmentNumbers(names: readonly string[]): number[] {
  const numbers = names.filter((name) => /^\d{10}\.log$/.test(name)).map((name) => Number.parseInt(name, 10))
  return numbers.sort((one, other) => one - other)
}

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

/** The entry that stands for a promise. */
export function promiseOf(term: number): AcceptedEntry {
  return { index: 0, term: 0, timeMs: 0, flags: 0, acceptedIn: term, decided: 0, payload: new Uint8Array() }
}

/** The bytes of its record. @throws DefectError */
export function recordLengthOf({ payload }: AcceptedEntry): number {
  if (payload.length > PAYLOAD_BYTES_MAX) throw new DefectError(`an entry of ${payload.length} bytes`)
  return RECORD_HEAD_BYTES + payload.length
}

/** Write a record without its checksums. */
export function writeRecord(target: Buffer, at: number, entry: AcceptedEntry): void {
  const { index, term, timeMs, acceptedIn, flags, decided, payload } = entry
  target.writeUInt32LE(payload.length, at + 8)
  target.writeUIntLE(index, at + 16, 6)
  target.writeUInt32LE(term, at + 22)
  target.writeDoubleLE(timeMs, at + 26)
  target.writeUInt32LE(acceptedIn, at + 34)
  target.writeUInt32LE(flags, at + 38)
  target.writeUIntLE(decided, at + 42, 6)
  target.set(payload, at + RECORD_HEAD_BYTES)
}

/** What some records that lie one behind the other are together. */
export interface RecordsSummary {
  /** In order; 0 for a promise. */
  readonly indexes: readonly number[]
  /** The highest of them. */
  readonly lastIndex: number
  /** The highest term that was promised, or in which an entry was accepted. */
  readonly promise: number
  /** The highest index that any of them says is decided. */
  readonly decided: number
}

/** Add the checksums of payloads. @throws DefectError if these are not whole records. */
export function checksumPayloads(records: Buffer): RecordsSummary {
  const indexes: number[] = []
  let [lastIndex, promise, decided, at] = [0, 0, 0, 0]
  while (at + RECORD_HEAD_BYTES <= records.length) {
    const start = at + RECORD_HEAD_BYTES
    const end = start + records.readUInt32LE(at + 8)
    records.writeUInt32LE(crc32(records.subarray(start, end)), at + 4)
    const index = records.readUIntLE(at + 16, 6)
    indexes.push(index)
    lastIndex = Math.max(lastIndex, index)
    promise = Math.max(promise, records.readUInt32LE(at + 34))
    decided = Math.max(decided, records.readUIntLE(at + 42, 6))
    at = end
  }
  if (at !== records.length) throw new DefectError('records for the log are cut off')
  return { indexes, lastIndex, promise, decided }
}

/** Add what is missing: they are written while all before `durable` is on the disk. */
export function sealRecords(records: Buffer, durable: number): void {
  for (let at = 0; at < records.length; at += RECORD_HEAD_BYTES + records.readUInt32LE(at + 8)) {
    records.writeUInt32LE(durable, at + 12)
    records.writeUInt32LE(crc32(records.subarray(at + 4, at + RECORD_HEAD_BYTES)), at)
  }
}

export interface SegmentContents {
  /** Promises, too. */
  readonly records: readonly AcceptedEntry[]
  /** As the last whole record says: all before it is on the disk. */
  readonly durableBytes: number
  /** Where that record ends. */
  readonly endBytes: number
  /** True if what follows there was on the disk once. */
  readonly isDamaged: boolean
}

/** What a segment holds. Payloads are views of it. */
export function contentsOf(segment: Buffer): SegmentContents {
  const records: AcceptedEntry[] = []
  let at = SEGMENT_HEAD_BYTES
  let durableBytes = 0
  while (isHeadAt(segment, at)) {
    const start = at + RECORD_HEAD_BYTES
    const payload = segment.subarray(start, start + segment.readUInt32LE(at + 8))
    if (payload.length < segment.readUInt32LE(at + 8) || crc32(payload) !== segment.readUInt32LE(at + 4)) break
    records.push({
      index: segment.readUIntLE(at + 16, 6),
      term: segment.readUInt32LE(at + 22),
      timeMs: segment.readDoubleLE(at + 26),
      acceptedIn: segment.readUInt32LE(at + 34),
      flags: segment.readUInt32LE(at + 38),
      decided: segment.readUIntLE(at + 42, 6),
      payload,
    })
    durableBytes = segment.readUInt32LE(at + 12)
    at = start + payload.length
  }
  return { records, durableBytes, endBytes: at, isDamaged: isFollowed(segment, at) }
}

function isHeadAt(segment: Buffer, at: number): boolean {
  if (at + RECORD_HEAD_BYTES > segment.length) return false
  // A batch begins before its records. Most other bytes need no checksum then.
  if (segment.readUInt32LE(at + 12) > at) return false
  return segment.readUInt32LE(at) === crc32(segment.subarray(at + 4, at + RECORD_HEAD_BYTES))
}

/** True if a batch that was begun behind `end` left a record there. */
function isFollowed(segment: Buffer, end: number): boolean {
  for (let at = end + 1; at + RECORD_HEAD_BYTES <= segment.length; at += 1)
    if (segment.readUInt32LE(at + 12) > end && isHeadAt(segment, at)) return true
  return false
}
