import { Random } from 'aether-dsm/internal/runtime'
import { Coverage } from './coverage.ts'
import { OPERATIONS } from './input.ts'
import { Invariants } from './invariants.ts'
import type { Local } from './local-automaton.ts'
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

/** Then from the start again, or from behind a way to something rare. */
const WALK_STEPS = 400
/** Ways do not become longer than this. */
const WAY_MAX = 3 * WALK_STEPS
/**
 * For this many steps, some nodes do some things often and some channels are slow, because rare states need a late
 * message.
 */
const MOOD_STEPS = 40
const paces: readonly number[] = [1, 6, 20, 20]

/**
 * Walk at random through a model that is too large to be explored, asserting the invariants in every state. Nothing is
 * claimed of what was not passed.
 */
export function walkModel(model: Model, options: WalkOptions): WalkResult {
  return walkWatched(model, options, () => {})
}

/** Told of each action before it is taken, with the state and the way so far, that action last. */
export type WalkWatch = (world: World, vector: Int32Array, way: readonly Action[]) => void

/** As {@link walkModel}. */
export function walkWatched(model: Model, { steps, seed = 1 }: WalkOptions, watch: WalkWatch): WalkResult {
  return new Walk(model, seed).run(steps, watch)
}

class Walk {
  readonly #coverage = new Coverage()
  readonly #world: World
  readonly #invariants: Invariants
  readonly #random: Random
  readonly #ways = new Map<string, readonly Action[]>()
  readonly #way: Action[] = []
  /** Ways to what nodes were in for the first time. */
  readonly #starts: (readonly Action[])[] = []
  readonly #situations = new Set<string>()
  readonly #locals = new Set<number>()
  readonly #actions: Action[] = []
  readonly #weights: number[] = []
  #paces: number[] = []

  constructor(model: Model, seed: number) {
    this.#world = new World(model, this.#coverage)
    this.#invariants = new Invariants(this.#world)
    this.#random = new Random(seed)
  }

  run(steps: number, watch: WalkWatch): WalkResult {
    const vector = this.#world.initial()
    let end = WALK_STEPS
    for (let step = 0; step < steps; step += 1) {
      if (this.#way.length === end) end = this.#startAgain(vector) + WALK_STEPS
      if (step % MOOD_STEPS === 0) this.#changeMood()
      const action = this.#draw(vector)
      this.#way.push(action)
      watch(this.#world, vector, this.#way)
      const what = this.#attempt(vector, action)
      for (const cell of this.#coverage.takeNew()) this.#ways.set(cell, [...this.#way])
      if (what !== undefined) return this.#violated(step + 1, what)
      this.#noteSituation(action)
      vector.set(this.#world.next)
    }
    return { steps, ways: this.#ways }
  }

  /** What a node is in, roughly: the first way to each such situation is kept. */
  #noteSituation(action: Action): void {
    const node = action.do === 'program' ? action.node : action.to
    const local = this.#world.next[node]!
    if (this.#locals.has(local)) return
    this.#locals.add(local)
    const situation = situationOf(this.#world.locals.at(local))
    if (this.#situations.has(situation)) return
    this.#situations.add(situation)
    if (this.#way.length <= WAY_MAX) this.#starts.push([...this.#way])
  }

  /**
   * Every second time from behind a way to something: what is rare is often near something rare. Returns how many
   * actions are behind.
   */
  #startAgain(vector: Int32Array): number {
    const way = this.#starts[this.#random.below(2 * this.#starts.length)] ?? []
    this.#way.splice(0, this.#way.length, ...way)
    vector.set(this.#world.initial())
    for (const action of way) {
      this.#world.take(vector, 0, action)
      vector.set(this.#world.next)
    }
    return way.length
  }

  #changeMood(): void {
    const { nodes } = this.#world.model
    this.#paces = Array.from({ length: nodes * (nodes + OPERATIONS) }, () => paces[this.#random.below(paces.length)]!)
  }

  #paceOf(action: Action): number {
    const { nodes } = this.#world.model
    if (action.do !== 'program') return this.#paces[action.from * nodes + action.to]!
    const operation = this.#world.locals.inputs.operationOf(action.input)
    return this.#paces[nodes * nodes + action.node * OPERATIONS + operation]!
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

function situationOf({ rank, node, program }: Local): string {
  const { tokens, owner, valid } = node.tokens(0)
  const starvers = node.starvers(0).map(({ rank: other, marked }) => `${other}${marked ? '!' : ''}`)
  const flags = [owner, valid, node.isDeferred(0), program.isPinned(0), rank === 0]
  return [node.copyState(0), node.directory(0).state, tokens, ...flags, ...starvers].join()
}
