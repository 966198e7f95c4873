import { gunzipSync, gzipSync } from 'node:zlib'
import type { Message } from '../wire.ts'

/**
 * A recording is a file of *parts*. Each part is a member of a gzip file (RFC 1952) and can be read by itself. `zcat`
 * shows the whole file as lines of JSON. A member's header has an extra field with the length of the
 * member and the time of its first look. The idea is that of BGZF in the SAM format (Sequence Alignment/Map Format
 * Specification, section 4.1):
 *
 * ```
 * byte  0   1f 8b 08 04  0 0 0 0  0 ff     gzip, deflate, with an extra field
 *      10   17                Uint16        length of the extra field
 *      12   'A' 'E'           2 bytes       the field's identifier
 *      14   13                Uint16        its length
 *      16   length of member  Uint32        in bytes, all of it
 *      20   flags             Uint8         1: it has the full state; 2: it is the last, and says why
 *      21   time              Float64       milliseconds from the start
 *      29   deflated lines, their CRC-32, their length
 * ```
 *
 * All numbers are little-endian. The first part is one line, the header. The last part is one line, the end, unless the
 * file was cut off.
 */
export const PART_HEADER_BYTES = 29
const TRAILER_BYTES = 8
const GZIP_HEADER_BYTES = 10
const MAGIC: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 4)
const Flag = { Whole: 1, End: 2 } as const

export const SESSION_FORMAT = 'aether-dashboard-session'
/**
 * The version that is written. Version 2 added operations of links, version 3 structures, version 4 machines, version 5
 * indexes.
 */
export const SESSION_VERSION = 5
/** Versions that can be read. */
export const SESSION_VERSIONS: readonly number[] = [1, 2, 3, 4, SESSION_VERSION]
/**
 * The maximum size of a part in the file, its maximum size unpacked, and its maximum number of lines. A recorder starts
 * another part before it exceeds them; a part that exceeds them is damaged.
 */
const PART_BYTES_MAX: number = 64 * 2 ** 20
export const PART_TEXT_BYTES_MAX: number = 32 * 2 ** 20
export const PART_LINES_MAX = 20_000
/** The maximum number of parts, which last about two and a half days. */
export const PARTS_MAX = 200_000
/** A part with the full state is at most this many parts back. A reader has to read all parts since. */
export const WHOLE_APART_MAX = 64

export interface SessionHeader {
  readonly format: string
  readonly version: number
  /** The version of Aether. */
  readonly aether: string
  readonly begunMs: number
}

/** Events of pages of a region, from one look. */
export interface RecordedEvents {
  readonly region: string
  /** How many events of that look are missing because there were too many. */
  readonly left: number
  /**
   * {@link EVENT_NUMBERS} numbers for each event: rank, ns since the first event of the look, what, page, peer, before,
   * after, bytes, ns that it took.
   */
  readonly events: readonly number[]
  /** CLOCK_MONOTONIC of the first event, in ns. */
  readonly beginNs: number
}

export const EVENT_NUMBERS = 9

/** A line of a part. */
export type SessionRecord = { readonly atMs: number } & (
  | Message
  | { readonly event: 'events'; readonly data: RecordedEvents }
)

/** The header of a part. */
export interface PartHeader {
  readonly bytes: number
  readonly isWhole: boolean
  readonly isEnd: boolean
  readonly atMs: number
}

/** Packs lines into a part. */
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

/** Undefined if this is not the header of a part. */
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

/** The lines of a part. @throws an error of zlib if it is damaged, or is too large unpacked. */
export function unpackPart(part: Buffer): string {
  return gunzipSync(part, { maxOutputLength: PART_TEXT_BYTES_MAX }).toString('utf8')
}
