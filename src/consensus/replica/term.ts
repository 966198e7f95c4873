/**
 * A term is a round and the number of the replica whose term it is, so no two replicas have the same term.
 *
 * ```
 * 31 … 10 round | 9 … 0 number of the replica
 * ```
 */
export const NUMBERS = 1024

export const TERM_MAX: number = 2 ** 32 - 1

export function proposerOf(term: number): number {
  return term % NUMBERS
}

export function roundOf(term: number): number {
  return Math.floor(term / NUMBERS)
}

/** The lowest term of `number` above `seen`; undefined when terms are used up. */
export function termAbove(seen: number, number: number): number | undefined {
  const term = (roundOf(seen) + 1) * NUMBERS + number
  return term > TERM_MAX ? undefined : term
}
