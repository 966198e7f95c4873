/**
 * The first byte of each part of a tuple. Types come in this order. Its numbers are stored on disks: they never change,
 * and a type to come takes a free one.
 *
 * ```
 *  null, false, true   the tag alone
 *  a whole number      tag   magnitude: 0 to 8 bytes, big-endian; how many, and the sign, are in the tag
 *  of 9 to 255 bytes   tag   length   magnitude
 *  another number      its floor, as above   FF   the double, big-endian
 *  text, bytes         tag   UTF-8, or bytes; each 00 is written 00 FF   00
 *  a tuple             tag   its parts   00
 * ```
 *
 * Lengths and magnitudes below zero have each bit flipped, so that a larger magnitude comes first. Doubles below zero,
 * too; those above have the sign bit flipped.
 *
 * Why comparing these bytes compares the tuples:
 *
 * 1. A part is followed by a tag, by the 00 that ends the tuple around it, or by nothing. Tags are from 01 to FE.
 * 2. So a tuple that ends comes before one that goes on: nothing < 00 < each tag.
 * 3. Text that ends (00, then at most FE) comes before text that goes on with a zero (00 FF), or with another byte.
 * 4. A whole number (then at most FE) comes before those that have it as their floor (then FF). The next whole number
 *    comes after them, since it has another tag or magnitude.
 * 5. What begins with some parts and goes on with others is below these parts and FF. Numbers and texts that only
 *    happen to begin with the same bytes are above: see 3 and 4.
 */
export const Tag = {
  NULL: 0x10,
  FALSE: 0x20,
  TRUE: 0x21,
  MINUS_INFINITY: 0x30,
  /** Whole numbers below zero whose magnitude has 9 bytes or more. */
  LONG_NEGATIVE: 0x31,
  /** Whole numbers with a magnitude of `n` bytes have the tag `ZERO + n` or `ZERO - n`. */
  ZERO: 0x3a,
  LONG_POSITIVE: 0x43,
  INFINITY: 0x44,
  TEXT: 0x50,
  BYTES: 0x60,
  TUPLE: 0x70,
} as const

/** Ends text, bytes and tuples in tuples. */
export const END = 0x00
/** After an `END` that is data; before the double of a number that is not whole; above each tag. */
export const ABOVE = 0xff

/** Magnitudes of at most this many bytes have their length in the tag. */
export const SHORT_BYTES_MAX = 8
/** The longest magnitude. */
export const LONG_BYTES_MAX = 255
/** So that neither a cyclic array nor a damaged key exhausts the stack. */
export const DEPTH_MAX = 32
