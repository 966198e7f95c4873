import { Frontier } from './frontier.ts'
import { StateSet } from './state-set.ts'
import type { Action, World } from './world.ts'

/**
 * Visits actions breadth first, each with the state in which it is possible and a shortest way to its end, in at most
 * `statesMax` states.
 */
export function survey(
  world: World,
  statesMax: number,
  visit: (vector: Int32Array, action: Action, way: () => Action[]) => void,
): void {
  const visited = new StateSet()
  const frontier = new Frontier(world.length)
  const parents: number[] = []
  const actions: (Action | undefined)[] = []
  const enter = (next: Int32Array, parent: number, action: Action | undefined): void => {
    visited.add(next, 0, world.length)
    if (!visited.wasNew) return
    frontier.push(next)
    parents.push(parent)
    actions.push(action)
  }
  const wayTo = (state: number, last: Action): Action[] => {
    const way = [last]
    for (let at = state; parents[at]! >= 0; at = parents[at]!) way.unshift(actions[at]!)
    return way
  }
  enter(world.initial(), -1, undefined)
  const vector = new Int32Array(world.length)
  for (let state = 0; state < parents.length && parents.length < statesMax; state += 1) {
    frontier.read(state, vector)
    world.forEachAction(vector, 0, (action) => {
      visit(vector, action, () => wayTo(state, action))
      world.take(vector, 0, action)
      enter(world.next, state, action)
    })
  }
}
