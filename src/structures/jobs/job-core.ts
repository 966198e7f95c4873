import { bytes } from '../../codecs/index.ts'
import { HeapFullError } from '../errors.ts'
import type { Meter } from '../figures/meter.ts'
import type { Heap } from '../heap/heap.ts'
import { type ReplaceOptions, SharedMap, UNCHANGED } from '../map/shared-map.ts'
import { Bell } from '../waiting/bell.ts'
import { encodeLoss } from './job-outcome.ts'
import { type Hold, JobPhase, JobRecord } from './job-record.ts'
import { JobsOffset } from './layout.ts'
import { RETURNED_LEVEL, ReadyLists } from './ready-lists.ts'
import { TimerWheel } from './timer-wheel.ts'
import { type LostWorker, Workers } from './workers.ts'

/** Signs of life in a lease. */
const BEATS = 3
/** A worker that sleeps looks again this soon, so it need not be woken for jobs that are due later. */
const SOON_MS = 50

/** A job that this member took. */
export interface TakenJob {
  readonly id: string
  readonly record: JobRecord
  readonly hold: Hold
}

/** What a job queue was opened with. */
export interface JobCoreSettings {
  readonly meter: Meter
  readonly leaseMs: number
  /** The clock of the heap in milliseconds; for tests. */
  readonly now?: () => number
}

/**
 * The jobs of a queue, without their values.
 *
 * A job is one entry of a map. Each step (added, taken, completed, failed, released) replaces it by one
 * compare-and-swap. That entry alone says what the job is: waiting until it is due, held by a member, or ended. So
 * wherever a process is killed, a job is never in two states and never in none.
 *
 * Lists of ids and the timer wheel only say where to look. They may have too much: an entry whose job is not to be
 * taken is passed over. They must not have too little:
 *
 * 1. A taker deals with the job first, then takes the entry away. If it is killed or stopped in between, the entry has
 *    become superfluous.
 * 2. A member that makes a job takeable notes its id (see workers.ts), writes the job, puts the entry there, and clears
 *    the note. If it is killed in between, the next member to look puts the entry there.
 * 3. The wheel puts an entry into a ready list before it takes away its own.
 * 4. If there is no memory for an entry, a word says so, and the next member to look puts in all that may be missing.
 *
 * A member that is dead, or whose lease is overdue, holds nothing: others give its jobs back. It notices by the hold,
 * which names its term and the attempt.
 */
export class JobCore {
  readonly heap: Heap
  readonly jobs: SharedMap<Uint8Array>
  /** Rings when there is a job to take. */
  readonly filled: Bell
  /** Rings when a job has ended. */
  readonly ended: Bell
  readonly leaseMs: number
  readonly now: () => number
  readonly #body: number
  readonly #ready: ReadyLists
  readonly #wheel: TimerWheel
  readonly #workers: Workers
  readonly #held = new Map<string, HeldJob>()
  /** When the operating system was asked last who is lost. */
  #askedMs = Number.NEGATIVE_INFINITY

  /** The member must have joined the heap. */
  constructor(name: string, heap: Heap, body: number, { meter, leaseMs, now = () => heap.nowMs() }: JobCoreSettings) {
    this.heap = heap
    this.now = now
    this.leaseMs = leaseMs
    this.#body = body
    const plain = { codec: bytes, valueBytesMax: Number.POSITIVE_INFINITY, ttlMs: 0, maxEntries: 0, meter }
    this.jobs = new SharedMap(name, heap, body + JobsOffset.Jobs, plain)
    const nextMs = (withinMs: number): number => this.nextMs(withinMs)
    this.filled = new Bell(heap, body + JobsOffset.Filled, { meter, nextMs })
    this.ended = new Bell(heap, body + JobsOffset.Ended, { meter })
    this.#ready = new ReadyLists(heap, body + JobsOffset.Ready, body + JobsOffset.ReadyUsed)
    this.#wheel = new TimerWheel(heap, body + JobsOffset.Wheel, body + JobsOffset.Begun, body + JobsOffset.Finished)
    this.#workers = new Workers(heap, body + JobsOffset.Workers, leaseMs)
    this.#enter()
  }

