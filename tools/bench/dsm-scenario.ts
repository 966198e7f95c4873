/** What a rank does to the page in one step: a load or store through a view, or an explicit call on the whole page. */
export type Act = 'load' | 'store' | 'readSync' | 'writeSync'

interface Step {
  readonly rank: number
  readonly act: Act
}

/** One measured access (the last step, always by rank 0) and what leads up to it. */
export interface Scenario {
  readonly op: string
  /** The fewest ranks that it needs. */
  readonly ranks: number
  /**
   * `shared`: the same page again and again, whose home is rank 1. Otherwise a page that no rank has touched, whose
   * home is rank 0 (`fresh-own`) or rank 1 (`fresh-remote`).
   */
  readonly page: 'shared' | 'fresh-own' | 'fresh-remote'
  readonly steps: readonly Step[]
}

const of = (text: string): Step[] =>
  text.split(', ').map((step) => {
    const [rank, act] = step.split(' ')
    return { rank: Number(rank), act: act as Act }
  })

/** What the agent answers alone: the others are held against it, and it against a thread of C. */
export const LOCAL_FAULT = 'load, never touched, home here'

/** One page from one other rank: held against the same exchange in C++. */
export const FETCH = 'load, written by its home'

/**
 * A load that faults, a store that faults, an upgrade of a page that is here for reading; and the same by explicit
 * calls.
 */
export const scenarios: readonly Scenario[] = [
  { op: LOCAL_FAULT, ranks: 2, page: 'fresh-own', steps: of('0 load') },
  { op: 'load, never touched, home remote', ranks: 2, page: 'fresh-remote', steps: of('0 load') },
  { op: FETCH, ranks: 2, page: 'shared', steps: of('1 store, 0 load') },
  { op: 'load, written by a third rank', ranks: 3, page: 'shared', steps: of('2 store, 0 load') },
  { op: 'store, written by its home', ranks: 2, page: 'shared', steps: of('1 store, 0 store') },
  { op: 'store, written by a third rank', ranks: 3, page: 'shared', steps: of('2 store, 0 store') },
  { op: 'store, here and 1 other sharer', ranks: 2, page: 'shared', steps: of('1 store, 0 load, 0 store') },
  { op: 'store, here and 2 other sharers', ranks: 3, page: 'shared', steps: of('1 store, 2 load, 0 load, 0 store') },
  {
    op: 'store, here and 3 other sharers',
    ranks: 4,
    page: 'shared',
    steps: of('1 store, 2 load, 3 load, 0 load, 0 store'),
  },
  { op: 'readSync, written by its home', ranks: 2, page: 'shared', steps: of('1 store, 0 readSync') },
  { op: 'writeSync, written by its home', ranks: 2, page: 'shared', steps: of('1 store, 0 writeSync') },
]
