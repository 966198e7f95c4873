import type { MembershipView } from 'aether-dsm/internal/cluster'
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
import type { SimulationThread } from './simulation-thread.ts'

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
  /** How often a page went back to what was fenced last. */
  readonly restored: number
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
    restored: run.restored,
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
  readonly #protocol: Protocol
  /** The last epoch that came into force for all of its members. */
  #epoch = 0

  constructor(plan: SimulationPlan, protocol: Protocol, cluster: SimulatedCluster) {
    const { nodes, pages, seed } = plan
    this.#plan = plan
    this.#cluster = cluster
    this.#protocol = protocol
    const membersMayDie = plan.hazards.some(isDeadly)
    const observer = new Observer(nodes, pages, PAGE_BYTES, plan.replicas)
    this.#observer = observer
    this.#nodes = Array.from(
      { length: nodes },
      (_, rank) =>
        new SimulationNode({
          ...{ cluster, plan, rank, protocol, observer, membersMayDie },
          programs: Array.from({ length: plan.threads }, (_, index) => {
            const thread = rank * plan.threads + index
            const stream = new Stream(seed, `thread ${thread}`, undefined)
            return {
              isView: stream.below(100) < plan.views,
              accesses: drawAccesses(plan, stream),
              tag: (thread + 1) * TAG,
            }
          }),
          onView: () => this.#epochChanged(),
          onKill: (killed) => {
            this.#nodes[killed]!.kill()
            this.#tellEnd(killed, CERTAIN_NS)
          },
          onEnd: (ended) => this.#tellEnd(ended, CERTAIN_NS),
        }),
    )
    for (const { fault, certainNs } of plan.hazards)
      if (fault?.kind === 'crash' && certainNs !== undefined)
        cluster.kernel.at(fault.atNs, () => this.#tellEnd(fault.host, certainNs))
  }

  get #threads(): SimulationThread[] {
    return this.#nodes.flatMap(({ threads }) => threads)
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

  get restored(): number {
    return this.#observer.restored
  }

  /** What was violated, if anything. */
  play(): string | undefined {
    try {
      const endpoints = this.#nodes.map((node) => node.endpoints)
      for (const node of this.#nodes) node.start(endpoints.map((theirs) => theirs[node.rank]!))
      this.#runUntil(() => this.#nodes.every(({ isFinished }) => isFinished), 'progress: not every access was made')
      if (this.#plan.rests) this.#rest()
      this.#checkOrder()
      for (const node of this.#living) node.closeRegion()
      // The registry, which says that it is closed everywhere, is at the first.
      const isGivenBack = (): boolean =>
        !this.#nodes[0]!.isLive || this.#nodes.every(({ hasGivenBack }) => hasGivenBack)
      this.#runUntil(isGivenBack, 'closing: the memory of a region that all have closed is not given back')
      for (const node of this.#living) node.leave()
      this.#runUntil(() => this.#nodes.every(({ hasLeft }) => hasLeft), 'departure: not every member could leave')
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

  #rest(): void {
    if (this.#nodes.some(({ isLive, isPaused }) => !isLive || isPaused))
      this.#runUntil(() => this.#isAgreed(), 'membership: live nodes disagree on which nodes are alive')
    // What a stopped process would still do, it has done.
    this.#runUntil(() => !this.#nodes.some(({ isPaused }) => isPaused), 'a pause does not end')
    this.#runUntil(() => this.#nodes.every(({ isAtRest }) => isAtRest), 'quiescence: something stays in progress')
    this.#checkRest()
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
    const isComplete = ({ epoch, members }: MembershipView): boolean =>
      members.every((rank) => views[rank]!.epoch === epoch && String(views[rank]!.members) === String(members))
    const latest = views.find((view) => view.epoch > this.#epoch && isComplete(view))
    if (latest === undefined) return
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
    for (let page = 0; page < this.#plan.pages; page += 1) {
      // The home may have died only just now, and no node knows yet.
      const known = this.#living.map((node) => node.describe(page)).find((each) => each?.directory !== undefined)
      for (const holder of this.#observer.holders(page)) {
        if (!this.#nodes[holder]!.isLive) continue
        this.#nodes[holder]!.compare(page)
        const { copy } = this.#nodes[holder]!.describe(page)!
        if (this.#protocol.cache.states[copy]!.right === 'none')
          throw new ViolationError(`mmu: rank ${holder} may look at page ${page}, and its table says that it may not`)
        // With tokens the directory has hints, and rights do not hang on them.
        if (known === undefined || this.#protocol.tokens !== undefined) continue
        const { owner, sharers } = known.directory!
        if (owner !== holder && !sharers.includes(holder))
          throw new ViolationError(`directory: the home of page ${page} does not know that rank ${holder} holds it`)
      }
    }
  }

  #checkOrder(): void {
    // What went back to an older version is in no order with what was seen before.
    if (this.accesses > SEARCHED_MAX || this.restored > 0) return
    const verdict = checkSequentialConsistency(this.#threads.map(({ history }) => history))
    if (verdict === 'no')
      throw new ViolationError('sequential consistency: no order of the accesses explains what they saw')
    this.searched = verdict === 'yes'
  }
}
