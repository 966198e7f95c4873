/**
 * Words of a ring that many send to, one per slot:
 * ```
 * bits 0..1 state | 2..19 lap | 20..29 visitor
 *
 *   Free ──owner posts──► Posted ──visitor: CAS──► Claimed ──visitor, after the result──► Done ──owner collects──► Free
 *                           │                         │
 *                           └──owner flushes──► Free  └──its visitor died: the owner posts the request again──► Free
 * ```
 * The lap of the ring tells an old word from a new one. `Next` of the block is only a hint. A visitor that finds it
 * behind advances it. So no visitor waits for one that was killed between claiming a slot and advancing `Next`.
 */
export const ClaimState = { Free: 0, Posted: 1, Claimed: 2, Done: 3 } as const

const LAP_BITS = 18
const LAP_MASK: number = (1 << LAP_BITS) - 1
const VISITOR_SHIFT = 20

/** The word of the slot at `position` in a ring of `2 ** shift` slots. */
export function claimWord(state: number, position: number, shift: number, visitor = 0): number {
  return (visitor << VISITOR_SHIFT) | (((position >>> shift) & LAP_MASK) << 2) | state
}

export function claimState(word: number): number {
  return word & 3
}

export function claimVisitor(word: number): number {
  return word >>> VISITOR_SHIFT
}

/** True if the word has the lap of `position`, whatever its state and visitor. */
export function isClaimOf(word: number, position: number, shift: number): boolean {
  return ((word >>> 2) & LAP_MASK) === ((position >>> shift) & LAP_MASK)
}

/** log2 of a ring's size from its mask. */
export function ringShift(mask: number): number {
  return 31 - Math.clz32(mask + 1)
}
