import { FairCircles } from './fair-circles.ts'
import type { Graph } from './graph.ts'
import type { Stuck } from './progress.ts'
import type { World } from './world.ts'

/**
 * Whether a thread that waits can be passed over for ever though everything is fair: each message is delivered some
 * time, each woken thread runs, each timeout that stays due comes. Others may begin new accesses without end.
 *
 * Among the states in which one group of threads waits, a strongly connected part is looked for in which every such
 * thing either happens or is not possible somewhere: going round in there is fair and never serves the group. States of
 * which some were taken for others by symmetry cannot be looked at in this way, since a group is somebody in
 * particular.
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
