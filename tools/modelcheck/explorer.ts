import { Asymmetry } from './asymmetry.ts'
import { Canonical } from './canonical.ts'
import { Coverage, cellsOf, cellText } from './coverage.ts'
import { Frontier } from './frontier.ts'
import { Graph } from './graph.ts'
import { Invariants } from './invariants.ts'
import { assertModel, type Model } from './model.ts'
import { firstWithoutProgress, whyStuck } from './progress.ts'
import { Remnants } from './remnants.ts'
import { StateSet } from './state-set.ts'
import { formatTrace, type TraceStep } from './trace.ts'
import { type Action, OPTIONAL, World } from './world.ts'

/** How far to go. */
export interface ExploreOptions {
  /** The maximum number of states. Beyond it, the exploration is bounded and says so (default 3,000,000). */
  readonly statesMax?: number
  /** Take states that differ in names only for one, where the protocol treats all alike (default true). */
  readonly symmetry?: boolean
  /** Look for livelock and starvation, too, where all states were visited (default true). */
  readonly progress?: boolean
  /** Keep what nothing that follows can depend on (default false): see `Remnants`. More states, the same findings. */
  readonly remnants?: boolean
  /** Begin behind these actions instead of where nothing has been touched: what a long way leads to. */
  readonly after?: readonly Action[]
  /** No new access, eviction or refusal: only what is sure to happen from where it begins (default false). */
  readonly quiet?: boolean
  /** Called from time to time. */
  readonly onProgress?: (states: number, depth: number) => void
}

/** What an exploration found. */
export interface ExploreResult {
  readonly states: number
  readonly transitions: number
  /** The longest shortest path. Where bounded: every path of fewer steps was looked at. */
  readonly depth: number
  /** False where there were more states than allowed. */
  readonly exhaustive: boolean
  /** Where bounded: so many actions were taken at random besides, in runs that go deeper. */
  readonly walked?: number
  /** How many states at most one stands for. */
  readonly symmetry: number
  /** States and steps of single nodes, each run once by the coherence node itself. */
  readonly nodeStates: number
  readonly nodeSteps: number
  /** The most messages that were under way between two nodes. */
  readonly channelMax: number
  /** Cells of the tables that were taken, as `side state/event`. */
  readonly visited: readonly string[]
  /** Cells that were not. */
  readonly unvisited: readonly string[]
  /** Undefined where every invariant holds; else which does not, and a shortest way there as a sequence diagram. */
  readonly violation?: { readonly what: string; readonly trace: string; readonly steps: number }
}

const STATES_MAX = 3_000_000
/** Between two reports of progress. */
const REPORT_EVERY = 1 << 14

/** Explore a model breadth first, to the end, to its first violation, or to the bound. */
export function exploreModel(model: Model, options: ExploreOptions = {}): ExploreResult {
  assertModel(model)
  try {
    return new Exploration(model, options, options.symmetry ?? true).run()
  } catch (cause) {
    if (!(cause instanceof Asymmetry)) throw cause
    return new Exploration(model, options, false).run()
  }
}

class Exploration {
  readonly #model: Model
  readonly #options: ExploreOptions
  readonly #coverage = new Coverage()
  readonly #world: World
  readonly #canonical: Canonical
  readonly #remnants: Remnants | undefined
  readonly #invariants: Invariants
  readonly #visited = new StateSet()
  readonly #frontier: Frontier
  readonly #graph = new Graph()
  /** The way to where the exploration begins, and that state under its own names. */
  readonly #lead: TraceStep[] = []
  #start: Int32Array
  #depth = 0
  #channelMax = 0

  constructor(model: Model, options: ExploreOptions, reduce: boolean) {
    this.#model = model
    this.#options = options
    this.#world = new World(model, this.#coverage)
    this.#canonical = new Canonical(this.#world, reduce)
    this.#invariants = new Invariants(this.#world)
    this.#frontier = new Frontier(this.#world.length)
    this.#remnants = options.remnants === true ? undefined : new Remnants(this.#world)
    this.#start = this.#world.initial()
  }

