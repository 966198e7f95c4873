import { fdatasync } from 'node:fs'
import { promisify } from 'node:util'
import { ClosedError, checkBytes, checkIteration, mustBe, withSystemFailures } from '../native/index.ts'
import {
  type MemberWaits,
  PROFILING_AREA_BYTES,
  Profile,
  ProfilingArea,
  placeWaits,
  shareThreadProfiling,
  WAIT_TABLE_BYTES,
  type WaitReading,
  WaitTable,
} from '../profiling/index.ts'
import { offExit, onExit } from '../runtime/index.ts'
import type { Arena } from './arena.ts'
import { BellPulls } from './bell-pulls.ts'
import { Card } from './card.ts'
import { type EnterOptions, enter, settleMembers } from './enter.ts'
import type { Entry } from './entry.ts'
import { MEMBERS_MAX, PROFILING_OFFSET, WAITS_OFFSET } from './layout.ts'
import { type Member, memberOf } from './member-table.ts'
import { traceMember } from './member-trace.ts'
import { type MemberChange, MemberTracker } from './member-tracker.ts'
import { PeerWatch } from './peer-watch.ts'
import { type SpaceEvent, SpaceEvents } from './space-events.ts'
import type { LockOptions } from './space-lock.ts'

/** Leaving does not need the lock; with it, leaving also cleans up. */
const LEAVE_TIMEOUT_MS = 2000
const EXIT_TIMEOUT_MS = 100

/** Options of `events()`. */
export interface EventOptions {
  /** Ends the iteration; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** What a room above does for a member. */
export interface MembershipPart {
  /** The membership ends: release what is held in this process. No lock is held. */
  close(): void
  /** A member ended: finish or undo what it had begun, and release what no member holds any more. Under the lock. */
  settle(): void
  /** The names behind the bits of a slot. */
  namesOf(held: Int32Array): readonly string[]
}

/**
 * One member's hold on a space. Each `open` makes one, also several in one process and in its Workers. Members that
 * share a process still come, go and crash separately.
 *
 * It does not keep the process alive; only a pending `events()` does. If the process exits in order, its slot is left
 * in order; if it is killed, the other members clean up.
 */
export class Membership implements AsyncDisposable {
  readonly name: string
  /** This member. */
  readonly self: Member
  /** Where this member's threads count, visible to all members. */
  readonly profiling: ProfilingArea
  readonly #entry: Entry
  readonly #watch: PeerWatch
  readonly #pulls: BellPulls
  readonly #parts: MembershipPart[] = []
  /** Called at each ring. */
  readonly #wakers = new Set<() => void>()
  /** Called when members have come or gone. */
  readonly #observers = new Set<() => void>()
  readonly #unshareProfiling: () => void
  readonly #unplaceWaits: () => void
  readonly #exit = (): void => this.#leaveAtExit()
  #closed = false
  #closing: Promise<void> | undefined

  /**
   * Become a member of space `name`. With `directory`, its arena is a file there.
   * @throws as {@link enter}, and SystemError where a limit of the process is met.
   */
  static enter(name: string, options?: EnterOptions, directory?: string): Promise<Membership> {
    return withSystemFailures(async () => new Membership(await enter(name, options, directory)))
  }

