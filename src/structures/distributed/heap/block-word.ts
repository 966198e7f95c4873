/**
 * What a slot says of a block, in one word of 64 bits:
 *
 * ```
 *  63 … 56 fingerprint   55 … 32 tag   31 tentative   30 … 26 class   25 … 0 place, in units of 64 bytes
 * ```
 *
 * 0 is an empty slot: no block lies at place 0. The tag is raised each time a block is used again, and is in the block
 * too. A tag comes again after 2^24 uses of one block, each of which takes a round trip or more. A rank that sees no
 * change for that long has left the group before (its lease is 10 s).
 */
export const TAG_MASK = 0xffffff
const TENTATIVE = 0x80000000
const PLACE_MASK = 0x3ffffff
const UNIT_BYTES = 64

/** Lengths of blocks, in bytes, by class. */
export const CLASS_BYTES: readonly number[] = [
  64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768, 65536,
]

/** A block, as a slot names it. */
export interface BlockName {
  readonly fingerprint: number
  readonly tag: number
  /** Not there for readers yet: see map/group-map.ts. */
  readonly tentative: boolean
  readonly sizeClass: number
  /** In bytes, from the beginning of the home's part. */
  readonly offset: number
}

/** The smallest class that holds this many bytes; undefined if none does. */
export function classFor(lengthBytes: number): number | undefined {
  const found = CLASS_BYTES.findIndex((bytes) => bytes >= lengthBytes)
  return found < 0 ? undefined : found
}

export function bytesOfClass(sizeClass: number): number {
  return CLASS_BYTES[sizeClass] ?? 0
}

export function encodeBlock({ fingerprint, tag, tentative, sizeClass, offset }: BlockName): bigint {
  const high = ((fingerprint << 24) | tag) >>> 0
  const low = (((tentative ? TENTATIVE : 0) | (sizeClass << 26)) >>> 0) + offset / UNIT_BYTES
  return (BigInt(high) << 32n) | BigInt(low)
}

/** Undefined for an empty slot. */
export function decodeBlock(word: bigint): BlockName | undefined {
  return word === 0n ? undefined : blockOf(Number(word >> 32n), Number(word & 0xffffffffn))
}

/** The same of the two halves, unsigned. */
export function blockOf(high: number, low: number): BlockName {
  return {
    fingerprint: high >>> 24,
    tag: high & TAG_MASK,
    tentative: (low & TENTATIVE) !== 0,
    sizeClass: (low >>> 26) & 31,
    offset: (low & PLACE_MASK) * UNIT_BYTES,
  }
}
