import { createHash } from 'node:crypto'
import { ArgumentError, shown } from '../../native/index.ts'
import type { Placement } from '../placement.ts'

/** A placement as the ranks compare it: data of bounded length. What was said for each page is a digest. */
export type AgreedPlacement =
  | 'block'
  | 'cyclic'
  | 'first-touch'
  | { readonly blockCyclic: number }
  | { readonly explicit: string }

/** A home that is not known yet. */
export const NO_HOME = -1

/** A placement worked out for a region of `pages` pages. */
export interface EvaluatedPlacement {
  readonly agreed: AgreedPlacement
  /**
   * The home of each page, Int32, where that is not computed: said by the program, or found out as pages are touched.
   */
  readonly homes: SharedArrayBuffer | undefined
}

/** @throws ArgumentError where an array or a function does not give a rank for each page. */
export function evaluatePlacement(placement: Placement, pages: number, ranks: number): EvaluatedPlacement {
  if (typeof placement === 'function')
    return explicit(
      Array.from({ length: pages }, (_, page) => placement(page, ranks)),
      pages,
      ranks,
    )
  if (isArray(placement)) return explicit(placement, pages, ranks)
  if (placement !== 'first-touch') return { agreed: placement, homes: undefined }
  const homes = new SharedArrayBuffer(4 * pages)
  new Int32Array(homes).fill(NO_HOME)
  return { agreed: placement, homes }
}

/** Which rank is the home of each page; {@link NO_HOME} where that is to be found out. */
export function homeFunction(
  { agreed, homes }: EvaluatedPlacement,
  pages: number,
  ranks: number,
): (page: number) => number {
  if (homes !== undefined) {
    const table = new Int32Array(homes)
    return (page) => Atomics.load(table, page)
  }
  if (agreed === 'cyclic') return (page) => page % ranks
  if (typeof agreed === 'object' && 'blockCyclic' in agreed)
    return (page) => Math.floor(page / agreed.blockCyclic) % ranks
  return (page) => Math.floor((page * ranks) / pages)
}

/** For people. */
export function placementInWords(agreed: AgreedPlacement): string {
  if (typeof agreed === 'string') return agreed
  if ('blockCyclic' in agreed) return `block-cyclic of ${agreed.blockCyclic} pages`
  return `of its own (${agreed.explicit.slice(0, 8)})`
}

function explicit(said: readonly number[], pages: number, ranks: number): EvaluatedPlacement {
  if (said.length !== pages)
    throw new ArgumentError(
      'placement',
      `placement must give a rank for each of the ${pages} pages, not ${said.length}`,
    )
  const wrong = said.findIndex((rank) => !(Number.isSafeInteger(rank) && rank >= 0 && rank < ranks))
  if (wrong >= 0)
    throw new ArgumentError(
      'placement',
      `placement must give a rank from 0 to ${ranks - 1} for page ${wrong}, not ${shown(said[wrong])}`,
    )
  const homes = new SharedArrayBuffer(4 * pages)
  const table = new Int32Array(homes)
  table.set(said)
  const digest = createHash('sha256').update(new Uint8Array(homes).slice()).digest('hex')
  return { agreed: { explicit: digest }, homes }
}

function isArray(placement: Placement): placement is readonly number[] {
  return Array.isArray(placement)
}
