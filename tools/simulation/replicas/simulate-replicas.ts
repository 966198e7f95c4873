import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  type Configuration,
  currentNsOf,
  type Entry,
  foundingConfiguration,
  type ReplicaCard,
} from 'aether-dsm/internal/consensus'
import { setTraceLevel, TraceLevel, type TraceMessage } from 'aether-dsm/internal/profiling'
import {
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulationOptions,
  type Stream,
} from 'aether-dsm/internal/providers'
import { checkPartitions, entryModel } from '../../linearizability/index.ts'
import type { Hazard } from '../hazard.ts'
import { ViolationError } from '../observer.ts'
import { AcceptorAudit } from './acceptor-audit.ts'
import { DecidedLog } from './decided-log.ts'
import { ReaderAudit } from './reader-audit.ts'
import { clientsOf, isByRights, type ReplicaPlan } from './replica-plan.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { SimulatedReplica, simulatedSettings } from './simulated-replica.ts'
import type { Strike } from './strike.ts'

const CHANNEL = 'aether:consensus'
/** Longer than all hazards together, and what comes of them. */
const DEADLINE_MS = 1_500
/** What replicas say to each other by another way than their links takes so long. */
const SAY_NS_MIN = 50_000
const SAY_NS_MAX = 500_000
/** Of as many deaths that are told, one is told before. */
const EARLY_EVERY = 3
/** Clocks differ by at most this. */
const SKEW_MS_MAX = 50
const END_OF_PART = { kind: 'crash', keeps: 'nothing', lingerNs: 0, certainNs: 2_000_000, follows: true } as const

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
  using cluster = openSimulatedCluster(plan.seed, { ...optionsOf(plan.hazards), atomics: plan.atomics })
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
    terms: run.log.terms.size,
    entries: run.log.last,
    deaths: run.deaths,
    marks: marks.counts,
  }
}

/** Counts what replicas trace. */
class Marks implements Disposable {
  readonly counts: Map<string, number> = new Map<string, number>()
  /** Called with each replica that wants to lead. */
  onCampaign: (id: number, term: number) => void = () => undefined

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
    if (type === 'campaign') this.onCampaign(Number(fields['replica']), Number(fields['term']))
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

/** Steps of the cluster from one look of a reader to the next. */
const READ_EVERY = 64

class ReplicaRun {
  readonly log: DecidedLog = new DecidedLog()
  readonly #audit = new AcceptorAudit(this.log)
  readonly #readers: ReaderAudit
  /** The term that each replica wanted to lead in last; undefined once it was seen to lead. */
  readonly #wanted = new Map<number, number>()
  /** The term that each wanted to lead in last, and all of them. */
  readonly #terms = new Map<number, number>()
  readonly #used = new Set<number>()
  #usedAgain: string | undefined
  #steps = 0
  readonly #plan: ReplicaPlan
  readonly #founding: Configuration
  readonly #cluster: SimulatedCluster
  readonly #marks: Marks
  /** Strikes that wait for someone who wants to lead. */
  readonly #forCandidate: Strike[] = []
  readonly #says: Stream
  readonly #endRelays: (() => void)[] = []
  /** Each incarnation of each, as they came. */
  readonly #replicas: SimulatedReplica[] = []
  readonly #come = new Set<SimulatedReplica>()
  /** The newest incarnation of each id. */
  readonly #newest = new Map<number, SimulatedReplica>()
  readonly #disks = new Map<number, SimulatedDisk>()
  /** Until when they are told nothing but by their links. */
  readonly #deafUntilNs = new Map<SimulatedReplica, number>()
  /** When the last of what each is told comes. */
  readonly #toldNs = new Map<SimulatedReplica, number>()
  /** Those that have ended and will begin again. */
  readonly #returning = new Set<number>()
  /** Those that have ended for good, or do so within a moment. */
  readonly #doomed = new Set<SimulatedReplica>()
  /** Those of which the others know that they have ended. */
  readonly #certain = new Set<number>()

