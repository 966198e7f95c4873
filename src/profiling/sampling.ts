/**
 * The first operations of a kind are all timed, so that rare ones are known exactly; after this many, one in {@link
 * SAMPLED_OF} is.
 */
export const TIMED_FIRST = 64
/**
 * Timing one operation costs two readings of the clock and a look at uncached memory, in code that runs too seldom to
 * be compiled. Together that takes longer than the shortest call between processes. Done once in this many operations,
 * the cost disappears.
 */
export const SAMPLED_OF = 256

/**
 * Return which operation of a kind, counted from 1, is timed next after the `ordinal`th; after the 0th, the first. For
 * kinds that may take less than a few readings of the clock. Hot paths keep the answer: for all others it is one
 * comparison.
 */
export function nextTimed(ordinal: number): number {
  return ordinal < TIMED_FIRST ? ordinal + 1 : ordinal - (ordinal % SAMPLED_OF) + SAMPLED_OF
}
