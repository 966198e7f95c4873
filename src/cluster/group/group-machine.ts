import { threadId } from 'node:worker_threads'
import { monotonicNow, TraceLevel, traceChannel, type WatchdogMessage } from '../../profiling/index.ts'
import type { AgentContext, Reply } from '../../runtime/index.ts'
import type { RemoteEndpoint } from '../../verbs/index.ts'
import type { ControlPlace } from '../hosts/index.ts'
import { BarrierMachine } from './barrier-machine.ts'
import { type ControlMessage, decodeControl } from './control-message.ts'
import {
  type DoorAnswer,
  type DoorQuestion,
  isIntroductionPart,
  isVisible,
  type MemberCard,
  rankMember,
} from './growth/introduction.ts'
import { MEMBERS_AT_ONCE_MAX } from './growth/limits.ts'
import { MemberAdmission } from './growth/member-admission.ts'
import { LinkMail, type Mail } from './link-mail.ts'
import { LockMachine } from './locks/index.ts'
import {
  type MembershipEffect,
  type MembershipEvent,
  type MembershipGrowth,
  MembershipMachine,
  type MembershipView,
} from './membership-machine.ts'
import { decodeStatement, encodeStatement } from './membership-message.ts'
import { Mesh } from './mesh.ts'
import { MeshChannel } from './mesh-channel.ts'
import type { PeerEnds } from './peer-ends.ts'
import { isPostingQuestion, Postings } from './postings.ts'
import type { RankMember } from './rank-member.ts'
import { RegionRegistry, type RegistryAnswer } from './region-registry.ts'
import { ViewBarrier } from './view-barrier.ts'
import { BarrierWaits, GroupWatch, isWatchQuestion, LeaveWaits, LockWaits, type ShownWaits } from './waits/index.ts'

/** What the agent of a group is started with. */
export interface GroupStart {
  readonly rank: number
  readonly size: number
  readonly device: string
  /** Where this rank is told of the ends of ranks that it cannot see. */
  readonly control: ControlPlace | undefined
  readonly barrierWords: SharedArrayBuffer
  readonly leaseMs: number
  readonly onQuorumLost?: 'end' | 'wait'
  /** Undefined for a group whose ranks are all there at first. */
  readonly growth?: GroupGrowth
}

/** Where this rank begins in a group that grows. */
export interface GroupGrowth extends MembershipGrowth {
  readonly card: MemberCard
  /** Of the members of the view, in its order. */
  readonly cards: readonly MemberCard[]
}

/** How a peer is reached. */
export interface GroupPeer {
  readonly rank: number
  readonly endpoint: RemoteEndpoint
  /** Undefined if its process number has no meaning here. */
  readonly processId: number | undefined
  /** The longest packet, in bytes; undefined if that does not apply. */
  readonly pathMtu: number | undefined
}

/** What the agent tells the main thread without being asked. */
export type GroupNote =
  | { readonly type: 'left' | 'died'; readonly rank: number; readonly reason: string }
  /** A process has become a member. */
  | { readonly type: 'joined'; readonly member: RankMember }
  /** This rank is a member, and knows which barrier is next. */
  | { readonly type: 'admitted' }
  /** The group goes on without this candidate. */
  | { readonly type: 'refused'; readonly why: string }
  /** A wait has lasted too long. */
  | { readonly type: 'watchdog'; readonly message: WatchdogMessage }
  /** The program of another rank sends something to this one's. */
  | { readonly type: 'told'; readonly rank: number; readonly topic: string; readonly value: unknown }
  /** There is something about links, which the program fetches. */
  | { readonly type: 'mail' }

/** What the program fetches when it connects to other ranks' programs. */
export interface LinksSaid extends Mail {
  readonly gone: readonly (readonly [rank: number, how: 'left' | 'died'])[]
}

const trace = traceChannel('cluster')
const COORDINATOR = 0
/**
 * The longest time between two signs of life; there are at least five per lease. On a network, sending one also fails
 * if the peer has ended.
 */
