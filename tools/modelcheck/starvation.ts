import { FairCircles } from './fair-circles.ts'
import type { Graph } from './graph.ts'
import type { World } from './world.ts'

/** A state from which something is wrong with where things go, and what. */
export interface Stuck {
  readonly state: number
  readonly what: string
}

/**
 * Whether a waiting thread can be passed over for ever in a fair run. A run is fair if each message is delivered
 * eventually, each woken thread runs, and each timeout that stays due fires. Other threads may start new accesses for
 * ever.
 *
 * Among the states in which a certain group of threads waits, it looks for a strongly connected component. In it, each
 * of these events happens, or is impossible in some state: a run within it is fair and never serves the group. States
 * that symmetry has merged cannot be checked in this way, because the check concerns a particular group.
 */
export function starved(graph: Graph, world: World): Stuck | undefined {
  const { nodes, pages } = world.model
  for (let group = 0; group < 2 * nodes * pages; group += 1) {
    const waits = 1 << (world.channelCount + group)
    const isWaiting = (state: number): boolean => (graph.facts(state) & waits) !== 0
    const state = new FairCircles(graph, isWaiting, () => true).first()
    if (state === undefined) continue
    const node = Math.floor(group / (2 * pages))
    const page = Math.floor(group / 2) % pages
    const wish = group % 2 === 0 ? 'read' : 'write'
    return {
      state,
      what: `starvation: node ${node} waits to ${wish} page ${page} and can be passed over for ever, fair as all may be`,
    }
  }
  return undefined
}
