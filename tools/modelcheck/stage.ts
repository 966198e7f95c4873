import type { Protocol } from 'aether-dsm/internal/dsm'
import { Coverage } from './coverage.ts'
import { Invariants } from './invariants.ts'
import type { Model } from './model.ts'
import { Outcomes } from './outcome.ts'
import { formatTrace, type TraceStep } from './trace.ts'
import { type Action, World } from './world.ts'

/** What came of a way on a stage. */
export interface Performance {
  /** What came of the last step; undefined where the way does not lead so far. */
  readonly outcome: readonly string[] | undefined
  /** The steps that were taken. The last may have failed. */
  readonly steps: readonly TraceStep[]
  /** What is wrong: a step that cannot be taken, or one behind which an invariant does not hold. */
  readonly what: string | undefined
}

/** Everything may happen in a play. */
const REFUSALS = 9

/** The model in which plays are played: one page with its home at node 0. */
export const stageModel = (protocol: Protocol, nodes: number): Model => ({
  protocol,
  nodes,
  pages: 1,
  homes: 'same',
  threads: 'many',
  refusals: REFUSALS,
  pins: true,
  losses: true,
})

/** Where plays are played, step by step, the invariants asserted in each state: by the nodes that the explorer runs. */
export class Stage {
  readonly world: World
  readonly outcomes: Outcomes
  readonly #invariants: Invariants

  /** A `world` of the model where there is one already. */
  constructor(model: Model, world: World = new World(model, new Coverage())) {
    this.world = world
    this.outcomes = new Outcomes(model, world.messages)
    this.#invariants = new Invariants(world)
  }

  perform(way: readonly Action[]): Performance {
    const steps: TraceStep[] = []
    let before = this.world.initial()
    let outcome: readonly string[] | undefined
    for (const [index, action] of way.entries()) {
      if (!this.world.isPossible(before, action))
        return { outcome: undefined, steps, what: `step ${index + 1} of ${way.length} cannot be taken any more` }
      if (index === way.length - 1) outcome = this.#outcomeOf(before, action)
      const what = this.#attempt(before, action)
      const after = what === undefined ? this.world.next.slice() : undefined
      steps.push({ before, action, after, what })
      if (after === undefined) return { outcome, steps, what }
      before = after
    }
    return { outcome, steps, what: undefined }
  }

  /** What is left of a way when each step that cannot be taken is left out. */
  possible(way: readonly Action[]): readonly Action[] {
    const vector = this.world.initial()
    return way.filter((action) => {
      if (!this.world.isPossible(vector, action) || this.#attempt(vector, action) !== undefined) return false
      vector.set(this.world.next)
      return true
    })
  }

  #outcomeOf(vector: Int32Array, action: Action): readonly string[] {
    const doing = this.world.doingOf(vector, action)
    if (doing === undefined) return []
    const { locals } = this.world
    return this.outcomes.of(locals.at(doing.local), locals.inputOf(doing.input))
  }

  /** The steps as a diagram. */
  trace(steps: readonly TraceStep[]): string {
    return formatTrace(this.world, steps)
  }

  #attempt(vector: Int32Array, action: Action): string | undefined {
    try {
      this.world.take(vector, 0, action)
      this.#invariants.assertAll(this.world.next)
      return undefined
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause)
    }
  }
}