  private constructor(entry: Entry) {
    const { arena, table, archive, presence, self } = entry
    this.#entry = entry
    this.#pulls = new BellPulls(table, presence)
    this.name = entry.name
    this.self = memberOf(self)
    this.#watch = this.#startWatch(new MemberTracker(arena, table, archive))
    const offsetBytes = profilingOffset(self.slot)
    this.profiling = new ProfilingArea(arena.control, offsetBytes, PROFILING_AREA_BYTES, self.threadId)
    this.#unshareProfiling = shareThreadProfiling(arena.control, offsetBytes, PROFILING_AREA_BYTES)
    this.#unplaceWaits = placeWaits(new WaitTable(arena.control, waitsOffset(self.slot)), () => this.#waitsOfAll())
    traceMember(this.name, { type: 'joined', member: this.self })
    onExit(this.#exit)
    this.#ringOthers()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** All members of the space by slot, this one included. */
  members(): readonly Member[] {
    this.#checkOpen()
    return this.#entry.table.present().map(memberOf)
  }

  /**
   * Joins, departures and deaths from this call on. While a `next()` is pending the process stays alive. `return()`
   * (leaving a `for await`) unsubscribes. The iteration ends when the space is closed.
   */
  events(options: EventOptions = {}): AsyncIterableIterator<SpaceEvent, undefined> {
    checkIteration('events', options)
    this.#checkOpen()
    const { arena, table, archive } = this.#entry
    const tracker = new MemberTracker(arena, table, archive)
    const source = {
      take: () => (this.closed ? [] : tracker.advance().map((change) => this.#eventOf(change))),
      wait: (wake: () => void) => this.#wait(wake),
      isClosed: () => this.closed,
    }
    return new SpaceEvents(source, options.signal)
  }

  /** Replace this member's card, and ring the others. @throws ArgumentError if it is longer than a card holds. */
  publish(bytes: Uint8Array): void {
    checkBytes('bytes', bytes)
    this.#checkOpen()
    this.#cardOf(this.self.slot).write(bytes)
    this.#ringOthers()
  }

  /** A copy of what `member` published; undefined if it has published nothing or is gone. */
  card(member: Member): Uint8Array | undefined {
    this.#checkOpen()
    checkMember(member)
    const card = this.#cardOf(member.slot).read()
    return this.isPresent(member) ? card : undefined
  }

  /**
   * A snapshot of the counters of `member` (by default this one); undefined once another member has taken its slot. A
   * member that died can be read until then.
   */
  profile(member: Member = this.self): Profile | undefined {
    this.#checkOpen()
    checkMember(member)
    const { arena, table } = this.#entry
    const profile = Profile.read(arena.control, profilingOffset(member.slot))
    return table.glance(member.slot).epoch === member.epoch ? profile : undefined
  }

  /**
   * What `member`'s threads have waited for, for at least half of AETHER_WATCHDOG_MS, the longest wait first. Undefined
   * once another member has taken its slot.
   */
  waits(member: Member): readonly WaitReading[] | undefined {
    this.#checkOpen()
    checkMember(member)
    const { arena, table } = this.#entry
    const waits = new WaitTable(arena.control, waitsOffset(member.slot)).read()
    return table.glance(member.slot).epoch === member.epoch ? waits : undefined
  }

  /** True if this very member is still there. */
  isPresent(member: Member): boolean {
    this.#checkOpen()
    return this.#entry.table.isPresent(member.slot, member.epoch)
  }

  /**
   * True if this very member still runs, after a look at its process. A member killed a moment ago is seen to be dead,
   * without the event loop. @internal
   */
  isAlive(slot: number, epoch: number): boolean {
    const { table, presence } = this.#entry
    const record = table.read(slot)
    if (record?.epoch !== epoch) return false
    if (presence.isAlive(record)) return true
    if (table.end(slot, epoch, 'died')) this.#settleSoon()
    return false
  }

  /** Ring the doorbell of the member in `slot`. @internal */
  ring(slot: number): void {
    this.#pulls.ring(slot)
  }

  /**
   * Leave. Idempotent. It never fails because of another member: if the lock is not available, the next one cleans up.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The arena. @internal for the rooms above. */
  get arena(): Arena {
    this.#checkOpen()
    return this.#entry.arena
  }

  /** Like {@link members}, also while this one is closing. @internal */
  presentMembers(): readonly Member[] {
    return this.#entry.table.present().map(memberOf)
  }

  /** Run `work` under the space's lock. @internal */
  async locked<T>(work: () => T, options?: LockOptions): Promise<T> {
    this.#checkOpen()
    return await this.#entry.lock.run(() => {
      this.#checkOpen()
      return work()
    }, options)
  }

  /** Take part in closing and clearing up. @internal */
  addPart(part: MembershipPart): void {
    this.#parts.push(part)
  }

  /** What the member in `slot` holds, as bits. @internal */
  heldBy(slot: number): Int32Array {
    return this.#entry.table.held(slot)
  }

  /** End the members that are gone but not yet recorded as ended. Under the lock. @internal */
  settleMembers(): void {
    settleMembers(this.#entry.table, this.#entry.presence)
  }

  /**
   * Call `wake` after every ring of this member's doorbell and every end of another, until the returned function is
   * called. @internal
   */
  onRing(wake: () => void): () => void {
    this.#wakers.add(wake)
    return () => this.#wakers.delete(wake)
  }

  /** The same after members have come or gone only. @internal */
  onChange(observe: () => void): () => void {
    this.#observers.add(observe)
    return () => this.#observers.delete(observe)
  }

  #startWatch(tracker: MemberTracker): PeerWatch {
    try {
      return new PeerWatch(this.#entry.table, tracker, this.#entry.presence, {
        rang: () => this.#wake(),
        changed: () => this.#changed(),
        saw: (change) => this.#saw(change),
        sawDeath: () => this.#settleSoon(),
      })
    } catch (error) {
      if (this.#entry.lock.tryRun(() => this.#leave(true)) === undefined) this.#leave(false)
      this.#releaseEntry()
      throw error
    }
  }

  #wait(wake: () => void): () => void {
    const stop = this.onRing(wake)
    if (!this.closed) this.#watch.ref()
    return () => {
      stop()
      if (!this.closed) this.#watch.unref()
    }
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake()
  }

  #changed(): void {
    for (const observe of [...this.#observers]) observe()
    this.#wake()
  }

  #saw(change: MemberChange): void {
    traceMember(this.name, change)
    if (change.type !== 'joined') this.#pulls.forget(change.member.slot)
  }

  #eventOf(change: MemberChange): SpaceEvent {
    const { type, member } = change
    if (type !== 'died') return { type, member }
    return { type, member, regions: this.#parts.flatMap((part) => part.namesOf(change.held)) }
  }

  #cardOf(slot: number): Card {
    const { arena, table } = this.#entry
    return new Card(arena.control, slot, table.cardSequence(slot))
  }