  run(): ExploreResult {
    const { statesMax = STATES_MAX, progress = true } = this.#options
    for (const action of this.#options.after ?? []) {
      const what = this.#attempt(this.#start, action)
      const after = what === undefined ? this.#world.next.slice() : undefined
      this.#lead.push({ before: this.#start, action, after, what })
      if (after === undefined) return this.#result(false, what, this.#lead)
      this.#start = after
    }
    this.#world.next.set(this.#start)
    this.#found(-1)
    const vector = new Int32Array(this.#world.length)
    let layerEnd = 1
    for (let state = 0; state < this.#graph.states; state += 1) {
      if (state === layerEnd) {
        this.#depth += 1
        layerEnd = this.#graph.states
      }
      if (this.#graph.states >= statesMax) return this.#result(false)
      if (state % REPORT_EVERY === 0) this.#options.onProgress?.(this.#graph.states, this.#depth)
      this.#frontier.read(state, vector)
      const failed = this.#expand(state, vector)
      if (failed !== undefined) return this.#violated(state, failed.action, failed.what)
      const stuck = progress ? whyStuck(this.#graph, this.#world, state) : undefined
      if (stuck !== undefined) return this.#violated(state, undefined, stuck)
    }
    this.#canonical.assertSymmetric()
    // Starvation concerns a particular thread, not a group of threads, nor a state that stands for others. A thread
    // that pins a page over and over keeps it.
    const { threads, pins = false } = this.#model
    const named = this.#canonical.factor === 1 && threads === 'one' && !pins && this.#options.quiet !== true
    const stuck = progress ? firstWithoutProgress(this.#graph, this.#world, named) : undefined
    return stuck === undefined ? this.#result(true) : this.#violated(stuck.state, undefined, stuck.what)
  }

  /** All that can happen in a state. Returns what is wrong behind one of them. */
  #expand(state: number, vector: Int32Array): { action: Action; what: string } | undefined {
    this.#graph.beginEdges()
    let failed: { action: Action; what: string } | undefined
    this.#world.forEachAction(vector, 0, (action, label) => {
      if (failed !== undefined || (label === OPTIONAL && this.#options.quiet === true)) return
      const what = this.#attempt(vector, action)
      if (what === undefined) this.#graph.addEdge(this.#found(state), label)
      else failed = { action, what }
    })
    return failed
  }

  /** What is wrong with a step or where it leads; undefined where nothing is, and `world.next` is what it leads to. */
  #attempt(vector: Int32Array, action: Action): string | undefined {
    try {
      this.#world.take(vector, 0, action)
      this.#invariants.assertAll(this.#world.next)
      this.#remnants?.clear(this.#world.next)
      return undefined
    } catch (cause) {
      if (cause instanceof Asymmetry) throw cause
      return cause instanceof Error ? cause.message : String(cause)
    }
  }

  /** The state in `world.next`, known or new. */
  #found(parent: number): number {
    const { next, length } = this.#world
    this.#canonical.reduce(next)
    const index = this.#visited.add(next, 0, length)
    if (!this.#visited.wasNew) return index
    this.#frontier.push(next)
    this.#graph.addState(parent, this.#factsOf(next))
    return index
  }

  /** Channels that are not empty, then groups that wait, then groups that are awake, then whether all are at rest. */
  #factsOf(vector: Int32Array): number {
    const { model, freshAt, locals, channels, channelCount } = this.#world
    let facts = 0
    for (let at = model.nodes; at < freshAt; at += 1) {
      const length = channels.contents(vector[at]!).length
      if (length > 0) facts |= 1 << (at - model.nodes)
      if (length > this.#channelMax) this.#channelMax = length
    }
    const groups = 2 * model.pages
    for (let node = 0; node < model.nodes; node += 1) {
      const { waiting, awake } = locals.at(vector[node]!).facts
      facts |= waiting << (channelCount + node * groups)
      facts |= awake << (channelCount + (model.nodes + node) * groups)
    }
    return facts
  }

  #result(exhaustive: boolean, what?: string, trace: readonly TraceStep[] = []): ExploreResult {
    const { locals } = this.#world
    const visited = this.#coverage.visited
    const { states, transitions } = this.#graph
    return {
      states,
      transitions,
      depth: this.#depth,
      exhaustive,
      symmetry: this.#canonical.factor,
      nodeStates: locals.size,
      nodeSteps: locals.steps,
      channelMax: this.#channelMax,
      visited,
      unvisited: cellsOf(this.#model.protocol)
        .map((cell) => cellText(cell))
        .filter((cell) => !visited.includes(cell)),
      ...(what === undefined
        ? {}
        : { violation: { what, trace: formatTrace(this.#world, trace), steps: trace.length } }),
    }
  }

  #violated(state: number, action: Action | undefined, what: string): ExploreResult {
    const steps = this.#walk(this.#graph.pathTo(state), what, action !== undefined)
    return this.#result(false, what, steps)
  }

  /** The way along states, in one consistent naming; then, where `andFail`, the step that fails with `what`. */
  #walk(path: readonly number[], what: string, andFail: boolean): TraceStep[] {
    const steps: TraceStep[] = [...this.#lead]
    let vector = this.#start
    for (const state of path.slice(1)) {
      const step = this.#stepTo(vector, state)
      steps.push(step)
      vector = step.after!
    }
    if (andFail) {
      const failing = this.#actions(vector).find((action) => kindOf(this.#attempt(vector, action)) === kindOf(what))
      if (failing === undefined) throw new Asymmetry('the step that failed does not fail under other names')
      steps.push({ before: vector, action: failing, after: undefined, what })
    }
    return steps
  }

  #stepTo(vector: Int32Array, state: number): TraceStep {
    for (const action of this.#actions(vector)) {
      if (this.#attempt(vector, action) !== undefined) continue
      const after = this.#world.next.slice()
      this.#canonical.reduce(this.#world.next)
      if (this.#visited.add(this.#world.next, 0, this.#world.length) === state)
        return { before: vector, action, after, what: undefined }
    }
    // The reduction took for one what was not the same: it is done again without.
    throw new Asymmetry(`the way to state ${state} cannot be found again`)
  }

  #actions(vector: Int32Array): Action[] {
    const actions: Action[] = []
    this.#world.forEachAction(vector, 0, (action) => actions.push(action))
    return actions
  }
}

/** Under other names another node is named; the invariant is the same. */
const kindOf = (what: string | undefined): string | undefined => what?.split(':')[0]
