import { FairCircles } from './fair-circles.ts'
import type { Graph } from './graph.ts'
import { type Stuck, starved } from './starvation.ts'
import { OPTIONAL, type World } from './world.ts'

/**
 * Progress: once no new access starts, every order of deliveries and threads comes to rest. At rest no thread waits and
 * no message is in transit. Timeouts count only if nothing else can happen. Then it checks that no waiting thread can
 * be passed over for ever (see starvation.ts).
 *
 * It is computed from the end: states at rest are good, and then states whose next states are all good. The others can
 * stop short of rest, or go in circles. With tokens, some circles end as soon as a certain message is delivered. In
 * these, nodes do not agree yet on which of them starves, and tokens pass round. These are allowed, because every
 * message is delivered eventually. All other circles are errors, and all circles are in other protocols.
 */
export function firstWithoutProgress(graph: Graph, world: World, named: boolean): Stuck | undefined {
  const good = new Uint8Array(graph.states)
  for (let changed = true; changed; ) {
    changed = false
    for (let state = graph.states - 1; state >= 0; state -= 1) {
      if (good[state] === 1 || !isGood(graph, world, good, state)) continue
      good[state] = 1
      changed = true
    }
  }
  const bad = world.model.protocol.tokens === undefined ? good.indexOf(0) : firstFairCircle(graph, good)
  if (bad >= 0) return { state: bad, what: describe(graph, world, bad) }
  return named ? starved(graph, world) : undefined
}

/** -1 where there is none. */
function firstFairCircle(graph: Graph, good: Uint8Array): number {
  const circles = new FairCircles(
    graph,
    (state) => good[state] === 0,
    (label) => label !== OPTIONAL,
  )
  return circles.first() ?? -1
}

function isGood(graph: Graph, world: World, good: Uint8Array, state: number): boolean {
  let forced = 0
  let timeouts = 0
  let timeoutsGood = true
  for (let edge = graph.firstEdge(state); edge < graph.endOfEdges(state); edge += 1) {
    const [label, target] = [graph.label(edge), graph.target(edge)]
    if (label === OPTIONAL || target === state) continue
    if (label >= world.firstTimeoutLabel) {
      timeouts += 1
      timeoutsGood &&= good[target] === 1
    } else {
      forced += 1
      if (good[target] === 0) return false
    }
  }
  if (forced > 0) return true
  return graph.facts(state) === 0 || (timeouts > 0 && timeoutsGood)
}

/**
 * What is wrong with a state in which nothing has to happen any more, although it is not at rest; undefined if nothing
 * is.
 */
export function whyStuck(graph: Graph, world: World, state: number): string | undefined {
  if (graph.facts(state) === 0) return undefined
  for (let edge = graph.firstEdge(state); edge < graph.endOfEdges(state); edge += 1)
    if (graph.label(edge) !== OPTIONAL && graph.target(edge) !== state) return undefined
  return describe(graph, world, state)
}

function describe(graph: Graph, world: World, state: number): string {
  for (let edge = graph.firstEdge(state); edge < graph.endOfEdges(state); edge += 1) {
    const label = graph.label(edge)
    if (label !== OPTIONAL && graph.target(edge) !== state)
      return 'progress: without any new access the nodes can go on for ever from here and never come to rest'
  }
  const waits = graph.facts(state) >>> world.channelCount !== 0
  return `progress: nothing can happen any more, and ${waits ? 'a thread waits' : 'messages are left'}`
}
