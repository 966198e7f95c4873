import type { Protocol } from 'aether-dsm/internal/dsm'
import type { Homes, Threads } from './model.ts'
import type { Task } from './tasks.ts'

/** One line of the report. */
export interface CheckTask extends Task {
  /** Whether states that differ in names only were taken for one. */
  readonly symmetry: boolean
}

/** What of the standard plan is wanted. */
export interface CheckOptions {
  /** Numbers of nodes (default 2 and 3). */
  readonly nodes?: readonly number[]
  /** Numbers of pages (default 1 and 2). */
  readonly pages?: readonly number[]
  /**
   * The number of states at which an exploration stops and is called bounded. By default it depends on the exploration,
   * as in the standard plan.
   */
  readonly statesMax?: number
  /** How often a home may be without memory in one run (default 1). */
  readonly refusals?: number
}

interface Shape {
  readonly nodes: number
  readonly pages: number
  readonly homes: Homes
  readonly threads: Threads
  /** Without symmetry, starvation can be checked, because it concerns a particular thread. */
  readonly symmetry: boolean
  /** Unless another bound is asked for. */
  readonly statesMax: number
  /** Unless another bound is asked for, of a protocol that counts tokens (default: the same). */
  readonly tokenStatesMax?: number
  /** Only for protocols that count tokens, with no refusals. */
  readonly tokensOnly?: boolean
  /** Programs pin pages. */
  readonly pins?: boolean
}

/** Enough for every protocol to be visited whole. */
const WHOLE = 8_000_000
/** Three nodes and two pages have tens of millions of states: these are looked at as deep as this goes. */
const BOUND = 1_000_000
/** Enough for three nodes that count tokens, each with one thread and homes that never lack memory. */
const WHOLE_OF_TOKENS = 40_000_000
/** Actions taken at random in each model that was too large: they go deeper than the bound. */
const WALK_STEPS = 500_000

/**
 * The standard plan. With one page any number of threads a node is affordable; with two, one thread a node keeps the
 * space small. Pages interact through what nodes do with both at once and through the order of channels, which one
 * thread a node still exercises.
 */
const shapes: readonly Shape[] = [
  { nodes: 2, pages: 1, homes: 'same', threads: 'one', symmetry: false, statesMax: WHOLE },
  { nodes: 2, pages: 1, homes: 'same', threads: 'many', symmetry: true, statesMax: WHOLE },
  { nodes: 2, pages: 1, homes: 'same', threads: 'many', symmetry: true, statesMax: WHOLE, pins: true },
  { nodes: 2, pages: 2, homes: 'same', threads: 'one', symmetry: false, statesMax: WHOLE },
  { nodes: 2, pages: 2, homes: 'spread', threads: 'one', symmetry: false, statesMax: WHOLE },
  { nodes: 3, pages: 1, homes: 'same', threads: 'one', symmetry: false, statesMax: WHOLE_OF_TOKENS, tokensOnly: true },
  { nodes: 3, pages: 1, homes: 'same', threads: 'one', symmetry: false, statesMax: WHOLE, tokenStatesMax: BOUND },
  { nodes: 3, pages: 1, homes: 'same', threads: 'many', symmetry: true, statesMax: WHOLE, tokenStatesMax: BOUND },
  { nodes: 3, pages: 2, homes: 'same', threads: 'one', symmetry: true, statesMax: BOUND },
  { nodes: 3, pages: 2, homes: 'spread', threads: 'one', symmetry: true, statesMax: BOUND },
]

/** What there is to explore of some protocols, the quick ones of each kind first; what takes longest is begun early. */
export function planChecks(protocols: readonly Protocol[], options: CheckOptions = {}): CheckTask[] {
  const { nodes = [2, 3], pages = [1, 2] } = options
  return shapes
    .filter((shape) => nodes.includes(shape.nodes) && pages.includes(shape.pages))
    .flatMap((shape) =>
      protocols
        .filter(({ tokens }) => shape.tokensOnly !== true || tokens !== undefined)
        .map((protocol) => taskOf(shape, protocol, options)),
    )
}

function taskOf(shape: Shape, protocol: Protocol, options: CheckOptions): CheckTask {
  const { nodes, pages, homes, threads, symmetry, tokensOnly = false, pins = false } = shape
  const refusals = tokensOnly ? 0 : (options.refusals ?? 1)
  const usual = protocol.tokens === undefined ? shape.statesMax : (shape.tokenStatesMax ?? shape.statesMax)
  return {
    model: { protocol, nodes, pages, homes, threads, refusals, pins },
    symmetry,
    options: { symmetry, statesMax: options.statesMax ?? usual },
    walkSteps: WALK_STEPS,
  }
}