const BEAT_NS_MAX = 1e9
const BEATS_PER_LEASE = 5
/** How long a candidate that is not admitted takes to say so to those who are ready for it. */
const WITHDRAWAL_NS_MAX = 2e8
/** How long a member that leaves waits until the others have its farewell. A member that is stopped takes it later. */
const FAREWELL_NS_MAX = 2e9
/** Ends the process: the others continue without it, or might. */
const REMOVED_EXIT_CODE = 72
const gone: RegistryAnswer = { kind: 'gone', rank: COORDINATOR }

/** Another part of the agent that listens to the group. */
export interface GroupListener {
  message(from: number, bytes: Uint8Array): void
  /** A rank is out of the group. Its messages have all been handled, and no more will come. */
  memberDied(rank: number): void
  /** The view of the members has changed. Members that it no longer contains were reported one by one. */
  viewChanged(view: MembershipView): void
  /** No rank has region `id` open any more. */
  regionFree(id: number): void
  /** Answer a question of another rank. */
  answer(question: unknown): unknown
}

/** The agent's side of a group: mesh, membership, barrier, registry of regions, departures. */
export class GroupMachine {
  readonly mesh: Mesh
  readonly #context: AgentContext
  readonly #start: GroupStart
  readonly #barrier: BarrierMachine | ViewBarrier
  /** In a group that grows. */
  readonly #admission: MemberAdmission | undefined
  #isConnected = false
  /** What came before this candidate was a member. */
  #heldBack: { readonly from: number; readonly bytes: Uint8Array }[] = []
  /** Ranks that have said that they leave, and are in the view still. */
  readonly #leavers = new Set<number>()
  readonly locks: LockMachine
  readonly watch: GroupWatch
  readonly postings: Postings
  /** The processes of ranks that can be seen. */
  readonly #processes = new Map<number, number>()
  #leavingSinceNs = 0
  readonly #membership: MembershipMachine
  readonly #beatNs: number
  /** What the membership requested and is not done yet, in order. */
  readonly #effects: MembershipEffect[] = []
  readonly #mail = new LinkMail()
  /** Only the coordinator's is used. */
  readonly #registry = new RegionRegistry()
  readonly #gone = new Map<number, 'left' | 'died'>()
  /** Questions under way, by token: the rank asked, and what to do with the answer. */
  readonly #asked = new Map<
    number,
    { readonly rank: number; readonly done: (answer: unknown) => void; readonly ifGone: unknown }
  >()
  #listener: GroupListener | undefined
  #nextToken = 1
  #leaving: Reply | undefined
  /** This rank has left: nothing is requested any more. */
  #hasLeft = false
  /** True once every rank has been here. */
  #complete = false

  constructor(context: AgentContext, start: GroupStart, ends: PeerEnds, waits: ShownWaits) {
    this.#context = context
    this.#start = start
    const { growth } = start
    this.mesh = new Mesh({
      rank: start.rank,
      size: start.size,
      ...(growth && { peers: growth.view.members, peersMax: MEMBERS_AT_ONCE_MAX }),
      device: start.device,
      ends,
      onMessage: ({ from, bytes }) => this.#receive(from, bytes),
      onEnd: (rank, why) => this.#trouble({ type: 'ended', rank, why }),
      onStuck: (rank) => this.#endWith(rank),
      onSuspicion: (rank, why) => this.#trouble({ type: 'suspected', rank, why }),
    })
    const leaseNs = start.leaseMs * 1e6
    this.#beatNs = Math.min(BEAT_NS_MAX, leaseNs / BEATS_PER_LEASE)
    this.#membership = new MembershipMachine({ ...start, leaseNs, beatNs: this.#beatNs })
    const words = new Int32Array(start.barrierWords)
    const send = (rank: number, bytes: Uint8Array): void => this.mesh.send(rank, bytes)
    this.#barrier =
      growth === undefined ? new BarrierMachine({ ...start, words, send }) : this.#viewBarrier(growth, words)
    const members = growth && [...growth.view.members, ...(growth.candidate === undefined ? [] : [start.rank])]
    this.locks = new LockMachine({ ...start, send, ...(members && { members }) })
    this.watch = this.#newWatch(waits, words)
    this.postings = new Postings({
      rank: start.rank,
      others: () => this.#others(),
      ask: (rank, question, done) => this.ask(rank, question, done),
    })
    this.#admission = growth && this.#newAdmission(growth)
    if (growth !== undefined && growth.candidate === undefined) this.#begin()
  }