  /** Add a job under an id that no job of this queue has. @throws HeapFullError; nothing was added then. */
  addNext(record: JobRecord): string {
    // An import may have brought jobs with ids that are still to be given.
    for (;;) {
      const id = String(this.heap.memory.fetchAdd64(this.#body + JobsOffset.LastId, 1n) + 1n)
      if (this.add(id, record)) return id
    }
  }

  /** False if there is a job with that id. @throws HeapFullError; nothing was added then. */
  add(id: string, record: JobRecord): boolean {
    this.#workers.note(id)
    try {
      if (!this.jobs.setIfAbsentSync(id, record.bytes)) return false
      this.#enqueueNew(id, record)
      return true
    } finally {
      this.#workers.clearNote()
    }
  }

  /**
   * Take the next job; undefined if there is none. Only then it looks for lost workers; `ask`: now and then by asking
   * the operating system, too. @throws HeapFullError
   */
  take(ask: boolean): TakenJob | undefined {
    this.heap.checkOpen()
    this.#turn(this.now())
    const taken = this.#takeReady()
    if (taken !== undefined) return taken
    const now = this.now()
    const mayAsk = ask && now - this.#askedMs >= SOON_MS
    if (mayAsk) this.#askedMs = now
    this.lookAround(mayAsk)
    return this.#takeReady()
  }

  /** Keep the job until it is settled. `lost` is called if it turns out to have been given to others. */
  keep(taken: TakenJob, lost: () => void): void {
    this.#held.set(taken.id, { hold: taken.hold, lost })
  }

  /** How this member holds the job now; undefined if it does not. */
  holdOf(id: string): Hold | undefined {
    return this.#held.get(id)?.hold
  }

  /** False if it is not held any more. */
  complete(id: string, keepMs: number, result: () => Uint8Array): boolean {
    const hasEnded = this.#settle(id, keepMs, (record) => {
      if (keepMs === 0) return undefined
      const next = record.withOutcome(result())
      next.end(JobPhase.Completed)
      return next
    })
    if (hasEnded) this.ended.ring()
    return hasEnded
  }

