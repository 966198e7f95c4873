/** So many times each time is taken, so that what happens seldom is known exactly; then one of {@link SAMPLED_OF}. */
export const TIMED_FIRST = 64
/**
 * A time that is taken costs two readings of the clock and a look at memory that is not in any cache, in code that runs
 * too seldom to be compiled: together more than the shortest call between processes takes. Done once in so many, it is
 * lost in the rest.
 */
export const SAMPLED_OF = 256

/**
 * Which of its kind, counted from 1, is timed next after the `ordinal`th, where each may take less than a few readings
 * of the clock; after the 0th, the first. Hot paths keep the answer: for all others it is one comparison.
 */
export function nextTimed(ordinal: number): number {
  return ordinal < TIMED_FIRST ? ordinal + 1 : ordinal - (ordinal % SAMPLED_OF) + SAMPLED_OF
}