  #ringOthers(): void {
    for (const { slot, epoch } of this.#entry.table.present()) if (epoch !== this.self.epoch) this.#pulls.ringOnce(slot)
  }

  *#waitsOfAll(): Iterable<MemberWaits> {
    const { arena } = this.#entry
    // The process numbers of others mean nothing here.
    for (const { slot, processId, foreign } of this.presentMembers())
      if (foreign !== true) yield { processId, waits: new WaitTable(arena.control, waitsOffset(slot)).read() }
  }

  /**
   * This process was the first to see a death, so it must clean up. If it does not, the next holder of the lock does.
   */
  #settleSoon(): void {
    void this.locked(() => this.#settleParts()).catch(() => {})
    this.#ringOthers()
  }

  #settleParts(): void {
    for (const part of this.#parts) part.settle()
  }

  async #close(): Promise<void> {
    this.#closed = true
    offExit(this.#exit)
    this.#unshareProfiling()
    for (const part of this.#parts) part.close()
    this.#watch.close()
    this.#unplaceWaits()
    this.#wake()
    await this.#writeBack()
    await this.#entry.lock.run(() => this.#leave(true), { timeoutMs: LEAVE_TIMEOUT_MS }).catch(() => this.#leave(false))
    this.#releaseEntry()
  }

  /** The last member has all of the memory written to the disk. Most of it here, where it blocks no one. */
  async #writeBack(): Promise<void> {
    const { arena, table } = this.#entry
    if (arena.directory === undefined || table.present().length > 1) return
    await promisify(fdatasync)(arena.descriptor).catch(() => {})
  }

  #releaseEntry(): void {
    const { presence, arena, file } = this.#entry
    this.#pulls.close()
    presence.close()
    arena.close()
    file.close()
  }

  #leave(locked: boolean): void {
    const { arena, table, presence, self } = this.#entry
    table.end(self.slot, self.epoch, 'left')
    traceMember(this.name, { type: 'left', member: this.self })
    if (locked) {
      settleMembers(table, presence)
      this.#settleParts()
      const isLast = table.present().length === 0
      if (isLast) arena.markEnded()
      presence.withdraw(self.slot, isLast)
    }
    this.#ringOthers()
  }

  /** Synchronous: the process is about to end, so descriptors and mappings can be left alone. */
  #leaveAtExit(): void {
    const { lock } = this.#entry
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let waitedMs = 0; waitedMs < EXIT_TIMEOUT_MS; waitedMs += 1) {
      if (lock.tryRun(() => this.#leave(true)) !== undefined) return
      Atomics.wait(pause, 0, 0, 1)
    }
    this.#leave(false)
  }

  #checkOpen(): void {
    if (this.closed) throw new ClosedError(`space '${this.name}'`)
  }
}

/** Slots are places in shared memory. @throws ArgumentError */
function checkMember(member: Member): void {
  const { slot, epoch } = (member ?? {}) as Partial<Member>
  const isThere = slot !== undefined && Number.isInteger(slot) && slot >= 0 && slot < MEMBERS_MAX
  if (isThere && Number.isInteger(epoch)) return
  throw mustBe('member', 'a member of the space, as members() returns', member)
}

function profilingOffset(slot: number): number {
  return PROFILING_OFFSET + slot * PROFILING_AREA_BYTES
}

function waitsOffset(slot: number): number {
  return WAITS_OFFSET + slot * WAIT_TABLE_BYTES
}
