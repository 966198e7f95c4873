import { type Entry, foundingConfiguration, type ReplicaCard } from 'aether-dsm/internal/consensus'
import {
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulationOptions,
  Stream,
} from 'aether-dsm/internal/providers'
import { checkPartitions, entryModel } from '../../linearizability/index.ts'
import type { Hazard } from '../hazard.ts'
import { ViolationError } from '../observer.ts'
import type { ReplicaPlan } from './replica-plan.ts'
import { drawCalls } from './replica-plan.ts'
import { SimulatedReplica, simulatedSettings } from './simulated-replica.ts'

/** Longer than all hazards together, and what comes of them. */
const DEADLINE_MS = 4_000
/** What replicas say to each other by another way than their links takes so long. */
const SAY_NS_MIN = 50_000
const SAY_NS_MAX = 500_000

export interface ReplicaRunResult {
  readonly plan: ReplicaPlan
  readonly violation: string | undefined
  readonly traceHash: string
  readonly events: number
  readonly virtualNs: number
  readonly calls: number
  /** Terms that began. */
  readonly terms: number
  readonly entries: number
  readonly deaths: number
  readonly snapshots: number
}

/** Play a plan: replicas in virtual time, their clients, and what goes wrong. */
export function simulateReplicas(plan: ReplicaPlan): ReplicaRunResult {
  using cluster = openSimulatedCluster(plan.seed, optionsOf(plan.hazards))
  const run = new ReplicaRun(plan, cluster)
  const violation = run.play()
  run.close()
  return {
    plan,
    violation,
    traceHash: cluster.traceHash,
    events: cluster.kernel.events,
    virtualNs: cluster.nowNs,
    calls: run.calls,
    terms: run.terms.size,
    entries: run.entries.length,
    deaths: run.deaths,
    snapshots: run.snapshots,
  }
}

function optionsOf(hazards: readonly Hazard[]): SimulationOptions {
  return {
    network: Object.assign({}, ...hazards.map(({ network }) => network ?? {})) as object,
    adapter: Object.assign({}, ...hazards.map(({ adapter }) => adapter ?? {})) as object,
    faults: hazards.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
  }
}

class ReplicaRun {
  /** What was decided, by index from 1 on. */
  readonly entries: string[] = []
  readonly terms: Set<number> = new Set<number>()
  snapshots = 0
  readonly #plan: ReplicaPlan
  readonly #cluster: SimulatedCluster
  readonly #says: Stream
  readonly #replicas: SimulatedReplica[] = []

  constructor(plan: ReplicaPlan, cluster: SimulatedCluster) {
    this.#plan = plan
    this.#cluster = cluster
    this.#says = cluster.kernel.stream('says')
    const founding = foundingConfiguration(Array.from({ length: plan.replicas }, (_, index) => index + 1))
    for (let index = 0; index < plan.replicas; index += 1) this.#add(founding)
    for (const { fault, certainNs } of plan.hazards)
      if (fault?.kind === 'crash' && certainNs !== undefined)
        cluster.kernel.at(fault.atNs + certainNs, () => this.#ended(fault.host))
    for (const atNs of plan.joins) cluster.kernel.at(atNs, () => this.#add(undefined))
  }

  get calls(): number {
    return this.#replicas.reduce((sum, { history }) => sum + history.length, 0)
  }

  get deaths(): number {
    return this.#replicas.filter(({ isLive }) => !isLive).length
  }

  play(): string | undefined {
    try {
      const isOver = (): boolean => this.#replicas.every(({ isFinished }) => isFinished)
      if (!this.#cluster.runUntil(isOver, DEADLINE_MS))
        throw new ViolationError(`progress: not every call was answered: ${this.#describe()}`)
      const isLevel = (): boolean => this.#living.every(({ applied }) => applied === this.entries.length)
      if (!this.#cluster.runUntil(isLevel, DEADLINE_MS))
        throw new ViolationError(`progress: replicas do not catch up: ${this.#describe()}`)
      const states = new Set(this.#living.map(({ stateText }) => stateText))
      if (states.size > 1) throw new ViolationError('agreement: replicas have applied the same, and differ')
      this.#checkOrder()
      return undefined
    } catch (error) {
      if (error instanceof Error)
        return error.name === 'ViolationError' ? error.message : (error.stack ?? error.message)
      throw error
    }
  }

  close(): void {
    for (const replica of this.#replicas) replica.close()
  }

  get #living(): SimulatedReplica[] {
    return this.#replicas.filter(({ isLive }) => isLive)
  }

  #describe(): string {
    return this.#replicas
      .map(
        ({ id, isLive, applied, replica, isFinished }) =>
          `${id}${isLive ? '' : ' dead'}: ${applied} of ${this.entries.length}${replica.isLeader ? ' leads' : ''}${isFinished ? '' : ', has calls left'}, knows ${replica.leaderId ?? 'no'} leader, voters ${replica.configuration?.voters.map((voter) => voter.id).join()}`,
      )
      .join('; ')
  }

  #add(founding: ReturnType<typeof foundingConfiguration> | undefined): void {
    const { seed, clients, replicas, thinkNs } = this.#plan
    const position = this.#replicas.length
    const added = new SimulatedReplica({
      cluster: this.#cluster,
      id: position + 1,
      ...{ seed, founding, votersWanted: replicas, settings: simulatedSettings, thinkNs },
      clients: Array.from({ length: clients }, (_, client) =>
        drawCalls(
          this.#plan,
          new Stream(seed, `client ${position * clients + client}`, undefined),
          position * clients + client,
        ),
      ),
      firstClient: position * clients,
      say: (from, to, card) => this.#say(from, to, card),
      onDecided: (replica, entry) => this.#decided(replica, entry),
    })
    for (const other of this.#living) {
      this.#tell(other, () => other.replica.meet(added.id))
      this.#tell(added, () => added.replica.meet(other.id))
    }
    this.#replicas.push(added)
  }

  #say(_from: SimulatedReplica, to: number, card: ReplicaCard): void {
    const target = this.#replicas[to - 1]
    if (target !== undefined) this.#tell(target, () => target.replica.hear(card))
  }

  #tell(target: SimulatedReplica, what: () => void): void {
    this.#cluster.kernel.after(this.#says.between(SAY_NS_MIN, SAY_NS_MAX), () => {
      if (target.isLive) target.command(what)
    })
  }

  #ended(host: number): void {
    for (const other of this.#living) this.#tell(other, () => other.replica.ended(host + 1))
  }

  #decided({ id }: SimulatedReplica, { index, flags, payload, term }: Entry): void {
    const text = `${flags}/${Buffer.from(payload).toString('latin1')}`
    if ((flags & 1) !== 0) this.terms.add(term)
    const before = this.entries[index - 1]
    if (before === undefined) {
      if (index !== this.entries.length + 1)
        throw new ViolationError(`order: entry ${index} is decided after ${this.entries.length}`)
      this.entries.push(text)
    } else if (before !== text)
      throw new ViolationError(`agreement: at ${index} replica ${id} has ${text.trim()}, another ${before.trim()}`)
    this.#cluster.kernel.trace.add(index)
  }

  #checkOrder(): void {
    const calls = this.#replicas.flatMap(({ history }) => history)
    for (const [key, { verdict }] of checkPartitions(entryModel, calls, (call) => call.key))
      if (verdict !== 'linearizable') throw new ViolationError(`order: calls of key ${key}: ${verdict}`)
  }
}
