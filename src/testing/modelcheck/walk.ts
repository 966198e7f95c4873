import { Random } from '../../runtime/index.ts'
import { Coverage } from './coverage.ts'
import { Invariants } from './invariants.ts'
import type { Model } from './model.ts'
import { formatTrace, type TraceStep } from './trace.ts'
import { type Action, World } from './world.ts'

export interface WalkOptions {
  /** Actions in all. */
  readonly steps: number
  /** Draws the walks: the same seed walks the same ways (default 1). */
  readonly seed?: number
}

export interface WalkResult {
  readonly steps: number
  /** Cells that were taken, as `side state/event`, with a way to take each for the first time: its last action does. */
  readonly ways: ReadonlyMap<string, readonly Action[]>
  /** Undefined where every invariant held in every state that was passed. */
  readonly violation?: { readonly what: string; readonly trace: string; readonly steps: number }
}

/** Then from the start again. */
const WALK_STEPS = 400
/** For so many steps some nodes and channels are quick and others slow: what is rare needs somebody to be late. */
const MOOD_STEPS = 40
const paces: readonly number[] = [1, 6, 20, 20]

/** Walk at random through a model that is too large to be explored, asserting the invariants in every state. Nothing is claimed of what was not passed. */
export function walkModel(model: Model, options: WalkOptions): WalkResult {
  return new Walk(model, options.seed ?? 1).run(options.steps)
}

class Walk {
  readonly #coverage = new Coverage()
  readonly #world: World
  readonly #invariants: Invariants
  readonly #random: Random
  readonly #ways = new Map<string, readonly Action[]>()
  readonly #way: Action[] = []
  readonly #actions: Action[] = []
  readonly #weights: number[] = []
  #paces: number[] = []

  constructor(model: Model, seed: number) {
    this.#world = new World(model, this.#coverage)
    this.#invariants = new Invariants(this.#world)
    this.#random = new Random(seed)
  }

  run(steps: number): WalkResult {
    const vector = this.#world.initial()
    for (let step = 0; step < steps; step++) {
      if (this.#way.length === WALK_STEPS) {
        this.#way.length = 0
        vector.set(this.#world.initial())
      }
      if (this.#way.length % MOOD_STEPS === 0) this.#changeMood()
      const action = this.#draw(vector)
      this.#way.push(action)
      const what = this.#attempt(vector, action)
      for (const cell of this.#coverage.takeNew()) this.#ways.set(cell, [...this.#way])
      if (what !== undefined) return this.#violated(step + 1, what)
      vector.set(this.#world.next)
    }
    return { steps, ways: this.#ways }
  }

  #changeMood(): void {
    const { nodes } = this.#world.model
    this.#paces = Array.from({ length: nodes * (nodes + 1) }, () => paces[this.#random.below(paces.length)]!)
  }

  #paceOf(action: Action): number {
    const { nodes } = this.#world.model
    return this.#paces[action.do === 'program' ? nodes * nodes + action.node : action.from * nodes + action.to]!
  }

  /** One of the actions that are possible: programs may always do something. */
  #draw(vector: Int32Array): Action {
    this.#actions.length = 0
    this.#weights.length = 0
    let sum = 0
    this.#world.forEachAction(vector, 0, (action) => {
      sum += this.#paceOf(action)
      this.#actions.push(action)
      this.#weights.push(sum)
    })
    const drawn = this.#random.below(sum)
    return this.#actions[this.#weights.findIndex((weight) => drawn < weight)]!
  }

  #attempt(vector: Int32Array, action: Action): string | undefined {
    try {
      this.#world.take(vector, 0, action)
      this.#invariants.assertAll(this.#world.next)
      return undefined
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause)
    }
  }

  #violated(steps: number, what: string): WalkResult {
    const trace: TraceStep[] = []
    let before = this.#world.initial()
    for (const action of this.#way.slice(0, -1)) {
      this.#world.take(before, 0, action)
      const after = this.#world.next.slice()
      trace.push({ before, action, after, what: undefined })
      before = after
    }
    trace.push({ before, action: this.#way.at(-1)!, after: undefined, what })
    return {
      steps,
      ways: this.#ways,
      violation: { what, trace: formatTrace(this.#world, trace), steps: trace.length },
    }
  }
}
