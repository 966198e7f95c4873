/** So many times each time is taken, so that what happens seldom is known exactly; then one of {@link SAMPLED_OF}. */
export const TIMED_FIRST = 64
/** Reading the clock at the beginning and the end, at both ends, costs a tenth of what a short call between processes takes; done once in so many, it is lost in the rest. */
export const SAMPLED_OF = 64

/** Whether the `ordinal`th of its kind, counted from 1, is timed where each may take less than a few readings of the clock. */
export function isTimed(ordinal: number): boolean {
  return ordinal <= TIMED_FIRST || ordinal % SAMPLED_OF === 0
}
