import { gunzipSync, gzipSync } from 'node:zlib'
import type { Message } from '../wire.ts'

/**
 * A recording is a file of *parts*, each a member of a gzip file (RFC 1952), so that `zcat` shows all of it as lines of
 * JSON, and each part can be read by itself. A member's header has an extra field that says how long the member is, as
 * BGZF of the SAM format has it (Sequence Alignment/Map Format Specification, section 4.1), and when its first look
 * was:
 *
 * ```
 * byte  0   1f 8b 08 04  0 0 0 0  0 ff     gzip, deflate, with an extra field
 *      10   17                Uint16        length of the extra field
 *      12   'A' 'E'           2 bytes       whose field it is
 *      14   13                Uint16        its length
 *      16   length of member  Uint32        in bytes, all of it
 *      20   flags             Uint8         1: it tells all anew; 2: it is the last, and says why
 *      21   time              Float64       milliseconds from the beginning
 *      29   deflated lines, their CRC-32, their length
 * ```
 *
 * All numbers are little-endian. The first part is one line, the header; the last, unless the file was cut off, one
 * line, the end.
 */
export const PART_HEADER_BYTES = 29
const TRAILER_BYTES = 8
const GZIP_HEADER_BYTES = 10
const MAGIC: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 4)
const Flag = { Whole: 1, End: 2 } as const

export const SESSION_FORMAT = 'aether-dashboard-session'
/** What is written. 2 has operations of links as well. */
export const SESSION_VERSION = 2
/** What is read. */
export const SESSION_VERSIONS: readonly number[] = [1, SESSION_VERSION]
/**
 * No part is longer, as it stands in the file and unpacked, or has more lines: what claims to is damaged, and recorders
 * begin another one.
 */
const PART_BYTES_MAX: number = 64 * 2 ** 20
export const PART_TEXT_BYTES_MAX: number = 32 * 2 ** 20
export const PART_LINES_MAX = 20_000
/** No file has more parts: two days and a half. */
export const PARTS_MAX = 200_000
/**
 * From any part to the one before it that tells all anew are fewer parts: that many have to be read to know a moment.
 */
export const WHOLE_APART_MAX = 64

export interface SessionHeader {
  readonly format: string
  readonly version: number
  /** Of Aether. */
  readonly aether: string
  readonly begunMs: number
}

/** What happened to pages of a region, told at a look. */
export interface RecordedEvents {
  readonly region: string
  /** Events of that look that are missing, because there were too many. */
  readonly left: number
  /**
   * Of one after the other, {@link EVENT_NUMBERS} numbers: rank, ns since the first of the look, what, page, peer,
   * before, after, bytes, ns that it took.
   */
  readonly events: readonly number[]
  /** CLOCK_MONOTONIC of the first, in ns. */
  readonly beginNs: number
}

export const EVENT_NUMBERS = 9

/** A line of a part. */
export type SessionRecord = { readonly atMs: number } & (
  | Message
  | { readonly event: 'events'; readonly data: RecordedEvents }
)

/** What stands before a part. */
export interface PartHeader {
  readonly bytes: number
  readonly isWhole: boolean
  readonly isEnd: boolean
  readonly atMs: number
}

/** Lines as a part of the file. */
export function packPart(text: string, { isWhole, isEnd, atMs }: Omit<PartHeader, 'bytes'>): Buffer {
  const packed = gzipSync(text).subarray(GZIP_HEADER_BYTES)
  const part = Buffer.alloc(PART_HEADER_BYTES + packed.length)
  part.set(MAGIC)
  part[9] = 0xff
  part.writeUInt16LE(PART_HEADER_BYTES - GZIP_HEADER_BYTES - 2, 10)
  part.write('AE', 12)
  part.writeUInt16LE(13, 14)
  part.writeUInt32LE(part.length, 16)
  part[20] = (isWhole ? Flag.Whole : 0) | (isEnd ? Flag.End : 0)
  part.writeDoubleLE(atMs, 21)
  part.set(packed, PART_HEADER_BYTES)
  return part
}

/** Undefined for anything that is no header of a part. */
export function readPartHeader(bytes: Buffer): PartHeader | undefined {
  if (bytes.length < PART_HEADER_BYTES || MAGIC.some((byte, at) => bytes[at] !== byte)) return undefined
  if (bytes.readUInt16LE(10) !== 17 || bytes.toString('latin1', 12, 14) !== 'AE' || bytes.readUInt16LE(14) !== 13)
    return undefined
  const length = bytes.readUInt32LE(16)
  const atMs = bytes.readDoubleLE(21)
  if (length < PART_HEADER_BYTES + TRAILER_BYTES || length > PART_BYTES_MAX) return undefined
  if (!(atMs >= 0 && atMs < 1e12)) return undefined
  return { bytes: length, isWhole: (bytes[20]! & Flag.Whole) !== 0, isEnd: (bytes[20]! & Flag.End) !== 0, atMs }
}

/** The lines of a part. @throws an error of zlib where it is damaged, or unpacks to more than any part has. */
export function unpackPart(part: Buffer): string {
  return gunzipSync(part, { maxOutputLength: PART_TEXT_BYTES_MAX }).toString('utf8')
}
