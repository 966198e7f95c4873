import process from 'node:process'
import { type CollectiveCall, Collectives } from '../../collectives/index.ts'
import type { PeerGroup, ShrinkOptions, VerbsLink } from '../../messaging/index.ts'
import { AetherError, ArgumentError, ClosedError, checkFunction, mustBe } from '../../native/index.ts'
import { identifyTrace, type Profile, publishWatchdog } from '../../profiling/index.ts'
import type { Agent } from '../../runtime/index.ts'
import { checkAttached } from '../../verbs/index.ts'
import { type Barrier, type BarrierOptions, checkBarrier, checkBarrierSync } from './barrier.ts'
import type { GroupNote, LinksSaid } from './group-machine.ts'
import { type HeldLock, type LockRequest, Locks } from './locks/index.ts'
import type { MeetingPlace } from './meeting.ts'
import type { MembershipView } from './membership-machine.ts'
import { MESSAGE_BYTES_MAX } from './mesh-limits.ts'
import type { NoteBox } from './note-box.ts'
import type { RankMember } from './rank-member.ts'
import { makeRankPrograms, type RankMessage, type RankPrograms } from './rank-programs.ts'
import { Topics } from './topics.ts'
import type { GroupWaits } from './waits/index.ts'

/** How long the agent may take to answer a blocked thread. */
const AGENT_MS = 10_000

/** A rank left or died; or joined, in a group that grows. */
export interface GroupEvent {
  readonly type: 'left' | 'died' | 'joined'
  readonly rank: number
  /** The cause, as a sentence. */
  readonly reason: string
}

/** What a group consists of; for the rooms above, which add regions to it. */
export interface GroupParts {
  readonly rank: number
  /** The number of ranks; in a group that grows, how many it can give. */
  readonly size: number
  /** Members come and go, and the number of ranks with them. */
  readonly grows: boolean
  readonly meeting: MeetingPlace
  readonly agent: Agent
  readonly barrier: Barrier
  readonly ranks: readonly RankMember[]
}

/**
 * N ranks that compute together. Made by `join()`.
 *
 * Leaving is collective, as MPI_Finalize is: an agent serves the pages it holds until every other rank has left too, so
 * `close()` resolves then. A process that ends without it is dead to the others.
 *
 * In a group that grows (`join({ name, seeds })`) each rank is given once, and members leave one by one.
 */
export abstract class Group extends Collectives implements AsyncDisposable {
  readonly rank: number
  protected readonly parts: GroupParts
  protected readonly locks: Locks
  /** By rank. */
  readonly #ranks: Map<number, RankMember>
  /** In a group that grows: the view whose members were in the last barrier. */
  #barrierView: MembershipView | undefined
  readonly #listeners = new Set<(event: GroupEvent) => void>()
  readonly #topics = new Topics()
  readonly #gone = new Map<number, 'left' | 'died'>()
  readonly #onBeforeExit = (): void => void this.close()
  /** Made when they are first needed. */
  #programs: RankPrograms | undefined
  #closing: Promise<void> | undefined

