import type { Graph } from './graph.ts'

/**
 * Infinite runs that stay within some states and are fair: strongly connected components (Tarjan). In these, every
 * label that must happen eventually does happen, or is impossible in some state.
 */
export class FairCircles {
  readonly #graph: Graph
  readonly #isIn: (state: number) => boolean
  readonly #follows: (label: number) => boolean
  readonly #order: Int32Array
  readonly #low: Int32Array
  readonly #stack: number[] = []
  readonly #component: Int32Array
  #count = 0
  #components = 0

  /** Among the states for which `isIn`, along the transitions whose label `follows`. */
  constructor(graph: Graph, isIn: (state: number) => boolean, follows: (label: number) => boolean) {
    this.#graph = graph
    this.#isIn = isIn
    this.#follows = follows
    this.#order = new Int32Array(graph.states)
    this.#low = new Int32Array(graph.states)
    this.#component = new Int32Array(graph.states)
  }

  /** A state on one of them; undefined where there is none. */
  first(): number | undefined {
    for (let state = 0; state < this.#graph.states; state += 1) {
      if (!this.#isIn(state) || this.#order[state] !== 0) continue
      const found = this.#visit(state)
      if (found !== undefined) return found
    }
    return undefined
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
        if (!this.#isIn(target) || !this.#follows(this.#graph.label(edge))) continue
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
    this.#components += 1
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
      for (let edge = this.#graph.firstEdge(state); edge < this.#graph.endOfEdges(state); edge += 1) {
        const label = this.#graph.label(edge)
        if (!this.#follows(label)) continue
        const bit = 1 << label
        possible |= bit
        if (this.#component[this.#graph.target(edge)] !== component) continue
        happens |= bit
        hasEdge = true
      }
      possibleEverywhere &= possible
    }
    // Bit 0 stands for optional actions.
    return hasEdge && (possibleEverywhere & ~happens & ~1) === 0
  }
}
