import { ArgumentError, shown } from '../native/index.ts'

/**
 * A message in a ring: a header of two words, then its bytes, padded to a multiple of 8. A record never wraps. If it
 * does not fit before the end of the ring, a padding record fills the rest, and it lies at the start.
 *
 * ```
 * 0      kind << 28 | length in bytes       kind 15: padding; the record ends with the ring
 * 4      immediate
 * 8..    the bytes
 * ```
 */
export const HEADER_BYTES = 8
/** All positions are multiples of this, and counted in it where a word has to hold them. */
export const UNIT_BYTES = 8
export const PADDING_KIND = 15
export const KIND_SHIFT = 28
export const LENGTH_MASK = 0x0fffffff

/** The least length of a ring; the next constant is the greatest. */
export const RING_BYTES_MIN = 1024
export const RING_BYTES_MAX: number = 256 << 20

/** Bytes of the record of a message. */
export function recordBytes(length: number): number {
  return HEADER_BYTES + ((length + UNIT_BYTES - 1) & ~(UNIT_BYTES - 1))
}

/**
 * The longest message of a ring. If all of the ring is free, it fits wherever the next record starts, since the padding
 * is shorter than the record.
 */
export function longestMessage(ringBytes: number): number {
  return ringBytes / 2 - HEADER_BYTES
}

/** The error for a message that does not go through the ring. */
export function lengthError(length: number, longest: number): ArgumentError {
  return new ArgumentError(
    'length',
    `length must be an integer from 0 to ${longest} here, not ${shown(length)}; register longer messages and have the peer read them`,
  )
}
