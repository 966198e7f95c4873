import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Entry, foundingConfiguration, type ReplicaCard } from 'aether-dsm/internal/consensus'
import { setTraceLevel, TraceLevel, type TraceMessage } from 'aether-dsm/internal/profiling'
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
import { commandsOf, SimulatedReplica, simulatedSettings } from './simulated-replica.ts'
import type { Strike } from './strike.ts'

const CHANNEL = 'aether:consensus'
/** Longer than all hazards together, and what comes of them. */
const DEADLINE_MS = 1_500
/** What replicas say to each other by another way than their links takes so long. */
const SAY_NS_MIN = 50_000
const SAY_NS_MAX = 500_000
/** Clocks differ by at most this. */
const SKEW_MS_MAX = 50

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
  /** How often each thing happened that only some runs meet, by the name under which a replica traces it. */
  readonly marks: ReadonlyMap<string, number>
}

/** Play a plan: replicas in virtual time, their clients, and what goes wrong. */
export function simulateReplicas(plan: ReplicaPlan): ReplicaRunResult {
  using cluster = openSimulatedCluster(plan.seed, optionsOf(plan.hazards))
  using marks = new Marks()
  const run = new ReplicaRun(plan, cluster, marks)
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
    marks: marks.counts,
  }
}

/** Counts what replicas trace. */
class Marks implements Disposable {
  readonly counts: Map<string, number> = new Map<string, number>()
  /** The terms that anyone wanted to lead in. */
  readonly campaigns: number[] = []

  /** Called with each replica that wants to lead. */
  onCampaign: (id: number) => void = () => undefined

  constructor() {
    setTraceLevel(TraceLevel.Debug)
    subscribe(CHANNEL, this.#heard)
  }

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#heard)
  }

  readonly #heard = (message: unknown): void => {
    const { type, fields } = message as TraceMessage
    if (type === 'campaign') {
      this.campaigns.push(Number(fields['term']))
      this.onCampaign(Number(fields['replica']))
    }
    const why = fields['why']
    this.add(why === undefined ? type : `${type}: ${String(why).replace(/\d+/, 'N')}`)
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
  /** Of each leader, and what it had then: each term is checked once. */
  readonly #checkedTerms = new Set<number>()
  /** The term of the newest decided entry that begins one. */
  #beginTerm = 0
  /** Which call of which client is in the log. */
  readonly #decidedCalls = new Set<string>()
  readonly #plan: ReplicaPlan
  readonly #cluster: SimulatedCluster
  readonly #marks: Marks
  /** Strikes that wait for someone who wants to lead. */
  readonly #forCandidate: Strike[] = []
  readonly #says: Stream
  readonly #replicas: SimulatedReplica[] = []
  /** Those of which the others know that they have ended. */
  readonly #certain = new Set<number>()

