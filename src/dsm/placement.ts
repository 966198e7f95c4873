import { checkOptions, mustBe, type OptionNames } from '../native/index.ts'

interface BlockCyclic {
  readonly blockCyclic: number
}

const blockCyclicNames: OptionNames<BlockCyclic> = { blockCyclic: true }

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
  | BlockCyclic
  | readonly number[]
  | ((page: number, ranks: number) => number)

/**
 * @throws ArgumentError unless `placement` is one of those. The values of an array or a function are checked when the
 *   number of pages is known.
 */
export function checkPlacement(placement: unknown): Placement {
  if (placement === 'block' || placement === 'cyclic' || placement === 'first-touch') return placement
  if (Array.isArray(placement) || typeof placement === 'function') return placement as Placement
  if (typeof placement === 'object' && placement !== null && Object.keys(placement).length > 0) {
    checkOptions('openRegion', placement as BlockCyclic, blockCyclicNames, 'placement')
    const { blockCyclic } = placement as Partial<BlockCyclic>
    if (Number.isSafeInteger(blockCyclic) && blockCyclic! > 0) return { blockCyclic: blockCyclic! }
    throw mustBe('placement.blockCyclic', 'a number of pages above 0', blockCyclic)
  }
  const known = "'block', 'cyclic', 'first-touch', { blockCyclic: pages }, an array of ranks or a function"
  throw mustBe('placement', known, placement)
}
