import type { Protocol } from 'aether-dsm/internal/dsm'

/** The threads that may want a page at a node. */
export type Threads =
  /** One thread a node: it has at most one access under way, over all pages. */
  | 'one'
  /**
   * Any number of threads a node: at each page a group that waits to read and one that waits to write. All threads of a
   * group are put to sleep and woken together, so groups stand for any number of them.
   */
  | 'many'

/** Where the pages live. */
export type Homes =
  /** All at node 0. */
  | 'same'
  /** Page p at node p. */
  | 'spread'

/** What is explored. */
export interface Model {
  readonly protocol: Protocol
  readonly nodes: number
  readonly pages: number
  readonly homes: Homes
  readonly threads: Threads
  /** How often, over a whole run, a home may be without memory for a page that is asked of it. */
  readonly refusals: number
  /** Whether programs pin pages that they may touch, for any time (default false). */
  readonly pins?: boolean
  /** Whether a home may also say that the page is lost, as after deaths; counted with the refusals (default false). */
  readonly losses?: boolean
}

/** The most that state words have bits for; four with one page only. */
const NODES_MAX = 4
/** As {@link NODES_MAX}. */
const PAGES_MAX = 2

/** The home of each page. */
export function homesOf({ homes, pages }: Model): number[] {
  return Array.from({ length: pages }, (_, page) => (homes === 'same' ? 0 : page))
}

/** @throws RangeError unless the explorer can represent it. */
export function assertModel({ nodes, pages, homes }: Model): void {
  if (nodes < 2 || nodes > NODES_MAX) throw new RangeError(`2 to ${NODES_MAX} nodes can be explored, not ${nodes}`)
  if (pages < 1 || pages > PAGES_MAX) throw new RangeError(`1 to ${PAGES_MAX} pages can be explored, not ${pages}`)
  if (nodes === NODES_MAX && pages > 1) throw new RangeError(`${NODES_MAX} nodes can be explored with one page only`)
  if (homes === 'spread' && pages > nodes) throw new RangeError('there are more pages than nodes to spread them over')
}