  constructor(plan: ReplicaPlan, cluster: SimulatedCluster, marks: Marks) {
    this.#plan = plan
    this.#cluster = cluster
    this.#marks = marks
    this.#says = cluster.kernel.stream('says')
    const founding = foundingConfiguration(Array.from({ length: plan.replicas }, (_, index) => index + 1))
    for (let index = 0; index < plan.replicas; index += 1) this.#add(founding)
    for (const strike of plan.strikes)
      cluster.kernel.at(strike.atNs, () => {
        if (strike.target === 'candidate') this.#forCandidate.push(strike)
        else this.#strike(strike)
      })
    marks.onCampaign = (id) => {
      for (const strike of this.#forCandidate.splice(0, 1))
        cluster.kernel.after(strike.afterNs, () => this.#hit(this.#replicas[id - 1]!, strike))
    }
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
      if (!this.#cluster.runUntil(() => isLevel() && this.#isRid, DEADLINE_MS))
        throw new ViolationError(`progress: replicas do not catch up, or keep dead voters: ${this.#describe()}`)
      const states = new Set(this.#living.map(({ stateText }) => stateText))
      if (states.size > 1) throw new ViolationError('agreement: replicas have applied the same, and differ')
      this.#checkAnswers()
      const { campaigns } = this.#marks
      if (new Set(campaigns).size < campaigns.length)
        throw new ViolationError(`terms: one was used twice, of ${campaigns.join(', ')}`)
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

  /** No one who has ended for certain votes any more. */
  get #isRid(): boolean {
    return this.#living.every(
      ({ replica: { configuration } }) => configuration?.voters.some(({ id }) => this.#certain.has(id)) !== true,
    )
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
    const { seed, clients, replicas, thinkNs, sizes } = this.#plan
    const position = this.#replicas.length
    const added = new SimulatedReplica({
      cluster: this.#cluster,
      id: position + 1,
      ...{ seed, founding, votersWanted: replicas, settings: { ...simulatedSettings, ...sizes }, thinkNs },
      skewMs: this.#says.between(0, SKEW_MS_MAX),
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
      onTurned: (replica) => this.#checkLeader(replica),
    })
    for (const other of this.#living) {
      this.#tell(other, () => other.replica.meet(added.id))
      this.#tell(added, () => added.replica.meet(other.id))
    }
    for (const id of this.#certain) this.#tell(added, () => added.replica.ended(id))
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

  // ---- what goes wrong
  // ---------------------------------------------------------------------------------------------------------------

  #strike(strike: Strike): void {
    const leader = this.#living.filter(({ replica }) => replica.isLeader).sort(byTerm)[0]
    const others = this.#living.filter((each) => each !== leader)
    const struck = strike.target === 'leader' ? leader : others[strike.pick % others.length]
    if (struck !== undefined) this.#hit(struck, strike)
  }

  #hit(struck: SimulatedReplica, { target, pick, blow }: Strike): void {
    const { kernel } = this.#cluster
    const [host, atNs] = [struck.host.index, kernel.nowNs]
    if (blow.kind === 'crash' && !this.#canLose(struck)) return
    this.#marks.add(`${blow.kind} of a ${target}`)
    if (blow.kind === 'pause' || blow.kind === 'slow') this.#cluster.inject({ ...blow, host, atNs })
    else if (blow.kind === 'isolate')
      this.#cut(blow, (from, to) => (blow.out && from === host) || (blow.in && to === host))
    else if (blow.kind === 'split') this.#cut(blow, (from, to) => ((pick >> from) & 1) !== ((pick >> to) & 1))
    else if (blow.kind === 'transfer') {
      const { id } = this.#living[pick % this.#living.length]!
      struck.command(() => {
        if (struck.replica.transfer(id)) this.#marks.add('transferred')
      })
    } else {
      const { keeps, lingerNs, certainNs, follows } = blow
      this.#cluster.inject({ kind: 'crash', host, atNs, keeps, lingerNs })
      if (follows) this.#add(undefined)
      if (certainNs !== undefined) kernel.after(lingerNs + certainNs, () => this.#ended(struck.id))
    }
  }

  #cut({ forNs }: { readonly forNs: number }, isCut: (from: number, to: number) => boolean): void {
    const { hosts, nowNs: atNs } = this.#cluster
    for (const { index: from } of hosts)
      for (const { index: to } of hosts)
        if (from !== to && isCut(from, to)) this.#cluster.inject({ kind: 'cut', from, to, atNs, forNs })
  }

  /** Whether a majority is left without it, of the voters that any living replica knows, and once it votes itself. */
  #canLose(lost: SimulatedReplica): boolean {
    const left = new Set(this.#living.filter((each) => each !== lost).map(({ id }) => id))
    return this.#living.every(({ replica: { configuration } }) => {
      const voters = new Set([...(configuration?.voters ?? []).map(({ id }) => id), lost.id])
      return [...voters].filter((id) => left.has(id)).length * 2 > voters.size
    })
  }

  #ended(id: number): void {
    this.#certain.add(id)
    for (const other of this.#living) this.#tell(other, () => other.replica.ended(id))
  }

  // ---- what must hold
  // ---------------------------------------------------------------------------------------------------------------

  #decided({ id }: SimulatedReplica, entry: Entry): void {
    const { index, flags, payload, term, timeMs } = entry
    const text = `${flags}/${term}/${timeMs}/${Buffer.from(payload).toString('latin1')}`
    const before = this.entries[index - 1]
    if (before === undefined) {
      if (index !== this.entries.length + 1)
        throw new ViolationError(`order: entry ${index} is decided after ${this.entries.length}`)
      this.entries.push(text)
      for (const { client, call } of commandsOf(entry)) this.#decidedCalls.add(`${client}/${call}`)
      if ((flags & 1) !== 0) {
        this.#beginTerm = Math.max(term, this.#beginTerm)
        this.terms.add(term)
      }
    } else if (before !== text)
      throw new ViolationError(`agreement: at ${index} replica ${id} has ${text.trim()}, another ${before.trim()}`)
    this.#cluster.kernel.trace.add(index)
  }

  /** Leader completeness: who has begun a term has every entry that was decided in lower ones. */
  #checkLeader({ id, replica, applied }: SimulatedReplica): void {
    if (!replica.isLeader || this.#checkedTerms.has(replica.term)) return
    this.#checkedTerms.add(replica.term)
    if (this.#beginTerm <= replica.term && applied < this.entries.length)
      throw new ViolationError(`leader completeness: ${id} leads, and has ${applied} of ${this.entries.length} entries`)
  }

  /** What was answered is in the log, and the log applied call by call gives the state that replicas have. */
  #checkAnswers(): void {
    for (const { answered } of this.#replicas)
      for (const each of answered)
        if (!this.#decidedCalls.has(each))
          throw new ViolationError(`durability: call ${each} was answered, and is lost`)
  }

  #checkOrder(): void {
    const calls = this.#replicas.flatMap(({ history }) => history)
    for (const [key, { verdict }] of checkPartitions(entryModel, calls, (call) => call.key))
      if (verdict !== 'linearizable') throw new ViolationError(`order: calls of key ${key}: ${verdict}`)
  }
}

function byTerm(one: SimulatedReplica, other: SimulatedReplica): number {
  return other.replica.term - one.replica.term
}
