import { GrowingArray } from './growing-array.ts'
import { LABEL_BITS } from './world.ts'

/** The states that were visited and how they lead to each other, for what can only be said of the whole. */
export class Graph {
  readonly #parents = new GrowingArray()
  readonly #facts = new GrowingArray()
  /** Where the transitions of a state begin. */
  readonly #begins = new GrowingArray()
  /** Target and label of each. */
  readonly #edges = new GrowingArray()

  get states(): number {
    return this.#parents.length
  }

  get transitions(): number {
    return this.#edges.length
  }

  /** `facts` are the analysis's own. */
  addState(parent: number, facts: number): void {
    this.#parents.push(parent)
    this.#facts.push(facts)
  }

  /** The transitions of the next state follow. */
  beginEdges(): void {
    this.#begins.push(this.#edges.length)
  }

  addEdge(target: number, label: number): void {
    this.#edges.push((target << LABEL_BITS) | label)
  }

  facts(state: number): number {
    return this.#facts.at(state)
  }

  firstEdge(state: number): number {
    return this.#begins.at(state)
  }

  /** One behind the last. */
  endOfEdges(state: number): number {
    return state + 1 < this.#begins.length ? this.#begins.at(state + 1) : this.#edges.length
  }

  target(edge: number): number {
    return this.#edges.at(edge) >>> LABEL_BITS
  }

  label(edge: number): number {
    return this.#edges.at(edge) & ((1 << LABEL_BITS) - 1)
  }

  /** A shortest way from the start to a state, both included. */
  pathTo(state: number): number[] {
    const path: number[] = []
    for (let at = state; at >= 0; at = this.#parents.at(at)) path.unshift(at)
    return path
  }
}
