import { crc32 } from 'node:zlib'

/** What a payload holds that the replica itself must know of. */
export const EntryFlag = {
  /** A new leader's first entry. */
  Begin: 1,
  /** The payload is a configuration, and nothing else. */
  Configuration: 2,
} as const

/** One entry of the log. */
export interface Entry {
  /** Counted from 1. */
  readonly index: number
  /** The term of the leader that proposed it first. Later leaders adopt it as it is: it is the same at all replicas. */
  readonly term: number
  /** The leader's clock, in milliseconds since 1970. */
  readonly timeMs: number
  /** Of {@link EntryFlag}. */
  readonly flags: number
  readonly payload: Uint8Array
}

/** How an acceptor came to hold an entry. */
interface Acceptance {
  /** The term in which it was accepted: the one of the highest is adopted. */
  readonly acceptedIn: number
  /** All entries up to this one were decided when it was stored: at most itself. */
  readonly decided: number
}

/** An entry that an acceptor holds. */
export interface AcceptedEntry extends Entry, Acceptance {}

/**
 * A cell is an entry as it lies in an acceptor's memory. It is valid only if the checksum is that of everything else:
 * bytes become visible in any order, and a proposer may stop in between.
 *
 * ```
 * 0 index f64 | 8 time f64 | 16 term u32 | 20 accepted u32 | 24 decided f64 | 32 flags u32 | 36 length u32
 * 40 checksum u32 | 44 payload
 * ```
 */
export const CELL_HEADER_BYTES = 44

const LENGTH_OFFSET = 36
const CHECKSUM_OFFSET = 40

/** Write the cell of an entry as it is stored. Returns its length. */
export function writeCell(target: Uint8Array, entry: Entry, { acceptedIn, decided }: Acceptance): number {
  const { index, term, timeMs, flags, payload } = entry
  const view = new DataView(target.buffer, target.byteOffset, CELL_HEADER_BYTES)
  view.setFloat64(0, index, true)
  view.setFloat64(8, timeMs, true)
  view.setUint32(16, term, true)
  view.setUint32(20, acceptedIn, true)
  view.setFloat64(24, decided, true)
  view.setUint32(32, flags, true)
  view.setUint32(LENGTH_OFFSET, payload.length, true)
  target.set(payload, CELL_HEADER_BYTES)
  view.setUint32(CHECKSUM_OFFSET, checksumOf(target, payload.length), true)
  return CELL_HEADER_BYTES + payload.length
}

/** The entry with that index, its payload copied; undefined unless the cell holds all of it. */
export function readCell(bytes: Uint8Array, index: number): AcceptedEntry | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, CELL_HEADER_BYTES)
  if (view.getFloat64(0, true) !== index) return undefined
  const length = view.getUint32(LENGTH_OFFSET, true)
  if (length > bytes.length - CELL_HEADER_BYTES) return undefined
  const copy = bytes.slice(0, CELL_HEADER_BYTES + length)
  const copied = new DataView(copy.buffer, copy.byteOffset, CELL_HEADER_BYTES)
  if (copied.getUint32(LENGTH_OFFSET, true) !== length) return undefined
  if (copied.getUint32(CHECKSUM_OFFSET, true) !== checksumOf(copy, length)) return undefined
  return {
    index: copied.getFloat64(0, true),
    timeMs: copied.getFloat64(8, true),
    term: copied.getUint32(16, true),
    acceptedIn: copied.getUint32(20, true),
    decided: copied.getFloat64(24, true),
    flags: copied.getUint32(32, true),
    payload: copy.subarray(CELL_HEADER_BYTES),
  }
}

function checksumOf(cell: Uint8Array, length: number): number {
  return crc32(cell.subarray(CELL_HEADER_BYTES, CELL_HEADER_BYTES + length), crc32(cell.subarray(0, CHECKSUM_OFFSET)))
}
