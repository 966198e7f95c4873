import { initialiseBlocks, iterateBlocks, sumBlocks } from './rank-kernel.ts'
import type { RankState } from './rank-state.ts'

/** The L1 change below which ranks count as found. */
export const toleranceDefault = 1e-9
/** A graph on which 0.85^k has not come below the tolerance by then is not one. */
const iterationsMaxDefault = 500
/** After this many iterations the engine has compiled the loops, and all memory has been touched. */
const warmIterations = 10

/** One member's part of the work. */
export interface PageRankOptions {
  /** This member computes blocks `firstBlock … lastBlock - 1`. */
  readonly firstBlock: number
  readonly lastBlock: number
  /** Returns when every member has called it as often as this one. One process alone passes nothing. */
  readonly barrier?: () => Promise<void> | void
  /**
   * Called after the barrier of each iteration, to bring what the others left in it near; takes the place of as many
   * page faults.
   */
  readonly fetch?: (iteration: number) => Promise<void>
  readonly tolerance?: number
  readonly iterationsMax?: number
  /** Called after each iteration, with its number from 1 and the L1 change. */
  readonly onIteration?: (iteration: number, change: number) => void
}

/** How it went for this member. The ranks are in the state. */
export interface PageRankResult {
  readonly iterations: number
  readonly change: number
  /** False where the change was still above the tolerance when the iterations ran out. */
  readonly converged: boolean
  /** Time in the loops of this member, in milliseconds; page faults in them are part of it. */
  readonly computeMs: number
  /** Time in `fetch`. */
  readonly fetchMs: number
  /** Time in the barrier, in milliseconds. */
  readonly waitMs: number
}

/**
 * PageRank by power iteration, pull-based, until the L1 change is below the tolerance. The rank of vertices without
 * outgoing edges is spread over all vertices. Every member of a group calls this with the same shared state and its own
 * range of blocks. A single process calls it with all blocks. The results are the same to the last bit.
 *
 * Source: Brin and Page, "The anatomy of a large-scale hypertextual Web search engine", 1998.
 */
export async function computePageRank(state: RankState, options: PageRankOptions): Promise<PageRankResult> {
  const { firstBlock, lastBlock, tolerance = toleranceDefault, iterationsMax = iterationsMaxDefault } = options
  const clock = new MemberClock()
  const { barrier = () => {}, fetch = () => {} } = options
  const finish = async (iteration: number) => {
    await clock.wait(barrier)
    await clock.fetch(() => fetch(iteration))
    return clock.compute(() => sumBlocks(state, iteration))
  }
  clock.compute(() => initialiseBlocks(state, firstBlock, lastBlock))
  let totals = await finish(0)
  let iteration = 0
  while (totals.change >= tolerance && iteration < iterationsMax) {
    iteration += 1
    const { dangling } = totals
    clock.compute(() => iterateBlocks(state, iteration, dangling, firstBlock, lastBlock))
    totals = await finish(iteration)
    options.onIteration?.(iteration, totals.change)
  }
  // No member leaves while another may still read its part.
  await clock.wait(barrier)
  const { computeMs, fetchMs, waitMs } = clock
  return {
    iterations: iteration,
    change: totals.change,
    converged: totals.change < tolerance,
    computeMs,
    fetchMs,
    waitMs,
  }
}

/** A few iterations that are not measured. */
export async function warmUp(state: RankState, options: PageRankOptions): Promise<void> {
  const { firstBlock, lastBlock, barrier, fetch } = options
  const shared = { ...(barrier && { barrier }), ...(fetch && { fetch }) }
  await computePageRank(state, { firstBlock, lastBlock, iterationsMax: warmIterations, ...shared })
}

/** Tells the times in which a member computes, fetches, and waits for the others. */
class MemberClock {
  computeMs = 0
  fetchMs = 0
  waitMs = 0

  compute<T>(work: () => T): T {
    const start = performance.now()
    const result = work()
    this.computeMs += performance.now() - start
    return result
  }

  async fetch(work: () => Promise<void> | void): Promise<void> {
    const start = performance.now()
    await work()
    this.fetchMs += performance.now() - start
  }

  async wait(barrier: () => Promise<void> | void): Promise<void> {
    const start = performance.now()
    await barrier()
    this.waitMs += performance.now() - start
  }
}