  protected constructor(parts: GroupParts, notes: NoteBox) {
    super()
    this.parts = parts
    this.locks = new Locks(parts.agent)
    this.rank = parts.rank
    identifyTrace({ rank: this.rank })
    this.#ranks = new Map(parts.ranks.map((each) => [each.rank, each]))
    notes.open((note) => this.#hear(note))
    // A program that runs to its end without close() still leaves in order.
    process.once('beforeExit', this.#onBeforeExit)
  }

  /** Whether members come and go: it was joined with `{ name, seeds }`. */
  get grows(): boolean {
    return this.parts.grows
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** The number of ranks; in a group that grows, of the present members. */
  get size(): number {
    return this.parts.grows ? this.#ranks.size : this.parts.size
  }

  /** Every rank with its process and the name of its machine, by rank. In a group that grows, the present members. */
  members(): readonly { readonly rank: number; readonly processId: number; readonly host: string }[] {
    return [...this.#ranks.values()].map(({ rank, processId, host }) => ({ rank, processId, host }))
  }

  /** Name of the verbs device that connects the ranks. */
  get device(): string {
    return this.parts.meeting.device
  }

  /**
   * Counters of a rank's threads (by default this rank's), read from shared memory without disturbing them. Undefined
   * for a rank of another machine, and once another member has taken its slot.
   */
  profile(): Profile
  profile(rank: number): Profile | undefined
  profile(rank: number = this.rank): Profile | undefined {
    checkRank(rank)
    this.checkOpen()
    const member = this.#ranks.get(rank)?.member
    return member && this.parts.meeting.membership.profile(member)
  }

  /** Counters of all ranks of this machine, by rank; `Profile.merge(group.profiles().values())` is the sum. */
  profiles(): ReadonlyMap<number, Profile> {
    const profiles = [...this.#ranks.keys()].map((rank) => [rank, this.profile(rank)] as const)
    return new Map(profiles.filter((entry): entry is [number, Profile] => entry[1] !== undefined))
  }

  /**
   * Waits that have lasted for at least half of `AETHER_WATCHDOG_MS`: what each rank waits for, which ranks it waits
   * on, and cycles among them. The agents answer, so blocked programs are included. It takes as long as the slowest
   * answer, at most 2 s. A rank that does not answer is named.
   */
  async waits(): Promise<GroupWaits> {
    this.checkOpen()
    return (await this.parts.agent.command('waits', undefined)) as GroupWaits
  }

  /**
   * Wait until every rank is here. What each rank wrote before is visible to all afterwards.
   *
   * In a group that grows these are the members at the end of the barrier. It waits for one that joins meanwhile, and
   * no longer for one that ends. Collectives that follow are among those who were in it.
   * @throws MissingMembersError naming ranks that did not arrive in time (the same barrier may then be waited for
   *   again).
   * @throws MemberEndedError if a rank has died or left, unless the group grows.
   */
  async barrier(options: BarrierOptions & { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkBarrier(options)
    this.checkOpen()
    await this.parts.barrier.wait(options, this.#lookFromBarrier(false))
    if (this.parts.grows) this.#regroup((await this.parts.agent.command('barrierView', undefined)) as MembershipView)
  }

  /** As {@link barrier}, blocking the thread. */
  barrierSync(options: BarrierOptions = {}): void {
    checkBarrierSync(options)
    this.checkOpen()
    this.parts.barrier.waitSync(options, this.#lookFromBarrier(true))
    if (this.parts.grows)
      this.#regroup(this.parts.agent.commandSync('barrierView', undefined, AGENT_MS) as MembershipView)
  }

  /**
   * Send a message to the program of rank `rank`. Messages of one rank arrive in order, and leave with the end of this
   * turn of the event loop. Resolves when `bytes` may be used again, which waits for room at that rank.
   * @throws PeerError if the rank has ended or left: the message may or may not have arrived; ArgumentError beyond 64
   *   MiB; ClosedError.
   */
  async send(rank: number, bytes: Uint8Array): Promise<void> {
    this.checkOpen()
    const { size } = this.parts
    if (!(Number.isSafeInteger(rank) && rank >= 0 && rank < size))
      throw mustBe('rank', `a rank from 0 to ${size - 1}`, rank)
    if (!this.#ranks.has(rank) && !this.#gone.has(rank)) throw mustBe('rank', 'a rank that the group has given', rank)
    checkAttached('bytes', bytes)
    await this.#programsNow().send(rank, bytes)
  }

  /**
   * Yield the messages that other ranks send to this one, until the group is closed. Several iterations share them.
   * A rank that sends more than this one takes is held back.
   * @throws the signal's reason.
   */
  messages(options?: { readonly signal?: AbortSignal }): AsyncGenerator<RankMessage, void, undefined> {
    this.checkOpen()
    return this.#programsNow().messages(options)
  }

  /**
   * Return the group of the ranks that are left, in which collectives go on after one has failed. Every rank that is
   * left calls it. Its `members` are ranks of this group. `shrink` waits until the rank that was lost is out of the
   * group. If no collective has failed yet, they end for all ranks.
   *
   * A second call returns the same group. If another rank ends meanwhile, collectives of the new group fail. Then
   * shrink that one.
   * @throws AgreementError after `timeoutMs`; ArgumentError for `quorum: 'any'`; ClosedError; the signal's reason.
   */
  async shrink(options: ShrinkOptions = {}): Promise<PeerGroup> {
    this.checkOpen()
    return await this.#programsNow().shrink(options)
  }

  /** As {@link shrink}, blocking the thread; `signal` is checked only at the start. */
  shrinkSync(options: ShrinkOptions = {}): PeerGroup {
    this.checkOpen()
    return this.#programsNow().shrinkSync(options)
  }

  /** @internal */
  protected override async carryOut<T>(call: CollectiveCall<T>): Promise<T> {
    this.checkOpen()
    return await this.#programsNow().carryOut(call)
  }

  /** @internal */
  protected override carryOutSync<T>(call: CollectiveCall<T>): T {
    this.checkOpen()
    return this.#programsNow().carryOutSync(call)
  }

  /**
   * Take the lock `name` of this group: alone, or with `mode: 'read'` together with other readers. Requests are served
   * in the order in which they arrive. Release it with `release()` or at the end of a block:
   *
   * ```ts
   * using held = await group.lock('accounts')
   * if (held.abandonedBy !== null) repair()
   * ```
   *
   * The lock is not recursive: a holder that asks for it again waits for itself. If its holder dies or leaves, the next
   * rank in line gets it.
   * @throws LockTimeoutError naming the ranks that hold it; ArgumentError.
   */
  async lock(name: string, options: LockRequest = {}): Promise<HeldLock> {
    this.checkOpen()
    return await this.locks.lock(lockName(name), options)
  }

  /** As {@link lock}, blocking the thread; `signal` has no effect. */
  lockSync(name: string, options: LockRequest = {}): HeldLock {
    this.checkOpen()
    return this.locks.lockSync(lockName(name), options)
  }

  /** Call `listener` when a rank leaves or dies, until the returned function is called. */
  onEvent(listener: (event: GroupEvent) => void): () => void {
    checkFunction('listener', listener, 'which takes an event')
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Whether `rank` is still a member: it has neither left nor died. */
  isMember(rank: number): boolean {
    checkRank(rank)
    return this.#ranks.has(rank) && !this.#gone.has(rank)
  }

  /**
   * @internal Whether `rank` was a member, and has left or died. Others may know of a member, and say so, before this
   *   program hears that it has joined. That one is neither a member here nor gone.
   */
  isGone(rank: number): boolean {
    if (!this.parts.grows) return this.#gone.has(rank)
    // Each that joins has the highest rank so far.
    return rank <= Math.max(...this.#ranks.keys(), ...this.#gone.keys()) && !this.#ranks.has(rank)
  }

  /**
   * @internal Send a short message to the program of another rank, for rooms above: any JSON value of about 1.9 KiB.
   *   Lost if that rank is gone. @throws ArgumentError if it is longer.
   */
  async tell(rank: number, topic: string, value: unknown): Promise<void> {
    this.checkOpen()
    checkTold(topic, value)
    await this.parts.agent.command('tell', { rank, topic, value })
  }

  /**
   * @internal Call `listener` with what was told on `topic`, also before this call, until the returned function is
   *   called. One listener per topic.
   */
  onTold(topic: string, listener: (rank: number, value: unknown) => void): () => void {
    return this.#topics.listen(topic, listener)
  }

  /**
   * @internal Post any JSON value of about 1.9 KiB under a topic, for all members to look up. It takes the place of
   *   what this one has posted there before; null takes that away. @throws ArgumentError if it is longer.
   */
  async post(topic: string, value: unknown): Promise<void> {
    this.checkOpen()
    checkTold(topic, value)
    await this.parts.agent.command('post', { topic, value })
  }

  /** @internal What the present members have posted under a topic, by rank. It goes with its member. */
  async posted(topic: string): Promise<ReadonlyMap<number, unknown>> {
    this.checkOpen()
    return (await this.parts.agent.command('posted', topic)) as ReadonlyMap<number, unknown>
  }

  /** @internal The connection to another rank's program; undefined before the first collective. */
  linkTo(rank: number): VerbsLink | undefined {
    this.checkOpen()
    return this.#programsNow().link(rank)
  }

  /** Leave, together with the others. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Throws ClosedError after `close()`. */
  protected checkOpen(): void {
    if (this.closed) throw new ClosedError('the group')
  }

  /** For the room above: release what is held in this process. The agent continues to serve. */
  protected abstract release(): void

  /** For the room above: the agent has ended, so what it used can be released. */
  protected abstract afterAgent(): void

  async #close(): Promise<void> {
    process.off('beforeExit', this.#onBeforeExit)
    this.release()
    await this.#programs?.close()
    await this.parts.agent.command('leave', undefined)
    await this.parts.meeting.left()
    await this.parts.agent.close()
    this.afterAgent()
    await this.parts.meeting.close()
  }

  /** What a rank does now and then in a barrier. It throws if others are in a collective instead. */
  #lookFromBarrier(blocking: boolean): () => void {
    const before = this.#programs?.failure
    return () => {
      // A thread that blocks hears no notes.
      if (blocking && this.#isAddressed()) this.#programsNow()
      this.#programs?.lookFromBarrier(blocking)
      const failure = this.#programs?.failure
      const isNew = failure !== before && failure instanceof AetherError
      if (isNew && failure.code === 'ERR_AETHER_COLLECTIVE_MISMATCH') throw failure
    }
  }

  /** Whether the program of another rank has said something to this one's, which has not listened yet. */
  #isAddressed(): boolean {
    if (this.#programs !== undefined) return false
    const { letters } = this.parts.agent.commandSync('linksSaid', 0, AGENT_MS) as LinksSaid
    return letters.length > 0
  }

  #programsNow(): RankPrograms {
    if (this.#programs === undefined) {
      const { meeting, agent, size, grows } = this.parts
      this.#programs = makeRankPrograms({
        rank: this.rank,
        size,
        ...(grows && { view: this.#barrierView ?? 'none' }),
        device: meeting.device,
        agent,
        pathMtu: (rank) => this.#ranks.get(rank)?.pathMtu,
        isMissingFromBarrier: (rank) => this.parts.barrier.isMissing(rank),
      })
      for (const [rank, how] of this.#gone) this.#programs.ended(rank, how)
    }
    return this.#programs
  }

  /** The members that were in a barrier: collectives are theirs from now on. */
  #regroup(view: MembershipView): void {
    if (view.epoch === this.#barrierView?.epoch) return
    this.#barrierView = view
    this.#programs?.regroup(view)
  }

  #joined(member: RankMember): void {
    const { rank, processId } = member
    this.#ranks.set(rank, member)
    const event = { type: 'joined', rank, reason: `process ${processId} joined the group` } as const
    for (const listener of [...this.#listeners]) listener(event)
  }

  #hear(note: GroupNote): void {
    if (note.type === 'told') {
      this.#topics.take(note.topic, note.rank, note.value)
      return
    }
    if (note.type === 'watchdog') {
      publishWatchdog(note.message)
      return
    }
    if (note.type === 'mail') {
      if (!this.closed)
        void this.#programsNow()
          .fetch()
          .catch(() => {})
      return
    }
    if (note.type === 'admitted' || note.type === 'refused') return
    if (note.type === 'joined') {
      this.#joined(note.member)
      return
    }
    this.#gone.set(note.rank, note.type)
    if (this.parts.grows) this.#ranks.delete(note.rank)
    this.#programs?.ended(note.rank, note.type)
    for (const listener of [...this.#listeners]) listener(note)
  }
}

/** Checked here and not in the agent, where it would end the process. */
function checkTold(topic: string, value: unknown): void {
  const lengthBytes = 1 + Buffer.byteLength(JSON.stringify({ op: 'tell', topic, value }))
  if (lengthBytes <= MESSAGE_BYTES_MAX) return
  const rule = `a topic and its value together take at most ${MESSAGE_BYTES_MAX} bytes as JSON`
  throw new ArgumentError('value', `${rule}, not ${lengthBytes}`)
}

/** A rank may be one that does not exist. @throws ArgumentError */
function checkRank(rank: number): void {
  if (!Number.isSafeInteger(rank)) throw mustBe('rank', 'a rank, a whole number from 0 on', rank)
}

/** Keeps these names apart from the locks of regions. */
function lockName(name: string): string {
  if (typeof name === 'string' && name !== '') return `group/${name}`
  throw mustBe('name', 'a string of at least one character', name)
}
