import { type Protocol, protocols } from '../../dsm/index.ts'
import { openSimulatedCluster, type SimulatedCluster, type SimulationOptions, Stream } from '../../providers/index.ts'
import { drawAccesses } from './access.ts'
import type { Hazard } from './hazard.ts'
import { Observer, ViolationError } from './observer.ts'
import type { SimulationPlan } from './plan.ts'
import { checkSequentialConsistency } from './sequential-consistency.ts'
import { SimulationNode } from './simulation-node.ts'
import { SimulationThread } from './simulation-thread.ts'

const PAGE_BYTES = 256
/** Longer than all hazards together. */
const DEADLINE_MS = 600_000
/** Histories up to so many accesses are searched for an order; the others are checked access by access only. */
const SEARCHED_MAX = 64
/** Distance between the values that two threads store. */
const TAG = 1 << 16

/** What came of a run. */
export interface SimulationResult {
  readonly plan: SimulationPlan
  /** What was violated, or undefined. */
  readonly violation: string | undefined
  /** Equal for two runs that took the same course. */
  readonly traceHash: string
  readonly events: number
  readonly virtualNs: number
  readonly accesses: number
  /** Whether an order of all accesses was looked for, and found. */
  readonly searched: boolean
}

/** Play a plan. `protocol` stands in for the one that the plan names: to show that a mistake is found. */
export function simulate(
  plan: SimulationPlan,
  protocol: Protocol | undefined = protocols.get(plan.protocol),
): SimulationResult {
  if (protocol === undefined) throw new ViolationError(`there is no protocol '${plan.protocol}'`)
  using cluster = openSimulatedCluster(plan.seed, optionsOf(plan.hazards))
  const run = new Run(plan, protocol, cluster)
  const violation = run.play()
  run.close()
  return {
    plan,
    violation,
    traceHash: cluster.traceHash,
    events: cluster.kernel.events,
    virtualNs: cluster.nowNs,
    accesses: run.accesses,
    searched: run.searched,
  }
}

function optionsOf(hazards: readonly Hazard[]): SimulationOptions {
  return {
    network: Object.assign({}, ...hazards.map((hazard) => hazard.network ?? {})) as object,
    adapter: Object.assign({}, ...hazards.map((hazard) => hazard.adapter ?? {})) as object,
    faults: hazards.flatMap((hazard) => (hazard.fault === undefined ? [] : [hazard.fault])),
  }
}

class Run {
  searched = false
  readonly #plan: SimulationPlan
  readonly #cluster: SimulatedCluster
  readonly #observer: Observer
  readonly #nodes: SimulationNode[]
  readonly #threads: SimulationThread[]

  constructor(plan: SimulationPlan, protocol: Protocol, cluster: SimulatedCluster) {
    const { nodes: ranks, pages, threads, seed } = plan
    this.#plan = plan
    this.#cluster = cluster
    const observer = new Observer(ranks, pages, PAGE_BYTES)
    this.#observer = observer
    this.#threads = Array.from(
      { length: ranks * threads },
      (_, index) =>
        new SimulationThread(drawAccesses(plan, new Stream(seed, `thread ${index}`, undefined)), (index + 1) * TAG),
    )
    this.#nodes = Array.from({ length: ranks }, (_, rank) => {
      const own = this.#threads.slice(rank * threads, (rank + 1) * threads)
      const stream = new Stream(seed, `evictions ${rank}`, undefined)
      return new SimulationNode({ cluster, rank, ranks, protocol, observer, threads: own, stream })
    })
    for (const node of this.#nodes)
      for (const peer of this.#nodes) if (peer !== node) node.connect(peer.rank, peer.endpointFor(node.rank))
  }

  get accesses(): number {
    return this.#threads.reduce((sum, { history }) => sum + history.length, 0)
  }

  /** What was violated, if anything. */
  play(): string | undefined {
    try {
      for (const node of this.#nodes) node.start()
      this.#runUntil(() => this.#threads.every(({ done }) => done), 'progress: not every access was made')
      this.#runUntil(
        () => this.#nodes.every(({ engine }) => engine.isQuiescent()),
        'quiescence: something stays under way',
      )
      this.#checkRest()
      this.#checkOrder()
      return undefined
    } catch (error) {
      if (error instanceof Error)
        return error.name === 'ViolationError' ? error.message : (error.stack ?? error.message)
      throw error
    }
  }

  close(): void {
    for (const node of this.#nodes) node.close()
  }

  #runUntil(predicate: () => boolean, otherwise: string): void {
    if (!this.#cluster.runUntil(predicate, DEADLINE_MS)) throw new ViolationError(otherwise)
  }

  /** At rest, homes know every holder, and tables allow what mmus do. */
  #checkRest(): void {
    const ranks = this.#plan.nodes
    for (let page = 0; page < this.#plan.pages; page += 1) {
      const home = this.#nodes[page % ranks]!.engine
      const { owner, sharers } = home.directory(page)
      for (const holder of this.#observer.holders(page)) {
        // With tokens the directory has hints, and rights do not hang on them.
        if (!home.countsTokens && owner !== holder && !sharers.includes(holder))
          throw new ViolationError(`directory: the home of page ${page} does not know that rank ${holder} holds it`)
        if (this.#nodes[holder]!.engine.right(page) === 'none')
          throw new ViolationError(`mmu: rank ${holder} may look at page ${page}, and its table says that it may not`)
      }
    }
  }

  #checkOrder(): void {
    if (this.accesses > SEARCHED_MAX) return
    const verdict = checkSequentialConsistency(this.#threads.map(({ history }) => history))
    if (verdict === 'no')
      throw new ViolationError('sequential consistency: no order of the accesses explains what they saw')
    this.searched = verdict === 'yes'
  }
}
