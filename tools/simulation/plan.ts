import { type Placement, protocols } from 'aether-dsm/internal/dsm'
import { Stream } from 'aether-dsm/internal/providers'
import { drawHazard, type Hazard } from './hazard.ts'

const HAZARDS_MAX = 6
const PAGES_MAX = 24
const VIEWS = [0, 50, 100] as const
const PLACEMENTS: readonly Placement[] = ['cyclic', 'block', { blockCyclic: 2 }, 'first-touch']

/**
 * Everything that makes up a run, drawn from its seed. Some runs have few nodes and much sharing, others have many
 * hazards, and others none (swarm testing).
 */
export interface SimulationPlan {
  readonly seed: number
  /** Name of the coherence protocol. */
  readonly protocol: string
  readonly nodes: number
  /** Threads of a program at each node. */
  readonly threads: number
  readonly pages: number
  /** Words of a page that are used; they lie on different lines. */
  readonly words: number
  /** Accesses of each thread. */
  readonly accesses: number
  /** Of a hundred accesses. */
  readonly stores: number
  readonly atomics: number
  /** Of a hundred accesses, after how many pages are given up. */
  readonly evictions: number
  /** Of a hundred threads, how many load and store through views; the others make explicit calls. */
  readonly views: number
  /** An explicit call holds its page for up to so long. */
  readonly copyNs: number
  readonly placement: Placement
  /** How many pages of other ranks are kept; undefined where there is no bound. */
  readonly cachePages: number | undefined
  /** Whether what is fenced is kept by others, too. */
  readonly replicas: 0 | 1
  /** Of a hundred accesses, after how many the process fences what it has written. */
  readonly fences: number
  /** A thread pauses up to so long between two accesses. */
  readonly thinkNs: number
  /** Whether all is over before the region is closed; if not, it is closed under what is still under way. */
  readonly rests: boolean
  readonly hazards: readonly Hazard[]
}

/** What the plan of a seed must be like. */
export interface PlanOptions {
  /** One of these protocols; default: all there are. */
  readonly protocols?: readonly string[]
  /** Only these of its hazards, by their index; default: all. */
  readonly hazards?: readonly number[]
}

/** The plan of a seed. */
export function planSimulation(seed: number, options: PlanOptions = {}): SimulationPlan {
  const stream = new Stream(seed, 'plan', undefined)
  const names = options.protocols ?? [...protocols.keys()]
  const nodes = stream.between(2, 5)
  // Short histories are searched for an order that explains them.
  const short = stream.chance(0.3)
  const count = stream.chance(0.1) ? 0 : stream.between(1, HAZARDS_MAX)
  const hazards = Array.from({ length: count }, (_, index) =>
    drawHazard(new Stream(seed, `hazard ${index}`, undefined), nodes),
  )
  // Enough of them that a cache is too small and that runs of faults are seen.
  const many = !short && stream.chance(0.3)
  return {
    seed,
    protocol: names[stream.below(names.length)]!,
    nodes,
    threads: short ? 1 : stream.between(1, 2),
    pages: many ? stream.between(6, PAGES_MAX) : stream.between(1, 5),
    words: stream.between(1, 4),
    accesses: short ? stream.between(2, 12) : stream.between(10, 200),
    stores: stream.between(0, 60),
    atomics: stream.between(0, 30),
    evictions: stream.chance(0.5) ? 0 : stream.between(1, 20),
    thinkNs: stream.chance(0.5) ? 0 : stream.between(1, 20_000),
    views: VIEWS[stream.below(VIEWS.length)]!,
    copyNs: stream.chance(0.5) ? 0 : stream.between(1, 5000),
    placement: PLACEMENTS[stream.below(PLACEMENTS.length)]!,
    cachePages: stream.chance(0.6) ? undefined : stream.chance(0.3) ? 0 : stream.between(1, 16),
    replicas: stream.chance(0.4) ? 1 : 0,
    fences: stream.chance(0.5) ? 0 : stream.between(1, 20),
    rests: new Stream(seed, 'end', undefined).chance(0.6),
    hazards: hazards.filter((_, index) => options.hazards?.includes(index) ?? true),
  }
}
