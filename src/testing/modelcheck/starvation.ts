import type { Graph } from './graph.ts'
import type { Stuck } from './progress.ts'
import type { World } from './world.ts'

/**
 * Whether a thread that waits can be passed over for ever though everything is fair: each message is delivered some time, each woken thread runs, each
 * timeout that stays due comes. Others may begin new accesses without end.
 *
 * Among the states in which one group of threads waits, a strongly connected part is looked for in which every such thing either happens or is
 * not possible somewhere: going round in there is fair and never serves the group. States of which some were taken for others by symmetry
 * cannot be looked at in this way, since a group is somebody in particular.
 */
export function starved(graph: Graph, world: World): Stuck | undefined {
  const { nodes, pages } = world.model
  for (let group = 0; group < 2 * nodes * pages; group++) {
    const state = new Components(graph, world, group).firstUnfair()
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

/** Strongly connected components (Tarjan) of the states in which a group waits. */
class Components {
  readonly #graph: Graph
  readonly #waits: number
  readonly #order: Int32Array
  readonly #low: Int32Array
  readonly #stack: number[] = []
  readonly #component: Int32Array
  #count = 0
  #components = 0

  constructor(graph: Graph, world: World, group: number) {
    this.#graph = graph
    this.#waits = 1 << (world.channelCount + group)
    this.#order = new Int32Array(graph.states)
    this.#low = new Int32Array(graph.states)
    this.#component = new Int32Array(graph.states)
  }

  firstUnfair(): number | undefined {
    for (let state = 0; state < this.#graph.states; state++) {
      if (!this.#isIn(state) || this.#order[state] !== 0) continue
      const unfair = this.#visit(state)
      if (unfair !== undefined) return unfair
    }
    return undefined
  }

  #isIn(state: number): boolean {
    return (this.#graph.facts(state) & this.#waits) !== 0
  }

  /** Without recursion: paths are longer than a call stack. */
  #visit(root: number): number | undefined {
    const path = [root]
    const edges = [this.#graph.firstEdge(root)]
    this.#enter(root)
    while (path.length > 0) {
      const state = path.at(-1)!
      const edge = edges.at(-1)!
      if (edge < this.#graph.endOfEdges(state)) {
        edges[edges.length - 1] = edge + 1
        const target = this.#graph.target(edge)
        if (!this.#isIn(target)) continue
        if (this.#order[target] === 0) {
          this.#enter(target)
          path.push(target)
          edges.push(this.#graph.firstEdge(target))
        } else if (this.#component[target] === 0) {
          this.#low[state] = Math.min(this.#low[state]!, this.#order[target]!)
        }
        continue
      }
      path.pop()
      edges.pop()
      const before = path.at(-1)
      if (before !== undefined) this.#low[before] = Math.min(this.#low[before]!, this.#low[state]!)
      if (this.#low[state] !== this.#order[state]) continue
      const members = this.#leave(state)
      if (this.#isFairCircle(members)) return Math.min(...members)
    }
    return undefined
  }

  #enter(state: number): void {
    this.#order[state] = ++this.#count
    this.#low[state] = this.#count
    this.#stack.push(state)
  }

  #leave(root: number): number[] {
    const members: number[] = []
    this.#components++
    for (let state = -1; state !== root; ) {
      state = this.#stack.pop()!
      this.#component[state] = this.#components
      members.push(state)
    }
    return members
  }

  /** Everything that is sure to happen some time happens inside, or is not possible somewhere inside. */
  #isFairCircle(members: readonly number[]): boolean {
    const component = this.#component[members[0]!]
    let possibleEverywhere = -1
    let happens = 0
    let hasEdge = false
    for (const state of members) {
      let possible = 0
      for (let edge = this.#graph.firstEdge(state); edge < this.#graph.endOfEdges(state); edge++) {
        const bit = 1 << this.#graph.label(edge)
        possible |= bit
        if (this.#component[this.#graph.target(edge)] !== component) continue
        happens |= bit
        hasEdge = true
      }
      possibleEverywhere &= possible
    }
    // Bit 0 is what nobody need do.
    return hasEdge && (possibleEverywhere & ~happens & ~1) === 0
  }
}
