import type { WaitDescription } from '../../profiling/index.ts'
import type { RemoteWords } from './remote-words.ts'

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

/** What a word says. */
export interface Hold {
  readonly token: number
  /** Undefined: no holder. */
  readonly rank: number | undefined
}

export function holdOf(word: bigint): Hold {
  const rank = Number(word & RANK_MASK)
  return { token: Number(word >> RANK_BITS), rank: rank === 0 ? undefined : rank - 1 }
}

/** The word of the hold after `word`, by `rank`. */
export function nextHold(word: bigint, rank: number): bigint {
  return (((word >> RANK_BITS) + 1n) << RANK_BITS) | BigInt(rank + 1)
}

/** The word when that hold has ended. */
export function endedHold(word: bigint): bigint {
  return word & ~RANK_MASK
}

/** Whether a live rank holds it. */
export function isHeld(words: RemoteWords, word: bigint): boolean {
  const { rank } = holdOf(word)
  return rank !== undefined && words.isMember(rank)
}

/** For the watchdog: the holder, by the word as it was seen last. */
export function describeHold(object: string, word: bigint): WaitDescription {
  const { rank } = holdOf(word)
  const state = rank === undefined ? '' : `rank ${rank} has it`
  return { kind: 'structure', object, state, ranks: rank === undefined ? [] : [rank], processes: [] }
}
