import { crc32 } from 'node:zlib'
import { STORE_MAGIC } from '../structures/index.ts'

/**
 * A save: what it is, then blocks, the last of which says that it is whole. Numbers are little-endian.
 *
 * ```
 *  file     0 'aether save', 0   12 version of the format   16 blocks
 *  block    0 kind   4 number: 0, 1, …   8 length of the payload   12 CRC-32 of these 12 bytes
 *          16 payload   then the CRC-32 of the payload
 *
 *  Start                              JSON, see below
 *    Region, Bytes, Bytes, …          a region as it is: JSON, then Float64 offset and bytes. What is left out is zero
 *    Structures                       a region with structures: JSON
 *      Structure, Records, …          JSON, then records: 4 bytes for the length of each, and the record
 *  End                                JSON
 * ```
 *
 * A length is looked at only after its checksum has been, and a block counts only in its place. So a file that was cut
 * off, or changed anywhere, is never taken for a whole one.
 */
export const MAGIC: Buffer = Buffer.from('aether save\0', 'latin1')
/** Raised whenever anything in the format changes. Version 1 has no stores. */
export const FORMAT_VERSION = 2
export const FORMAT_VERSION_MIN = 1
export const PREAMBLE_BYTES = 16
export const BLOCK_HEAD_BYTES = 16
export const CHECKSUM_BYTES = 4

export const BlockKind = { Start: 1, Region: 2, Bytes: 3, Structures: 4, Structure: 5, Records: 6, End: 7 } as const

/** What the first block says. */
export interface StartBlock {
  readonly space: string
  /** Milliseconds of the wall clock. */
  readonly savedAtMs: number
  /** Of the package. */
  readonly version: string
  /** The number of the memory that was saved: 32 hexadecimal digits. Saves did not always have it. */
  readonly arena?: string
}

/** A region, of bytes or of structures. */
export interface RegionBlock {
  readonly name: string
  readonly size: number
  readonly reserved: boolean
  /** The region is a store of transactions, as it was between two of them. Undefined: it has bytes of the program. */
  readonly store?: StoreBlock
}

/** What a restore has to know of a store. */
export interface StoreBlock {
  /** The version of everything in it: see `structures/store-head.ts`. */
  readonly magic: number
  /** What its clock was behind the wall clock, in milliseconds. */
  readonly behindMs: number
}

/** What the last block says. */
export interface EndBlock {
  readonly regions: number
  readonly structures: number
  readonly omitted: readonly { readonly region: string; readonly structure?: string; readonly reason: string }[]
}

/** A store is saved as it lies in memory, so only the version that wrote it knows what it says. */
export function isOfOtherVersion({ store }: RegionBlock): boolean {
  return store !== undefined && store.magic !== STORE_MAGIC
}

export function preamble(): Buffer {
  const bytes = Buffer.alloc(PREAMBLE_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(FORMAT_VERSION, MAGIC.length)
  return bytes
}

export function blockHead(kind: number, number: number, lengthBytes: number): Buffer {
  const head = Buffer.alloc(BLOCK_HEAD_BYTES)
  head.writeUInt32LE(kind, 0)
  head.writeUInt32LE(number, 4)
  head.writeUInt32LE(lengthBytes, 8)
  head.writeUInt32LE(crc32(head.subarray(0, 12)), 12)
  return head
}

export function checksum(parts: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.alloc(CHECKSUM_BYTES)
  bytes.writeUInt32LE(parts.reduce((sum, part) => crc32(part, sum), 0))
  return bytes
}
