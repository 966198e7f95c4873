/**
 * A part of a structured identifier. In the order of keys, types come in this order: null, false, true, numbers, text,
 * bytes, tuples.
 *
 * - Numbers and bigints compare by value with one another: `1 < 1.5 < 2n`, and `2` and `2n` are the same part.
 *   -0 is 0. Infinities are the lowest and the highest number.
 * - Text compares by code points. JavaScript's `<` compares UTF-16 units, which differs beyond U+FFFF.
 * - Bytes compare unsigned, and bytes come before those that they begin. So do tuples, part by part.
 */
export type TuplePart = null | boolean | number | bigint | string | Uint8Array | readonly TuplePart[]
