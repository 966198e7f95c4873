/**
 * Folds any number of ranks to a power of two. Of the first 2 * rest ranks, each even one leaves its part to its odd
 * neighbour and is idle until the end. Source: Thakur, Rabenseifner and Gropp 2005, section 4.5 ("non-power-of-two").
 */
export interface Fold {
  /** `idle`: the neighbour above stands in. `double`: stands in for the neighbour below. `single`: only for itself. */
  readonly role: 'idle' | 'double' | 'single'
  /** How many are active: the greatest power of two that is not above the size. */
  readonly active: number
  /** This rank's place among the active ones; of an idle rank, that of its neighbour. */
  readonly position: number
  /** The rank at a place among the active ones. */
  rankAt(position: number): number
  /** The first rank for which the active one at this place stands in; for `active`, the size. */
  firstBehind(position: number): number
}

export function foldRanks(rank: number, size: number): Fold {
  let active = 1
  while (active * 2 <= size) active *= 2
  const rest = size - active
  const paired = rank < 2 * rest
  return {
    role: !paired ? 'single' : rank % 2 === 0 ? 'idle' : 'double',
    active,
    position: paired ? rank >> 1 : rank - rest,
    rankAt: (position) => (position < rest ? 2 * position + 1 : position + rest),
    firstBehind: (position) => (position < rest ? 2 * position : position + rest),
  }
}