  /** The attempt failed for good. False if the job is not held any more. */
  bury(id: string, keepMs: number, error: Uint8Array): boolean {
    const hasEnded = this.#settle(id, keepMs, (record) => {
      record.countFailure()
      return keepMs === 0 ? undefined : failed(record, error)
    })
    if (hasEnded) this.ended.ring()
    return hasEnded
  }

  /** The attempt failed, and there is another one from `dueMs` on. False if the job is not held any more. */
  retryLater(id: string, dueMs: number, error: Uint8Array): boolean {
    return this.#settle(id, undefined, (record) => {
      const next = record.withOutcome(error)
      next.countFailure()
      next.release(dueMs)
      return next
    })
  }

  /** Give the job back, to be taken from `dueMs` on. False if it is not held any more. */
  release(id: string, dueMs: number): boolean {
    return this.#settle(id, undefined, (record) => {
      record.release(dueMs)
      return record
    })
  }

  /** False if it is not held any more. */
  report(id: string, progress: Uint8Array): boolean {
    const hold = this.holdOf(id)
    const seen =
      hold && this.#change(id, (record) => (record.isHeldBy(hold) ? record.withProgress(progress) : UNCHANGED))
    if (seen !== UNCHANGED && seen !== undefined) return true
    this.#held.delete(id)
    return false
  }

  /** A pending job becomes due, at `dueMs`; an ended one is tried again. False if it is active, or not there. */
  reschedule(id: string, phases: readonly number[], dueMs: number): boolean {
    const again = (record: JobRecord) => {
      if (!phases.includes(record.phase)) return UNCHANGED
      record.forgive()
      record.release(dueMs)
      return record
    }
    this.#renew()
    this.#workers.note(id)
    const changed = this.#change(id, again, { ttlMs: 0 })
    if (changed !== UNCHANGED && changed !== undefined) this.#enqueue(id, changed)
    this.#workers.clearNote()
    return changed !== UNCHANGED && changed !== undefined
  }

  /** Remove a job, if `isMeant`; also one that is held: its worker will be told. */
  remove(id: string, isMeant: (record: JobRecord) => boolean = () => true): boolean {
    let removed = false
    SharedMap.replace(this.jobs, id, (value) => {
      removed = value !== undefined && isMeant(new JobRecord(value))
      return removed ? undefined : UNCHANGED
    })
    if (removed) this.ended.ring()
    return removed
  }

  get(id: string): JobRecord | undefined {
    const value = this.jobs.getSync(id)
    return value && new JobRecord(value)
  }

  /** Jobs in no order: see {@link SharedMap.entriesSync}. */
  *all(): Generator<{ readonly id: string; readonly record: JobRecord }> {
    for (const [id, value] of this.jobs.entriesSync()) yield { id: String(id), record: new JobRecord(value) }
  }

  get isPaused(): boolean {
    return this.heap.memory.load(this.#body + JobsOffset.Paused) !== 0
  }

  pause(isPaused: boolean): void {
    this.heap.checkOpen()
    this.heap.memory.store(this.#body + JobsOffset.Paused, isPaused ? 1 : 0)
    if (!isPaused) this.filled.ring()
  }

  /** Milliseconds until a delayed job may be due, at most `withinMs`. */
  nextMs(withinMs: number): number {
    return this.#wheel.nextMs(this.now(), withinMs)
  }

  /**
   * A sign of life, several times in a lease. The lease goes on until a beat finds that nothing is held: the next job
   * is often taken at once.
   */
  beat(): void {
    if (this.heap.closed) return
    if (this.#held.size > 0) this.#renew()
    else this.#workers.rest()
    this.lookAround(false)
  }

  /** Give back what lost workers had. `ask`: ask the operating system who is lost. */
  lookAround(ask: boolean): void {
    if (this.heap.closed) return
    try {
      for (const lost of this.#workers.lost(this.now(), ask)) this.#giveBackAll(lost)
      const { memory } = this.heap
      const at = this.#body + JobsOffset.Incomplete
      if (memory.load(at) !== 0 && memory.exchange(at, 0) !== 0) this.#fill()
    } catch (error) {
      // What is left is found by the next look.
      if (!(error instanceof HeapFullError)) throw error
    }
  }

  #enter(): void {
    const owner = this.#workers.predecessor
    if (owner !== 0) this.#giveBackAll({ slot: this.heap.peers.slot, owner, term: undefined, leaseEnd: 0n })
    this.#workers.enter()
    const stop = this.heap.peers.onChange(() => this.lookAround(false))
    const letGo = this.heap.hold(() => this.#leave())
    this.heap.onClose(() => {
      stop()
      letGo()
    })
    this.lookAround(true)
  }

  /** Before this member leaves the heap. */
  #leave(): void {
    for (const id of [...this.#held.keys()]) this.release(id, 0)
    this.#workers.leave()
  }

  #takeReady(): TakenJob | undefined {
    if (this.isPaused) return undefined
    for (let found = this.#ready.first(); found !== undefined; found = this.#ready.first()) {
      const taken = this.#activate(found.entry.id)
      found.list.drop(found.entry)
      if (taken !== undefined) return taken
    }
    return undefined
  }

  #activate(id: string): TakenJob | undefined {
    if (this.#workers.needsRenewal(this.now())) this.#renew()
    const { owner } = this.heap
    const { term } = this.#workers
    const record = this.#change(id, (found) => {
      if (found.phase !== JobPhase.Pending || this.#isForLater(id, found)) return UNCHANGED
      found.activate(owner, term)
      return found
    })
    return record === undefined || record === UNCHANGED ? undefined : { id, record, hold: record.hold }
  }

  /**
   * An entry of a job that is due later is passed over: it has become superfluous, or who put it there has read the
   * clock after us. So the job gets an entry of the wheel, unless that has been turned so far already.
   */
  #isForLater(id: string, { dueMs }: JobRecord): boolean {
    return dueMs > this.now() && this.#wheel.insert(id, dueMs)
  }

  /** `keepMs`: how long what is left lives; undefined if it goes on. */
  #settle(id: string, keepMs: number | undefined, next: (record: JobRecord) => JobRecord | undefined): boolean {
    const hold = this.holdOf(id)
    if (hold === undefined) return false
    this.#workers.note(id)
    const changed = this.#change(
      id,
      (record) => (record.isHeldBy(hold) ? next(record) : UNCHANGED),
      keepMs === undefined
        ? undefined
        : { ttlMs: keepMs === Number.POSITIVE_INFINITY ? 0 : keepMs, isEssential: false },
    )
    if (changed !== undefined && changed !== UNCHANGED && changed.phase === JobPhase.Pending) this.#enqueue(id, changed)
    this.#workers.clearNote()
    this.#held.delete(id)
    return changed !== UNCHANGED
  }

  /**
   * Replace a job's record. UNCHANGED if there is none. However full the heap is, the jobs that are there can be worked
   * on: unless something says that it is not, the change is essential.
   */
  #change(
    id: string,
    next: (record: JobRecord) => JobRecord | undefined | typeof UNCHANGED,
    options: ReplaceOptions = {},
  ): JobRecord | undefined | typeof UNCHANGED {
    let record: JobRecord | undefined | typeof UNCHANGED = UNCHANGED
    SharedMap.replace(
      this.jobs,
      id,
      (value) => {
        record = value === undefined ? UNCHANGED : next(new JobRecord(value))
        return record === UNCHANGED ? UNCHANGED : record?.bytes
      },
      { isEssential: true, ...options },
    )
    return record
  }

  /** Make the lease last; find out what was lost if it was overdue. */
  #renew(): void {
    const before = this.#workers.term
    const term = this.#workers.renew(this.now())
    if (term !== before) for (const [id, held] of [...this.#held]) this.#keepOrLose(id, held, term)
  }

  /** What no one took while the lease was overdue stays with this member. */
  #keepOrLose(id: string, { hold, lost }: HeldJob, term: number): void {
    const record = this.#change(id, (found) => {
      if (!found.isHeldBy(hold)) return UNCHANGED
      found.restamp(term)
      return found
    })
    if (record !== undefined && record !== UNCHANGED) {
      this.#held.set(id, { hold: record.hold, lost })
      return
    }
    this.#held.delete(id)
    lost()
  }

  #giveBackAll(lost: LostWorker): void {
    // Should this member stop in the middle of it, its own lease will be overdue, and others go on.
    this.#renew()
    const note = this.#workers.noteOf(lost)
    const noted = note === undefined ? undefined : this.get(note)
    if (noted?.phase === JobPhase.Pending) this.#enqueueAgain(note!, noted)
    for (const { id, record } of this.all()) {
      const isLost = record.phase === JobPhase.Active && record.owner === lost.owner
      if (isLost && (lost.term === undefined || lost.term === record.hold.term)) this.#giveBack(id, record)
    }
    this.#workers.settled(lost)
  }

  #giveBack(id: string, seen: JobRecord): void {
    const { hold, keepFailedMs } = seen
    const isBuried = !seen.countLoss()
    this.#workers.note(id)
    const changed = this.#change(
      id,
      (record) => {
        if (!record.isHeldBy(hold)) return UNCHANGED
        record.countLoss()
        if (isBuried) return keepFailedMs === 0 ? undefined : failed(record, encodeLoss(record.losses))
        record.release(0)
        return record
      },
      isBuried && keepFailedMs !== Number.POSITIVE_INFINITY ? { ttlMs: keepFailedMs } : undefined,
    )
    if (changed !== UNCHANGED && !isBuried) this.#pushReady(RETURNED_LEVEL, id)
    this.#workers.clearNote()
    if (changed !== UNCHANGED && isBuried) this.ended.ring()
  }

  #enqueueNew(id: string, record: JobRecord): void {
    try {
      this.#enqueueAgain(id, record)
    } catch (error) {
      this.jobs.deleteSync(id)
      throw error
    }
  }

  /** The job is what it is already: without memory for the entry, others put it there later. */
  #enqueue(id: string, record: JobRecord): void {
    try {
      this.#enqueueAgain(id, record)
    } catch (error) {
      if (!(error instanceof HeapFullError)) throw error
      this.heap.memory.store(this.#body + JobsOffset.Incomplete, 1)
    }
  }

  #enqueueAgain(id: string, record: JobRecord): void {
    const now = this.now()
    if (record.dueMs > now) {
      this.#turn(now)
      if (this.#wheel.insert(id, record.dueMs)) {
        if (record.dueMs - now < SOON_MS) this.filled.ring()
        return
      }
    }
    this.#pushReady(record.level, id)
  }

  #pushReady(level: number, id: string): void {
    this.#ready.push(level, id)
    this.filled.ring()
  }

  /** Entries may be missing: put in all that might be. */
  #fill(): void {
    for (const { id, record } of this.all()) if (record.phase === JobPhase.Pending) this.#enqueue(id, record)
  }

  #turn(now: number): void {
    try {
      this.#wheel.turn(now, (id) => this.#fire(id, now))
    } catch (error) {
      // The next turn begins where this one ended.
      if (!(error instanceof HeapFullError)) throw error
    }
  }

  #fire(id: string, now: number): void {
    const record = this.get(id)
    if (record?.phase !== JobPhase.Pending) return
    if (record.dueMs > now && this.#wheel.insert(id, record.dueMs)) return
    this.#pushReady(record.level, id)
  }
}

interface HeldJob {
  readonly hold: Hold
  readonly lost: () => void
}

function failed(record: JobRecord, error: Uint8Array): JobRecord {
  const next = record.withOutcome(error)
  next.end(JobPhase.Failed)
  return next
}

/** The jobs of a queue, for a member that shows signs of life from its event loop. */
export function openJobCore(name: string, heap: Heap, body: number, settings: JobCoreSettings): JobCore {
  const core = new JobCore(name, heap, body, settings)
  const timer = setInterval(() => core.beat(), settings.leaseMs / BEATS).unref()
  heap.onClose(() => clearInterval(timer))
  return core
}
