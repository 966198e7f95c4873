/**
 * The holder of something, in one word of 64 bits:
 *
 * ```
 *  63 … 16 token, raised with each hold   15 … 0 rank + 1, or 0: no holder
 * ```
 *
 * A rank that is out of its group never comes back, so rank and token name one hold of one life. A rank that meets the
 * word of a dead rank puts its own in its place.
 */
const RANK_BITS = 16n
const RANK_MASK = 0xffffn

/** In place of a holder: there will be no other. No hold has this word. */
export const DONE = 0xffff_ffff_ffff_ffffn

export function tokenOf(word: bigint): number {
  return Number(word >> RANK_BITS)
}

/** Undefined: no holder. */
export function rankOf(word: bigint): number | undefined {
  const rank = Number(word & RANK_MASK)
  return rank === 0 || word === DONE ? undefined : rank - 1
}

/** The word of the hold after `word`, by `rank`. */
export function nextHold(word: bigint, rank: number): bigint {
  return (((word >> RANK_BITS) + 1n) << RANK_BITS) | BigInt(rank + 1)
}

/** The word when that hold has ended. */
export function endedHold(word: bigint): bigint {
  return word & ~RANK_MASK
}
