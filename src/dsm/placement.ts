import { ArgumentError } from '../native/index.ts'

/**
 * Which rank is the *home* of each page. The home keeps the page's memory when no other rank has a copy, and orders
 * which ranks get one.
 * - `'block'`: contiguous runs of pages, one a rank, that differ in length by one page at most.
 * - `'cyclic'`: page `i` at rank `i` modulo the number of ranks.
 * - `{ blockCyclic: n }`: runs of `n` pages dealt out to the ranks in turn.
 * - `'first-touch'`: the rank that first asks for the page.
 * - an array with a rank for each page, or a function that gives it: called once for each page when the region is
 *   opened.
 *
 * Every rank must pass the same placement; one that differs from the placement in force is refused.
 */
export type Placement =
  | 'block'
  | 'cyclic'
  | 'first-touch'
  | { readonly blockCyclic: number }
  | readonly number[]
  | ((page: number, ranks: number) => number)

/**
 * @throws ArgumentError unless `placement` is one of those. The values of an array or a function are checked when the
 *   number of pages is known.
 */
export function checkPlacement(placement: unknown): Placement {
  if (placement === 'block' || placement === 'cyclic' || placement === 'first-touch') return placement
  if (Array.isArray(placement) || typeof placement === 'function') return placement as Placement
  if (typeof placement === 'object' && placement !== null && 'blockCyclic' in placement) {
    const { blockCyclic } = placement
    if (Number.isSafeInteger(blockCyclic) && (blockCyclic as number) > 0) return { blockCyclic: blockCyclic as number }
    throw new ArgumentError('placement', `placement.blockCyclic must be a number of pages, not ${String(blockCyclic)}`)
  }
  const known = "'block', 'cyclic', 'first-touch', { blockCyclic: pages }, an array of ranks or a function"
  throw new ArgumentError('placement', `placement must be ${known}, not '${String(placement)}'`)
}
