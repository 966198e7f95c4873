import { Operation } from './input.ts'
import type { World } from './world.ts'

/**
 * Removes from a state what no later step can depend on.
 *
 *   - If a node has no copy of a page and waits for none, its frame is freed at once. The agent may do so at any time
 *     without a message, so everything that could happen later still can. A peer that writes into the frame is
 *     detected.
 *   - Bytes without a token count as old. That is only stricter: a node that uses them, although no node sent others,
 *     is detected.
 *
 * So of states that differ only in remnants, the one without them is explored. `ExploreOptions.remnants` keeps them:
 * for two nodes, tests explore both ways.
 */
export class Remnants {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  clear(vector: Int32Array): void {
    const { model, locals } = this.#world
    for (let node = 0; node < model.nodes; node += 1) {
      const { remnants, unproven } = locals.at(vector[node]!).facts
      vector[this.#world.freshAt]! &= ~(unproven << (node * model.pages))
      for (let page = 0; page < model.pages; page += 1)
        if (((remnants >>> page) & 1) === 1) this.#giveBack(vector, node, page)
    }
  }

  #giveBack(vector: Int32Array, node: number, page: number): void {
    const { locals } = this.#world
    const local = vector[node]!
    if (((locals.at(local).facts.frames >>> page) & 1) === 0) return
    const { next, effects } = locals.step(locals.stepOf(local, locals.inputs.program(Operation.Evict, page)))
    // Where the table has it otherwise, the eviction is one more thing that can happen.
    if (next < 0 || effects.length > 0) return
    const { frames, remnants } = locals.at(next).facts
    const isGone = ((frames >>> page) & 1) === 0 && ((remnants >>> page) & 1) === 1
    if (isGone) vector[node] = next
  }
}