  constructor(plan: ReplicaPlan, cluster: SimulatedCluster, marks: Marks) {
    this.#plan = plan
    this.#cluster = cluster
    this.#marks = marks
    const currentNs = currentNsOf({ ...simulatedSettings, ...plan.sizes })
    this.#readers = new ReaderAudit(this.log, plan.disks === undefined ? Number.POSITIVE_INFINITY : currentNs / 1e6)
    this.#says = cluster.kernel.stream('says')
    const founders = Array.from({ length: plan.isFoundedByOne ? 1 : plan.replicas }, (_, index) => index + 1)
    this.#founding = foundingConfiguration(founders)
    this.log.configure(this.#founding)
    for (let index = 0; index < plan.replicas; index += 1) this.#add()
    for (const strike of plan.strikes)
      cluster.kernel.at(strike.atNs, () => {
        if (strike.target === 'candidate') this.#forCandidate.push(strike)
        else this.#strike(strike)
      })
    marks.onCampaign = (id, term) => {
      const candidate = this.#newest.get(id)!
      this.#campaigns(candidate, term)
      for (const strike of this.#forCandidate.splice(0, 1))
        cluster.kernel.after(strike.afterNs, () => this.#hit(candidate, strike))
    }
    for (const atNs of plan.joins) cluster.kernel.at(atNs, () => this.#add())
  }

  get calls(): number {
    return this.#replicas.reduce((sum, { history }) => sum + history.length, 0)
  }

  get deaths(): number {
    return this.#replicas.filter(({ isLive }) => !isLive).length
  }

  play(): string | undefined {
    try {
      const isOver = (): boolean => this.#replicas.every(({ isFinished }) => isFinished) && this.#isStruck
      if (!this.#runUntil(isOver))
        throw new ViolationError(`progress: not every call was answered: ${this.#describe()}`)
      const isLevel = (): boolean => this.#living.every(({ applied }) => applied === this.log.last)
      if (!this.#runUntil(() => isOver() && isLevel() && this.#isRid))
        throw new ViolationError(`progress: replicas do not catch up, or keep dead voters: ${this.#describe()}`)
      this.#checkAnswers()
      this.#checkOrder()
      return undefined
    } catch (error) {
      if (error instanceof Error)
        return error.name === 'ViolationError' ? error.message : (error.stack ?? error.message)
      throw error
    }
  }

  #runUntil(isOver: () => boolean): boolean {
    return this.#cluster.runUntil(() => {
      this.#audit.look()
      this.#steps += 1
      if (this.#steps % READ_EVERY === 0) this.#lookAsReader()
      if (this.#usedAgain !== undefined) throw new ViolationError(`terms: one is used twice, ${this.#usedAgain}`)
      return isOver()
    }, DEADLINE_MS)
  }

  close(): void {
    for (const replica of this.#replicas) replica.close()
  }

  get #living(): SimulatedReplica[] {
    return this.#replicas.filter(({ isLive }) => isLive)
  }

  /** With journals a run goes on until all blows have come, and everyone is back. */
  get #isStruck(): boolean {
    const { disks, strikes } = this.#plan
    const lastNs = disks === undefined ? 0 : Math.max(0, ...strikes.map(({ atNs }) => atNs))
    return this.#returning.size === 0 && this.#cluster.nowNs >= lastNs
  }

  /** No one who has ended for certain votes any more. With journals it does until another is there to vote. */
  get #isRid(): boolean {
    if (this.#plan.disks !== undefined && this.#living.length < this.#plan.replicas) return true
    return this.#living.every(
      ({ replica: { configuration } }) => configuration?.voters.some(({ id }) => this.#certain.has(id)) !== true,
    )
  }

  #describe(): string {
    return this.#replicas
      .map(
        ({ id, isLive, applied, replica, isFinished }) =>
          `${id}${isLive ? '' : ' dead'}: ${applied} of ${this.log.last}${replica.isLeader ? ' leads' : ''}${isFinished ? '' : ', has calls left'}, knows ${replica.leaderId ?? 'no'} leader, voters ${replica.configuration?.voters.map((voter) => voter.id).join()}`,
      )
      .join('; ')
  }

  /** A new replica comes, or the one with that id begins again. */
  #add(id = this.#newest.size + 1): void {
    const { seed, replicas, askAgainNs, sizes } = this.#plan
    const founding = this.#founding.voters.some((voter) => voter.id === id) ? this.#founding : undefined
    const disk = this.#diskOf(id)
    const position = this.#replicas.length
    const added = new SimulatedReplica({
      ...{ cluster: this.#cluster, id, disk, seed, founding, votersWanted: replicas, askAgainNs },
      settings: { ...simulatedSettings, ...sizes },
      protocol: isByRights(this.#plan, id) ? 'mu' : 'velos',
      skewMs: this.#says.between(0, SKEW_MS_MAX),
      clients: clientsOf(this.#plan, position),
      say: (from, to, card) => this.#say(from, to, card),
      decided: () => this.log.last,
      onDecided: (replica, entry) => this.#decided(replica, entry),
      onPassed: ({ id: passing }, entry) => {
        this.#marks.add('decided alone')
        this.#audit.pass(passing, entry)
      },
      onApplied: (replica) => this.log.checkState(replica.id, replica.applied, replica.stateText, replica.commands),
      onTurned: (replica) => this.#checkLeader(replica),
    })
    this.#audit.watch(id, added.host, added.replica.memory, disk)
    const comesNs = this.#plan.comesNs[position] ?? 0
    if (comesNs === 0) this.#comes(added)
    else this.#cluster.kernel.at(comesNs, () => this.#comes(added))
    for (const ended of this.#certain) this.#tell(added, () => this.#end(added, ended))
    this.#replicas.push(added)
    this.#newest.set(id, added)
  }

  /** It meets those that have come before. */
  #comes(added: SimulatedReplica): void {
    for (const other of this.#come) {
      if (!other.isLive || other === added) continue
      this.#meet(other, added)
      this.#meet(added, other)
    }
    this.#come.add(added)
  }

  #diskOf(id: number): SimulatedDisk | undefined {
    const { disks } = this.#plan
    const { kernel } = this.#cluster
    if (disks !== undefined && !this.#disks.has(id))
      this.#disks.set(id, new SimulatedDisk(disks, kernel, kernel.stream(`disk ${id}`)))
    return this.#disks.get(id)
  }

  #say(from: SimulatedReplica, to: number, card: ReplicaCard): void {
    const target = from.met.get(to)
    if (target === undefined) throw new ViolationError(`meeting: ${from.id} has a card for ${to}, whom it has not met`)
    this.#tell(target, () => {
      if (this.#knows(target, from)) target.replica.hear(card)
    })
  }

  #meet(one: SimulatedReplica, other: SimulatedReplica): void {
    this.#tell(one, () => {
      if (this.#knows(one, other)) one.replica.meet(other.id)
    })
  }

  /** One hears of another. False if it knows of a newer incarnation by now. */
  #knows(one: SimulatedReplica, other: SimulatedReplica): boolean {
    const known = one.met.get(other.id)
    if (known !== undefined && this.#replicas.indexOf(known) > this.#replicas.indexOf(other)) return false
    one.met.set(other.id, other)
    // It may have been told of the end of one that it had not met.
    if (known !== other && this.#replicas.find(({ id }) => id === other.id) !== other) one.replica.restarted(other.id)
    return true
  }

  #tell(target: SimulatedReplica, what: () => void): void {
    const { kernel } = this.#cluster
    const deafUntilNs = this.#deafUntilNs.get(target)
    const saidNs = Math.max(kernel.nowNs, deafUntilNs ?? 0) + this.#says.between(SAY_NS_MIN, SAY_NS_MAX)
    // What has gathered comes in order: whose end is told later has begun before.
    const atNs = deafUntilNs === undefined ? saidNs : Math.max(saidNs, (this.#toldNs.get(target) ?? 0) + 1)
    this.#toldNs.set(target, atNs)
    kernel.at(atNs, () => {
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

  #hit(struck: SimulatedReplica, { target, pick, blow }: Pick<Strike, 'target' | 'pick' | 'blow'>): void {
    const { kernel } = this.#cluster
    const [host, atNs] = [struck.host.index, kernel.nowNs]
    if (blow.kind === 'crash' && !this.#canLose(struck)) return
    // It ended before: what it was struck by is over.
    if (this.#plan.disks !== undefined && !struck.isLive) return
    this.#marks.add(`${blow.kind} of a ${target}`)
    if (blow.kind === 'pause' || blow.kind === 'slow' || blow.kind === 'link-down')
      this.#cluster.inject({ ...blow, host, atNs })
    else if (blow.kind === 'isolate')
      this.#cut(blow, (from, to) => (blow.out && from === host) || (blow.in && to === host))
    else if (blow.kind === 'relay') this.#relay(host, pick, blow)
    else if (blow.kind === 'part') {
      const other = this.#otherThan(struck, pick)
      this.#cut(blow, (from, to) => (from === host && to === other) || (from === other && to === host))
      if (blow.crashes) kernel.after(blow.forNs, () => this.#hit(struck, { target, pick, blow: END_OF_PART }))
    } else if (blow.kind === 'lossy') {
      for (const { index } of this.#cluster.hosts)
        for (const [from, to] of [[host, index] as const, [index, host] as const])
          if (from !== to) this.#cluster.inject({ ...blow, from, to, atNs })
    } else if (blow.kind === 'delay') {
      const { forNs, delayNs, out } = blow
      const other = this.#otherThan(struck, pick)
      const path = out ? { from: host, to: other } : { from: other, to: host }
      this.#cluster.inject({ kind: 'clog', ...path, atNs, forNs, delayNs })
    } else if (blow.kind === 'split') this.#cut(blow, (from, to) => ((pick >> from) & 1) !== ((pick >> to) & 1))
    else if (blow.kind === 'transfer') {
      const { id } = this.#living[pick % this.#living.length]!
      struck.command(() => {
        if (struck.replica.transfer(id)) this.#marks.add('transferred')
      })
    } else if (blow.kind === 'deaf') this.#deafUntilNs.set(struck, kernel.nowNs + blow.forNs)
    else if (blow.kind === 'restart') this.#restart(struck, blow)
    else if (blow.kind === 'blackout') this.#blackOut(blow, pick)
    else if (blow.kind === 'stall') this.#disks.get(struck.id)?.stall(blow.forNs)
    else {
      const { keeps, lingerNs, certainNs, follows } = blow
      const isEarly = certainNs !== undefined && pick % EARLY_EVERY === 0
      this.#doomed.add(struck)
      if (isEarly) this.#endsSoon(struck)
      this.#cluster.inject({ kind: 'crash', host, atNs: isEarly ? atNs + SAY_NS_MAX : atNs, keeps, lingerNs })
      if (follows) this.#add()
      if (certainNs !== undefined) kernel.after(lingerNs + certainNs, () => this.#ended(struck.id))
    }
  }

  /** Its process has begun to end, and is still at work: others are told that it has ended. */
  #endsSoon(struck: SimulatedReplica): void {
    this.#marks.add('told early')
    for (const other of this.#living) if (other !== struck) this.#tell(other, () => other.replica.ended(struck.id))
  }

  #restart(
    struck: SimulatedReplica,
    { downNs, lingerNs, isCertain }: Extract<Strike['blow'], { kind: 'restart' }>,
  ): void {
    const { kernel } = this.#cluster
    const { id } = struck
    if (!struck.isLive || this.#disks.get(id) === undefined) return
    struck.host.crash(false, lingerNs)
    this.#disks.get(id)!.crash()
    this.#returning.add(id)
    if (isCertain) kernel.after(Math.round(downNs / 2), () => this.#ended(id))
    kernel.after(downNs, () => {
      this.#returning.delete(id)
      this.#certain.delete(id)
      this.#marks.add('restarted')
      this.#add(id)
    })
  }

  /** In a drawn order, those that come back last later than the others. */
  #blackOut({ withinNs, downNs, lateNs, losesOne }: Extract<Strike['blow'], { kind: 'blackout' }>, pick: number): void {
    const { kernel } = this.#cluster
    const stream = kernel.stream('blackout')
    const struck = [...this.#living].sort((one, other) => ((one.id * 7 + pick) % 11) - ((other.id * 7 + pick) % 11))
    const soon = Math.floor(struck.length / 2) + 1
    for (const [place, each] of struck.entries()) {
      const isLost = losesOne && place === struck.length - 1
      kernel.after(stream.between(0, withinNs), () => {
        if (isLost && each.isLive && this.#canLose(each)) {
          each.host.crash(false, 0)
          this.#add()
          this.#ended(each.id)
          return
        }
        const backNs = withinNs + stream.between(1, downNs) + (place < soon ? 0 : lateNs)
        this.#restart(each, { kind: 'restart', downNs: backNs, lingerNs: 0, isCertain: stream.chance(0.5) })
      })
    }
  }

  #otherThan(struck: SimulatedReplica, pick: number): number {
    const others = this.#replicas.filter((each) => each !== struck)
    return others[pick % others.length]!.host.index
  }

  /** The host is cut off from those that are not in `reached`, and the one cut off first is let in again. */
  #relay(host: number, reached: number, { forNs }: { readonly forNs: number }): void {
    const { hosts, network, kernel } = this.#cluster
    const paths = hosts.flatMap(({ index }) =>
      index === host || ((reached >> index) & 1) === 1 ? [] : [network.path(host, index), network.path(index, host)],
    )
    for (const path of paths) path.cuts += 1
    let isOver = false
    const end = (): void => {
      if (!isOver) for (const path of paths) path.cuts -= 1
      isOver = true
    }
    this.#endRelays.push(end)
    if (this.#endRelays.length * 2 >= this.#plan.replicas) this.#endRelays.shift()!()
    kernel.after(forNs, end)
  }

  #cut({ forNs }: { readonly forNs: number }, isCut: (from: number, to: number) => boolean): void {
    const { hosts, nowNs: atNs } = this.#cluster
    for (const { index: from } of hosts)
      for (const { index: to } of hosts)
        if (from !== to && isCut(from, to)) this.#cluster.inject({ kind: 'cut', from, to, atNs, forNs })
  }

  /**
   * Whether a majority is left without it, of the voters that any living replica knows, or would know if it began again
   * now, and once it votes itself. Those that begin again are left.
   */
  #canLose(lost: SimulatedReplica): boolean {
    const isStaying = (each: SimulatedReplica): boolean => each.isLive && !this.#doomed.has(each)
    const staying = [...this.#newest.values()].filter((each) => isStaying(each) || this.#returning.has(each.id))
    const left = new Set(staying.filter((each) => each !== lost).map(({ id }) => id))
    const known = staying.flatMap(({ id, replica }) => {
      const onDisk = this.#disks.get(id)?.configuration
      return onDisk === undefined ? [replica.configuration] : [replica.configuration, onDisk]
    })
    return known.every((configuration) => {
      const voters = new Set([...(configuration?.voters ?? []).map(({ id }) => id), lost.id])
      return [...voters].filter((id) => left.has(id)).length * 2 > voters.size
    })
  }

  #ended(id: number): void {
    if (this.#newest.get(id)!.isLive) return
    this.#certain.add(id)
    for (const other of this.#living) this.#tell(other, () => this.#end(other, id))
  }

  /** It may have heard of one that began again. */
  #end(told: SimulatedReplica, id: number): void {
    if (told.met.get(id)?.isLive !== true) told.replica.ended(id)
  }

  // ---- what must hold
  // ---------------------------------------------------------------------------------------------------------------

  #decided({ id, replica }: SimulatedReplica, entry: Entry): void {
    const { configuration } = replica
    if (configuration === undefined)
      throw new ViolationError(`voters: ${id} has entry ${entry.index}, and does not know who votes`)
    this.log.configure(configuration)
    if (this.log.add(id, entry)) this.#audit.checkDecided(id, entry.index, this.#terms.get(id) ?? 0)
    this.#lookAsReader()
    this.#cluster.kernel.trace.add(entry.index)
  }

  #lookAsReader(): void {
    const configuration = this.log.configurations.at(-1)!
    const heads = [...this.#newest.values()].map(({ replica }) => replica.memory)
    if (this.#readers.look(configuration, heads, this.#cluster.nowNs / 1e6)) this.#marks.add('read by memory')
  }

  /** With a journal, a term that no one was to count may be used again, by the same replica after its end. */
  #campaigns({ id }: SimulatedReplica, term: number): void {
    const disk = this.#disks.get(id)
    // What is thrown here would not reach the run.
    if (disk === undefined ? this.#used.has(term) : disk.promised >= term) this.#usedAgain ??= `${term} by ${id}`
    this.#used.add(term)
    this.#wanted.set(id, term)
    this.#terms.set(id, term)
    this.#audit.lookAtNamed()
  }

  /** Leader completeness: who has begun a term has every entry that was decided in lower ones. */
  #checkLeader({ id, replica, applied }: SimulatedReplica): void {
    const term = this.#wanted.get(id)
    if (term === undefined || !replica.isLeader) return
    this.#wanted.delete(id)
    this.#audit.checkReady(id, term)
    const { last, highestTerm } = this.log
    if (highestTerm <= term && applied < last)
      throw new ViolationError(`leader completeness: ${id} leads, and has ${applied} of ${last} entries`)
  }

  /** What was answered is in the log. */
  #checkAnswers(): void {
    for (const { answered } of this.#replicas)
      for (const each of answered)
        if (!this.log.has(each)) throw new ViolationError(`durability: call ${each} was answered, and is lost`)
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