  #newAdmission(growth: GroupGrowth): MemberAdmission {
    return new MemberAdmission(growth, {
      rank: this.#start.rank,
      leaseMs: this.#start.leaseMs,
      mesh: this.mesh,
      membership: this.#membership,
      hasLeft: () => this.#hasLeft,
      ask: (rank, question, done) => this.ask(rank, question, done),
      admit: (candidate) => this.#step({ type: 'admit', candidate }),
    })
  }

  #viewBarrier({ view, candidate }: GroupGrowth, words: Int32Array): ViewBarrier {
    return new ViewBarrier({
      rank: this.#start.rank,
      words,
      view,
      isCandidate: candidate !== undefined,
      send: (rank, bytes) => this.mesh.send(rank, bytes),
      onBegin: () => this.#context.notify({ type: 'admitted' } satisfies GroupNote),
    })
  }

  #newWatch(shown: ShownWaits, barrierWords: Int32Array): GroupWatch {
    const watch = new GroupWatch({
      rank: this.#start.rank,
      runtime: this.#context.runtime,
      ...shown,
      thread: threadId,
      others: () => this.#others(),
      processOf: (rank) => this.#processes.get(rank),
      ask: (rank, question, done) => this.ask(rank, question, done),
      notify: (message) => this.#context.notify({ type: 'watchdog', message } satisfies GroupNote),
    })
    watch.add(new BarrierWaits(barrierWords))
    watch.add(new LockWaits(this.locks))
    watch.add(new LeaveWaits(() => this.#leaving && { sinceNs: this.#leavingSinceNs, ranks: this.#others() }))
    return watch
  }

  /** The other ranks that are present and have not left. */
  #others(): number[] {
    const { growth, size } = this.#start
    const ranks = growth === undefined ? Array.from({ length: size }, (_, rank) => rank) : this.view.members
    return ranks.filter((rank) => rank !== this.#start.rank && !this.#gone.has(rank))
  }

  listen(listener: GroupListener): void {
    this.#listener = listener
  }

  get descriptors(): number[] {
    return this.mesh.descriptors
  }

  turn(): boolean {
    const any = this.mesh.turn()
    if (!this.#complete && this.#start.growth === undefined && this.#barrier.passed > 0) this.#begin()
    return this.#barrier.turn() || any
  }

  prepareSleep(): boolean {
    return this.mesh.prepareSleep()
  }

  /** How each peer reaches us. */
  endpoints(): RemoteEndpoint[] {
    const { rank, size } = this.#start
    const none: RemoteEndpoint = { gid: 0n, queuePairNumber: 0, psn: 0 }
    const isAbsent = (peer: number): boolean => this.#grows && !this.view.members.includes(peer)
    const endpoints = Array.from({ length: size }, (_, peer) =>
      peer === rank || isAbsent(peer) ? none : this.mesh.endpointFor(peer),
    )
    const gid = endpoints.find((endpoint) => endpoint.gid !== 0n)?.gid ?? 0n
    return endpoints.map((endpoint) => ({ ...endpoint, gid }))
  }

  /** Connect to the peers. Returns the ranks that have ended in the meantime. */
  connect(peers: readonly GroupPeer[]): number[] {
    for (const { rank, processId } of peers) if (processId !== undefined) this.#processes.set(rank, processId)
    const ended = peers.filter(({ rank, ...peer }) => !this.mesh.connect(rank, peer)).map(({ rank }) => rank)
    this.#isConnected = ended.length === 0
    return ended
  }

  /** The first barrier, which ends `join()`, has ended here: from now on the group outlives its members. */
  #begin(): void {
    this.#complete = true
    trace.publish(TraceLevel.Info, 'complete', () => ({ members: this.#start.size, device: this.#start.device }))
    this.watch.begin()
    this.#beat()
  }

  #beat(): void {
    const { now, timers } = this.#context.runtime
    // All other ranks have left or died: there is none left to wait for, and none waits for us.
    if (this.#isAlone() || (this.#grows && this.#hasLeft)) return
    this.#step({ type: 'tick', heard: this.mesh.takeHeard() })
    timers.at(now() + this.#beatNs, () => this.#beat())
  }

  #isAlone(): boolean {
    return this.#hasLeft && this.#gone.size === this.#start.size - 1
  }

  get #grows(): boolean {
    return this.#start.growth !== undefined
  }

  #trouble(event: MembershipEvent & { readonly rank: number }): void {
    const { rank, why } = event as { rank: number; why: string }
    if (this.#grows) {
      if (!this.#hasLeft) this.#step(event)
      return
    }
    // A rank that has left stays until all have. If it ends after we left, its end does not matter.
    if (this.#hasLeft && this.#gone.get(rank) === 'left') return
    trace.publish(TraceLevel.Warn, event.type, () => ({ of: rank, why }))
    if (this.#complete) this.#step(event)
    // If the group is not complete yet, it never will be.
    if (!this.#complete || this.#hasLeft) this.#remove(rank, why)
  }

  #step(event: MembershipEvent): void {
    const { size } = this.#start
    // Burying a rank handles what it has sent, which may be a step within a step. Its effects come after those of the
    // outer one.
    const isOutermost = this.#effects.length === 0
    this.#effects.push(...this.#membership.step(event, this.#context.runtime.now()))
    if (!isOutermost) return
    for (let effect = this.#effects[0]; effect !== undefined; effect = this.#effects[0]) {
      if (effect.type === 'state') this.mesh.send(effect.to, encodeStatement(effect.statement, size))
      else if (effect.type === 'view') this.#install(effect.view, effect.gone, effect.joined)
      else if (this.#isNew) this.#refused(effect.why)
      else this.#endProcess(effect.why)
      this.#effects.shift()
    }
  }

  #install(
    view: MembershipView,
    gone: readonly { readonly rank: number; readonly why: string }[],
    joined?: { readonly rank: number; readonly candidate: number },
  ): void {
    for (const { rank, why } of gone) this.#remove(rank, why)
    if (joined?.rank === this.#start.rank) this.#begin()
    else if (joined !== undefined) this.#promote(joined.rank, joined.candidate)
    this.#admission?.dropCandidates()
    if (this.#barrier instanceof ViewBarrier) this.#barrier.viewChanged(view)
    if (this.#admission !== undefined && !view.members.some((rank) => this.#admission?.isAtSeed(rank)))
      this.#endProcess('no member is left on a machine that has the address of a seed, where others are met')
    trace.publish(TraceLevel.Info, 'epoch', () => ({ epoch: view.epoch, members: view.members }))
    this.#listener?.viewChanged(view)
    const heldBack = this.#heldBack
    this.#heldBack = []
    for (const { from, bytes } of heldBack) this.#handle(from, bytes)
  }

  // ---- a group that grows
  // ----------------------------------------------------------------------------------------------------------------

  /** What a process that wants to join asks. */
  atDoor(question: DoorQuestion, done: (answer: DoorAnswer) => void): void {
    this.#admission?.atDoor(question, done)
  }

  /** It has no quorum. What the others do, it may not hear. */
  get isStuck(): boolean {
    return this.#membership.isStuck
  }

  /** A member that is met at a seed has this view. */
  overheard(view: MembershipView): void {
    this.#step({ type: 'overheard', view })
  }

  /** The view whose members were in the last barrier: collectives are theirs. */
  get barrierView(): MembershipView {
    return this.#barrier instanceof ViewBarrier ? this.#barrier.passedView : this.view
  }

  /** The members have agreed on a candidate. One that this rank knows nothing of cannot be reached. */
  #promote(rank: number, candidate: number): void {
    const { own } = this.#admission!
    const card = this.#admission!.promote(rank, candidate)
    this.locks.memberJoined(rank)
    if (card === undefined) {
      this.#later({ type: 'suspected', rank, why: 'it is not known here' })
      return
    }
    this.#context.notify({ type: 'joined', member: rankMember(rank, card, own) } satisfies GroupNote)
    if (!isVisible(own, card)) return
    this.#processes.set(rank, card.processId)
    if (!this.mesh.watch(rank, card.processId)) this.#later({ type: 'ended', rank, why: 'its process ended' })
  }

  /** Not within a step. */
  #later(event: MembershipEvent & { readonly rank: number }): void {
    const { now, timers } = this.#context.runtime
    timers.at(now(), () => this.#trouble(event))
  }

  /** It is a candidate, or does not know yet which barrier is next: its program is not in the group. */
  get #isNew(): boolean {
    return this.#membership.isCandidate || this.#barrier.passed < 0
  }

  #refused(why: string): void {
    this.#hasLeft = true
    this.#context.notify({ type: 'refused', why } satisfies GroupNote)
  }

  /** A member goes: the others go on when they have agreed on that. */
  #depart(reply: Reply): void {
    const { isCandidate } = this.#membership
    this.#hasLeft = true
    if (isCandidate && !this.#isConnected) {
      reply.resolve(undefined)
      return
    }
    if (!isCandidate) this.locks.leave()
    for (const rank of this.#leavers) this.mesh.bury(rank)
    this.#broadcast({ op: 'leave', passed: 0 })
    // A member does without it if it is stopped, or knows no such candidate any more.
    let isOver = false
    const end = (): void => {
      if (!isOver) reply.resolve(undefined)
      isOver = true
    }
    this.mesh.afterWrites(end)
    const { now, timers } = this.#context.runtime
    timers.at(now() + (isCandidate ? WITHDRAWAL_NS_MAX : FAREWELL_NS_MAX), end)
  }

  #endProcess(why: string): void {
    if (this.#isAlone() || (this.#grows && this.#hasLeft)) return
    const { rank } = this.#start
    trace.publish(TraceLevel.Error, 'removed', () => ({ why }))
    this.#context.exit(
      REMOVED_EXIT_CODE,
      `aether: rank ${rank} is out of its group: ${why}. The process ends, so that it does not work with stale data.`,
    )
  }

  /** Nothing keeps rank `rank` from writing into memory of this process that is about to be used again. */
  #endWith(rank: number): never {
    this.#context.exit(
      REMOVED_EXIT_CODE,
      `aether: rank ${rank} is out of the group, but is stopped in the middle of a WRITE into the memory of rank ${this.#start.rank} and cannot be killed. Rank ${this.#start.rank} ends, because that WRITE could still change its memory.`,
    )
  }

  /** The members of the group. */
  get view(): MembershipView {
    return this.#membership.view
  }

  isAlive(rank: number): boolean {
    return this.mesh.isAlive(rank)
  }

  /** The parameters of a region that exists, without opening it. */
  lookUpRegion(name: string, done: (answer: RegistryAnswer) => void): void {
    if (this.#start.rank === COORDINATOR) {
      done(this.#registry.lookUp(name))
    } else if (this.#gone.has(COORDINATOR)) {
      done(gone)
    } else {
      this.#control(COORDINATOR, {
        op: 'lookUp',
        token: this.#remember(COORDINATOR, done as (answer: unknown) => void, gone),
        name,
      })
    }
  }

  /** Ask the registry. */
  openRegion(name: string, parameters: string | undefined, done: (answer: RegistryAnswer) => void): void {
    if (this.#start.rank === COORDINATOR) {
      done(this.#registry.open(COORDINATOR, name, parameters))
    } else if (this.#gone.has(COORDINATOR)) {
      done(gone)
    } else {
      const token = this.#remember(COORDINATOR, done as (answer: unknown) => void, gone)
      this.#control(COORDINATOR, { op: 'open', token, name, parameters: parameters ?? null })
    }
  }

  /** Ask rank `rank`'s listener. `done` gets its answer; undefined if the rank is gone. */
  ask(rank: number, question: unknown, done: (answer: unknown) => void): void {
    if (this.#gone.has(rank)) done(undefined)
    else this.#control(rank, { op: 'ask', token: this.#remember(rank, done, undefined), question })
  }

  /** Send something to the program of rank `rank`; lost if that rank is gone. */
  tell(rank: number, topic: string, value: unknown): void {
    if (!this.#gone.has(rank)) this.#control(rank, { op: 'tell', topic, value })
  }

  /** Say something about links to the program of rank `rank`; lost if that rank is gone. */
  sayOfLinks(rank: number, value: unknown): void {
    if (!this.#gone.has(rank)) this.#control(rank, { op: 'link', value })
  }

  /** What was said of links, from number `from` on, and who is gone. */
  linksSaid(from: number): LinksSaid {
    return { ...this.#mail.fetch(from), gone: [...this.#gone] }
  }

  /** The program's connection to a rank that may be alive has broken. */
  suspect(rank: number, why: string): void {
    if (!this.#gone.has(rank)) this.#trouble({ type: 'suspected', rank, why })
  }

  /** This rank no longer needs the name. `done` is called when the registry knows. */
  closeRegion(name: string, done: () => void): void {
    if (this.#start.rank === COORDINATOR) {
      this.#freed(this.#registry.close(COORDINATOR, name))
      done()
    } else if (this.#gone.has(COORDINATOR)) {
      done()
    } else {
      this.#control(COORDINATOR, { op: 'close', token: this.#remember(COORDINATOR, done, undefined), name })
    }
  }

  /** Leave the group. The reply comes when every other rank has left too or is dead. Until then this agent serves. */
  leave(reply: Reply): void {
    if (this.#grows) {
      this.#depart(reply)
      return
    }
    this.#leaving = reply
    this.#leavingSinceNs = monotonicNow()
    this.#hasLeft = true
    this.locks.leave()
    this.#broadcast({ op: 'leave', passed: this.#barrier.passed })
    this.#maybeLeft()
  }

  close(): void {
    this.watch.close()
    this.mesh.close()
  }

  #receive(from: number, bytes: Uint8Array): void {
    // Members may say more to a new one than that it is one, and before that.
    if (this.#membership.isCandidate && bytes[0] !== MeshChannel.Membership)
      this.#heldBack.push({ from, bytes: bytes.slice() })
    else this.#handle(from, bytes)
  }

  #handle(from: number, bytes: Uint8Array): void {
    switch (bytes[0]) {
      case MeshChannel.Nothing:
        break
      case MeshChannel.Barrier:
        if (!this.#barrier.receive(from, bytes)) this.mesh.reject(from)
        break
      case MeshChannel.Locks:
        if (!this.locks.receive(from, bytes)) this.mesh.reject(from)
        break
      case MeshChannel.Control:
        this.#obeyIfSound(from, decodeControl(bytes.subarray(1)))
        break
      case MeshChannel.Membership:
        this.#hearStatement(from, bytes)
        break
      default:
        this.#listener?.message(from, bytes)
    }
  }

  #hearStatement(from: number, bytes: Uint8Array): void {
    const statement = decodeStatement(bytes, this.#start.size)
    if (statement === undefined) this.mesh.reject(from)
    else if (!this.#isAlone() && !(this.#grows && this.#hasLeft)) this.#step({ type: 'stated', from, statement })
  }

  #obeyIfSound(from: number, control: ControlMessage | undefined): void {
    if (control === undefined) this.mesh.reject(from)
    else this.#obey(from, control)
  }

  #obey(from: number, control: ControlMessage): void {
    switch (control.op) {
      case 'leave':
        if (this.#grows) {
          this.#leavers.add(from)
          // A member that leaves as well does not wait until the others have agreed on that.
          if (this.#hasLeft) this.mesh.bury(from)
          this.#later({ type: 'ended', rank: from, why: 'it left the group' })
        } else this.#end(from, 'left', 'it left the group', control.passed)
        break
      case 'open': {
        const answer = this.#registry.open(from, control.name, control.parameters ?? undefined)
        this.#control(from, { op: 'opened', token: control.token, answer })
        break
      }
      case 'lookUp':
        this.#control(from, { op: 'opened', token: control.token, answer: this.#registry.lookUp(control.name) })
        break
      case 'opened':
      case 'answer':
        this.#asked.get(control.token)?.done(control.answer)
        this.#asked.delete(control.token)
        break
      case 'ask':
        this.#control(from, { op: 'answer', token: control.token, answer: this.#answer(control.question) })
        break
      case 'close':
        this.#freed(this.#registry.close(from, control.name))
        this.#control(from, { op: 'answer', token: control.token, answer: null })
        break
      case 'free':
        this.#listener?.regionFree(control.id)
        break
      case 'tell':
        this.#context.notify({
          type: 'told',
          rank: from,
          topic: control.topic,
          value: control.value,
        } satisfies GroupNote)
        break
      case 'link':
        this.#mail.put({ rank: from, value: control.value })
        this.#context.notify({ type: 'mail' } satisfies GroupNote)
    }
  }

  #answer(question: unknown): unknown {
    if (isIntroductionPart(question)) return this.#admission?.meet(question) ?? null
    if (isWatchQuestion(question)) return this.watch.answer(question)
    if (isPostingQuestion(question)) return this.postings.answer(question)
    return this.#listener?.answer(question) ?? null
  }

  /** Rank `rank` is out of the group. */
  #remove(rank: number, reason: string): void {
    this.mesh.bury(rank)
    if (this.#gone.get(rank) === 'died') return
    this.#processes.delete(rank)
    this.#admission?.forget(rank)
    this.#listener?.memberDied(rank)
    this.locks.memberDied(rank)
    this.#end(rank, this.#leavers.delete(rank) ? 'left' : 'died', reason)
    for (const id of this.#registry.memberEnded(rank)) this.#freed(id)
  }

  #end(rank: number, type: 'left' | 'died', reason: string, passed?: number): void {
    this.#gone.set(rank, type)
    trace.publish(type === 'left' ? TraceLevel.Info : TraceLevel.Warn, type, () => ({ of: rank, why: reason }))
    for (const [token, asked] of this.#asked) {
      if (asked.rank !== rank) continue
      this.#asked.delete(token)
      asked.done(asked.ifGone)
    }
    if (this.#barrier instanceof ViewBarrier) this.#leavers.delete(rank)
    else if (passed === undefined) this.#barrier.memberDied(rank)
    else this.#barrier.memberLeft(rank, passed)
    this.#context.notify({ type, rank, reason } satisfies GroupNote)
    this.#maybeLeft()
  }

  #maybeLeft(): void {
    if (this.#leaving === undefined || this.#gone.size < this.#start.size - 1) return
    this.#leaving.resolve(undefined)
    this.#leaving = undefined
  }

  #freed(id: number | undefined): void {
    if (id === undefined) return
    this.#broadcast({ op: 'free', id })
    this.#listener?.regionFree(id)
  }

  #remember(rank: number, done: (answer: unknown) => void, ifGone: unknown): number {
    const token = this.#nextToken++
    this.#asked.set(token, { rank, done, ifGone })
    return token
  }

  #broadcast(control: ControlMessage): void {
    const { growth, size, rank } = this.#start
    const ranks = growth === undefined ? Array.from({ length: size }, (_, peer) => peer) : this.view.members
    for (const peer of ranks) if (peer !== rank) this.#control(peer, control)
  }

  #control(to: number, control: ControlMessage): void {
    const text = Buffer.from(JSON.stringify(control))
    const bytes = new Uint8Array(1 + text.length)
    bytes[0] = MeshChannel.Control
    bytes.set(text, 1)
    this.mesh.send(to, bytes)
  }
}
