import { type Protocol, protocols } from 'aether-dsm/internal/dsm'
import {
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulationOptions,
  Stream,
} from 'aether-dsm/internal/providers'
import { drawAccesses } from './access.ts'
import { type Hazard, isDeadly } from './hazard.ts'
import { Observer, ViolationError } from './observer.ts'
import type { SimulationPlan } from './plan.ts'
import { checkSequentialConsistency } from './sequential-consistency.ts'
import { SimulationNode } from './simulation-node.ts'
import { SimulationThread } from './simulation-thread.ts'

const PAGE_BYTES = 256
/** Longer than all hazards together. */
const DEADLINE_MS = 600_000
/** When others know for certain that a process has ended itself. */
const CERTAIN_NS = 50_000_000
/** Histories up to this many accesses are searched for an order. Longer ones are only checked access by access. */
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
  /** Members that died, or found themselves out of the group. */
  readonly deaths: number
  /** Pages that were lost with them. */
  readonly lost: number
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
    deaths: run.deaths,
    lost: run.lost,
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
  readonly #protocol: Protocol
  /** The last epoch that came into force for all of its members. */
  #epoch = 0

  constructor(plan: SimulationPlan, protocol: Protocol, cluster: SimulatedCluster) {
    const { nodes: ranks, pages, threads, seed } = plan
    this.#plan = plan
    this.#cluster = cluster
    this.#protocol = protocol
    const membersMayDie = plan.hazards.some(isDeadly)
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
      return new SimulationNode({
        cluster,
        rank,
        ranks,
        protocol,
        observer,
        threads: own,
        stream,
        membersMayDie,
        onView: () => this.#epochChanged(),
        onEnd: (ended) => this.#tellEnd(ended, CERTAIN_NS),
      })
    })
    for (const { fault, certainNs } of plan.hazards)
      if (fault?.kind === 'crash' && certainNs !== undefined)
        cluster.kernel.at(fault.atNs, () => this.#tellEnd(fault.host, certainNs))
    for (const node of this.#nodes)
      for (const peer of this.#nodes) if (peer !== node) node.connect(peer.rank, peer.endpointFor(node.rank))
  }

  get accesses(): number {
    return this.#threads.reduce((sum, { history }) => sum + history.length, 0)
  }

  get deaths(): number {
    return this.#nodes.filter(({ isLive }) => !isLive).length
  }

  get lost(): number {
    return this.#observer.lostPages
  }

  /** What was violated, if anything. */
  play(): string | undefined {
    try {
      for (const node of this.#nodes) node.start()
      this.#runUntil(() => this.#nodes.every(({ isFinished }) => isFinished), 'progress: not every access was made')
      if (this.#nodes.some(({ isLive, isPaused }) => !isLive || isPaused))
        this.#runUntil(() => this.#isAgreed(), 'membership: live nodes disagree on which nodes are alive')
      this.#runUntil(
        () => this.#living.every(({ engine }) => engine.isQuiescent()),
        'quiescence: something stays in progress',
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

  get #living(): SimulationNode[] {
    return this.#nodes.filter(({ isLive }) => isLive)
  }

  /** All live nodes have the same members, and these are alive. */
  #isAgreed(): boolean {
    const living = this.#living
    return living.every(({ view }) => view.epoch === living[0]!.view.epoch && view.members.length === living.length)
  }

  #tellEnd(ended: number, afterNs: number): void {
    this.#cluster.kernel.after(afterNs, () => {
      for (const node of this.#nodes) if (node.rank !== ended) node.tellEnd(ended)
    })
  }

  /** Once every member of an epoch knows it, no member has anything from ranks that are not members. */
  #epochChanged(): void {
    const views = this.#nodes.map(({ view }) => view)
    const latest = views.reduce((one, other) => (other.epoch > one.epoch ? other : one))
    if (latest.epoch === this.#epoch || latest.members.some((rank) => views[rank]!.epoch < latest.epoch)) return
    this.#epoch = latest.epoch
    for (const node of this.#nodes) {
      if (latest.members.includes(node.rank) || this.#observer.isOut(node.rank)) continue
      this.#observer.goOnWithout(node.rank)
      node.seal()
    }
    this.#observer.epochBegan()
  }

  #runUntil(predicate: () => boolean, otherwise: string): void {
    if (!this.#cluster.runUntil(predicate, DEADLINE_MS)) throw new ViolationError(otherwise)
  }

  /** At rest, homes know every holder, and tables allow what mmus do. */
  #checkRest(): void {
    const [first] = this.#living
    if (first === undefined) return
    for (let page = 0; page < this.#plan.pages; page += 1) {
      const home = this.#nodes[first.engine.homeOf(page)]!
      // It died only just now, and no node knows yet.
      if (!home.isLive) continue
      const { owner, sharers } = home.engine.directory(page)
      for (const holder of this.#observer.holders(page)) {
        if (!this.#nodes[holder]!.isLive) continue
        // With tokens the directory has hints, and rights do not hang on them.
        if (this.#protocol.tokens === undefined && owner !== holder && !sharers.includes(holder))
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
