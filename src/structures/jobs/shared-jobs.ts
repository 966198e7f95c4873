import { setTimeout as sleep } from 'node:timers/promises'
import { decodeOwn } from '../../codecs/index.ts'
import {
  checkAbort,
  checkFunction,
  checkIteration,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkSignalKind,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../../native/index.ts'
import { HeapFullError } from '../errors.ts'
import type { Meter } from '../figures/meter.ts'
import { encodeValue, type ValueSettings } from '../values/value-settings.ts'
import type { Ring } from '../waiting/ring.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import { JobError } from './errors.ts'
import { Job } from './job.ts'
import type { JobCore, TakenJob } from './job-core.ts'
import { type AddOptions, checkAdd, checkJobId, checkOwnJobId, type JobRules, termsOf } from './job-options.ts'
import { decodeOutcome, encodeFailure, type JobFailure } from './job-outcome.ts'
import { JobPhase, JobRecord } from './job-record.ts'
import { JOB_STATES, type JobCounts, type JobSnapshot, type JobState, snapshotOf, stateOf } from './job-snapshot.ts'
import type { JobSchedule, ScheduleRule, Schedules } from './schedules.ts'

/** Options of {@link SharedJobs.work}. */
export interface WorkOptions extends WaitOptions {
  /** How many jobs this call works on at a time. Default 1. */
  readonly concurrency?: number
  /**
   * How long a worker without a job looks for one in each turn of its event loop before it sleeps, in milliseconds.
   * Jobs then begin sooner, and it takes a processor meanwhile. Default 0: as long as that has paid recently.
   */
  readonly spinMs?: number
}

/** Options of {@link SharedJobs.list} and {@link SharedJobs.clear}. */
export interface JobListOptions extends WaitOptions {
  readonly state?: JobState
  /** The most jobs that it returns. Default 100. */
  readonly limit?: number
}

const workNames: OptionNames<WorkOptions> = { concurrency: true, spinMs: true, signal: true }
const listNames: OptionNames<JobListOptions> = { state: true, limit: true, signal: true }

const CONCURRENCY_MAX = 100_000
const LIST_LIMIT = 100
/** How long {@link SharedJobs.run} has a result kept: it is read at once. */
const RUN_KEEP_MS = 60_000
const FULL_PAUSE_MS = 100

/** What a job queue was opened with. */
export interface JobsSettings<V> extends ValueSettings<V> {
  readonly meter: Meter
  readonly rules: JobRules
}

/**
 * Jobs for the processes of a service. Each is worked on at least once: a worker takes it, and completes it. If the
 * worker is killed, the job goes to another at once; if it is stopped, when its lease is over.
 */
export class SharedJobs<V, R = unknown> implements AsyncIterable<Job<V, R>> {
  readonly name: string
  readonly #core: JobCore
  readonly #settings: JobsSettings<V>
  readonly #schedules: Schedules

  /** @internal */
  constructor(name: string, core: JobCore, schedules: Schedules, settings: JobsSettings<V>) {
    this.name = name
    this.#core = core
    this.#schedules = schedules
    this.#settings = settings
  }

  /** Add a job. Resolves with its id. @throws HeapFullError */
  async add(data: V, options: AddOptions = {}): Promise<string> {
    checkAdd('add', options)
    return this.#core.addNext(this.#record(data, options))
  }

  addSync(data: V, options: AddOptions = {}): string {
    checkAdd('addSync', options)
    return this.#core.addNext(this.#record(data, options))
  }

  /** Add a job with an id of your own, at most 100 bytes; false if there is one with that id. @throws HeapFullError */
  async addIfAbsent(id: string, data: V, options: AddOptions = {}): Promise<boolean> {
    checkAdd('addIfAbsent', options)
    return this.addIfAbsentSync(id, data, options)
  }

  addIfAbsentSync(id: string, data: V, options: AddOptions = {}): boolean {
    checkAdd('addIfAbsentSync', options)
    return this.#core.add(checkOwnJobId(id), this.#record(data, options))
  }

  /** Resolves with a job when there is one; this process holds it then. */
  async take(options?: WaitOptions): Promise<Job<V, R>> {
    checkAbort('take', options)
    this.#settings.meter.wrote()
    return await this.#core.filled.wait((ask) => this.#take(ask), options)
  }

  /** Take a job; undefined if there is none. */
  async tryTake(options?: WaitOptions): Promise<Job<V, R> | undefined> {
    checkAbort('tryTake', options)
    this.#settings.meter.wrote()
    return this.#take(true)
  }

  /** Jobs as they come, for ever. Leaving the loop ends it; each job has to be settled. */
  jobs(options?: WaitOptions): AsyncGenerator<Job<V, R>, undefined> {
    checkIteration('jobs', options)
    return this.#jobs(options)
  }

  [Symbol.asyncIterator](): AsyncGenerator<Job<V, R>, undefined> {
    return this.jobs()
  }

  /**
   * Call `handler` with each job. What it returns is the result; if it throws, the attempt has failed. When the signal
   * is aborted no more jobs are taken; it resolves when the handlers have ended.
   */
  async work(handler: (job: Job<V, R>) => R | Promise<R>, options: WorkOptions = {}): Promise<void> {
    checkFunction('handler', handler, 'which takes the job')
    checkOptions('work', options, workNames)
    const { concurrency = 1, spinMs = 0, signal } = options
    checkWhole('options.concurrency', concurrency, 1, CONCURRENCY_MAX)
    if (spinMs !== 0) checkMilliseconds('options.spinMs', spinMs)
    checkSignalKind('options.signal', signal)
    const running = new Running(concurrency)
    using ring = this.#core.filled.listen(signal)
    for (;;) {
      const taken = await this.#next(ring, signal, spinMs)
      if (taken === undefined) break
      await running.add(() => workOn(taken, handler))
    }
    await running.all()
  }

  /**
   * The result of a job, when it has completed. Completed jobs have to be kept for that: `keepCompletedMs`.
   * @throws JobError if it has failed, or is not there (any more).
   */
  async result(id: string, options?: WaitOptions): Promise<R> {
    checkJobId(id)
    checkAbort('result', options)
    this.#settings.meter.read()
    const end = await this.#core.ended.wait(() => this.#endOf(id), options)
    if (end.record !== undefined) return decodeOutcome(end.record.outcome) as R
    throw end.error
  }

  /** Add a job and wait for its result. @throws JobError if it has failed */
  async run(data: V, options: AddOptions = {}): Promise<R> {
    checkAdd('run', options)
    const keepCompletedMs = options.keepCompletedMs ?? (this.#settings.rules.keepCompletedMs || RUN_KEEP_MS)
    const id = this.#core.addNext(this.#record(data, { ...options, keepCompletedMs }))
    return await this.result(id, options.signal && { signal: options.signal })
  }

  /** What is known of a job; undefined if it is not there. */
  async get(id: string, options?: WaitOptions): Promise<JobSnapshot<V, R> | undefined> {
    checkAbort('get', options)
    this.#core.heap.checkOpen()
    const record = this.#core.get(checkJobId(id))
    return record && this.#snapshot(id, record)
  }

  /** Jobs in no order, at most `limit`. It may look at all jobs. */
  async list(options: JobListOptions = {}): Promise<readonly JobSnapshot<V, R>[]> {
    checkOptions('list', options, listNames)
    const { state, limit = LIST_LIMIT, signal } = options
    checkSignal('options.signal', signal)
    checkState(state)
    if (limit !== Number.POSITIVE_INFINITY) checkWhole('options.limit', limit, 1, 2 ** 31)
    const found: JobSnapshot<V, R>[] = []
    const now = this.#core.now()
    for (const { id, record } of this.#core.all()) {
      if (found.length >= limit) break
      if (state === undefined || stateOf(record, now) === state) found.push(this.#snapshot(id, record))
    }
    return found
  }

  /** How many jobs are in each state. It looks at all jobs: 0.1 to 0.5 s for a million. */
  async counts(options?: WaitOptions): Promise<JobCounts> {
    checkAbort('counts', options)
    const counts = { waiting: 0, delayed: 0, active: 0, completed: 0, failed: 0 }
    const now = this.#core.now()
    for (const { record } of this.#core.all()) counts[stateOf(record, now)] += 1
    return counts
  }

  /** No job is taken until {@link resume}, by any process. Those that are held go on. */
  async pause(): Promise<void> {
    this.#core.pause(true)
  }

  async resume(): Promise<void> {
    this.#core.pause(false)
  }

  get isPaused(): boolean {
    this.#core.heap.checkOpen()
    return this.#core.isPaused
  }

  /** Try a failed or completed job again, or a delayed one now. False if it is waiting, active, or not there. */
  async retry(id: string): Promise<boolean> {
    const record = this.#core.get(checkJobId(id))
    if (record === undefined || stateOf(record, this.#core.now()) === 'waiting') return false
    return this.#core.reschedule(id, [JobPhase.Pending, JobPhase.Completed, JobPhase.Failed], 0)
  }

  /** Remove a job of any state. A worker that holds it finds out when it settles it. False if there is none. */
  async remove(id: string): Promise<boolean> {
    this.#core.heap.checkOpen()
    return this.#core.remove(checkJobId(id))
  }

  /** Remove all jobs that wait or are delayed. Resolves with their number. */
  async drain(): Promise<number> {
    return this.#removeAll((record) => record.phase === JobPhase.Pending)
  }

  /** Remove all jobs of a state. Resolves with their number. */
  async clear(state: JobState): Promise<number> {
    if (state === undefined) throw mustBe('state', STATES_RULE, state)
    checkState(state)
    const now = this.#core.now()
    return this.#removeAll((record) => stateOf(record, now) === state)
  }

  /**
   * Add a job again and again, under a name: in equal intervals, or when a cron expression says so (which needs
   * the package `cron-parser`). If no worker was there for several occurrences, one is made up for. Replaces what the
   * name stood for.
   */
  async repeat(name: string, rule: ScheduleRule, data: V, options: AddOptions = {}): Promise<void> {
    checkAdd('repeat', options)
    const terms = termsOf(options, this.#settings.rules)
    await this.#schedules.set(name, rule, this.#encode(data), terms)
  }

  /** End a schedule. Its next job is removed unless a worker has it. False if there is none. */
  async unrepeat(name: string): Promise<boolean> {
    return this.#schedules.remove(name)
  }

  /** All schedules. */
  async schedules(): Promise<readonly JobSchedule[]> {
    return this.#schedules.list()
  }

  async *#jobs(options?: WaitOptions): AsyncGenerator<Job<V, R>, undefined> {
    for (;;) yield await this.take(options)
  }

  #record(data: V, options: AddOptions): JobRecord {
    const { delayMs = 0 } = options
    // To wake a worker takes longer than to add the job: it looks for it meanwhile.
    if (delayMs === 0) this.#core.filled.ring()
    const dueMs = delayMs === 0 ? 0 : this.#core.now() + delayMs
    return JobRecord.of(termsOf(options, this.#settings.rules), this.#encode(data), dueMs)
  }

  #encode(data: V): Uint8Array {
    return encodeValue(this.#settings, this.name, data)
  }

  #take(ask: boolean): Job<V, R> | undefined {
    this.#core.heap.checkOpen()
    this.#schedules.tend()
    const taken = this.#core.take(ask)
    return taken && this.#jobOf(taken)
  }

  #jobOf(taken: TakenJob): Job<V, R> {
    const job = new Job<V, R>(this.name, this.#core, taken, this.#dataOf(taken))
    try {
      this.#schedules.follow(taken)
    } catch (error) {
      this.#core.release(taken.id, 0)
      throw error
    }
    return job
  }

  /** A job whose data cannot be decoded has failed. */
  #dataOf(taken: TakenJob): V {
    try {
      return this.#decode(taken.record.data)
    } catch (error) {
      this.#core.keep(taken, () => {})
      this.#core.bury(taken.id, taken.record.keepFailedMs, encodeFailure(error))
      throw error
    }
  }

  #decode(data: Uint8Array): V {
    return decodeOwn(this.#settings.codec, data)
  }

  /** Undefined once the signal is aborted. */
  async #next(ring: Ring, signal: AbortSignal | undefined, spinMs: number): Promise<Job<V, R> | undefined> {
    while (!isAborted(signal)) {
      try {
        this.#settings.meter.wrote()
        const waiting = { signal, spinMs }
        return this.#take(false) ?? (await this.#core.filled.waitOn(ring, (ask) => this.#take(ask), waiting))
      } catch (error) {
        if (isAborted(signal)) return undefined
        if (!(error instanceof HeapFullError)) throw error
        await sleep(FULL_PAUSE_MS)
      }
    }
    return undefined
  }

  #endOf(id: string): { readonly record?: JobRecord; readonly error?: JobError } | undefined {
    this.#core.heap.checkOpen()
    const record = this.#core.get(id)
    if (record?.phase === JobPhase.Completed) return { record }
    if (record?.phase === JobPhase.Failed) return { error: this.#failedError(id, record) }
    return record === undefined ? { error: this.#missingError(id) } : undefined
  }

  #failedError(id: string, record: JobRecord): JobError {
    const failure = decodeOutcome(record.outcome) as JobFailure
    const why = `job ${id} of '${this.name}' has failed: ${failure.name}: ${failure.message}`
    return new JobError('ERR_AETHER_JOB_FAILED', this.name, id, why, { cause: failure })
  }

  #missingError(id: string): JobError {
    const why = `there is no job ${id} in '${this.name}': it never was, or it has ended and was not kept (keepCompletedMs)`
    return new JobError('ERR_AETHER_JOB_NOT_FOUND', this.name, id, why)
  }

  #snapshot(id: string, record: JobRecord): JobSnapshot<V, R> {
    return snapshotOf(id, record, this.#core.now(), (data) => this.#decode(data))
  }

  #removeAll(isMeant: (record: JobRecord) => boolean): number {
    this.#core.heap.checkOpen()
    let removed = 0
    for (const { id, record } of this.#core.all()) if (isMeant(record) && this.#core.remove(id, isMeant)) removed += 1
    return removed
  }
}

/** Handlers that run at the same time, up to a number. */
class Running {
  readonly #max: number
  readonly #promises = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined
  #ended: (() => void) | undefined

  constructor(max: number) {
    this.#max = max
  }

  /** Begin `work`. Resolves when there is room for another one. Rejects if any has failed. */
  async add(work: () => Promise<void>): Promise<void> {
    const promise = work()
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .then(() => {
        this.#promises.delete(promise)
        this.#ended?.()
      })
    this.#promises.add(promise)
    while (this.#promises.size >= this.#max) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve
      })
    }
    this.#check()
  }

  /** Resolves when all have ended. Rejects if any has failed. */
  async all(): Promise<void> {
    await Promise.all(this.#promises)
    this.#check()
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

async function workOn<V, R>(job: Job<V, R>, handler: (job: Job<V, R>) => R | Promise<R>): Promise<void> {
  let settle: () => Promise<void>
  try {
    const result = await handler(job)
    settle = () => job.complete(result)
  } catch (error) {
    settle = () => job.fail(error)
  }
  if (!job.isSettled) await settleSurely(settle)
}

/** While there is no memory the job stays held. What was lost meanwhile is another worker's. */
async function settleSurely(settle: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await settle()
    } catch (error) {
      if (error instanceof JobError) return
      if (!(error instanceof HeapFullError)) throw error
      await sleep(FULL_PAUSE_MS)
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

const STATES_RULE = `one of ${JOB_STATES.join(', ')}`

function checkState(state: JobState | undefined): void {
  if (state !== undefined && !JOB_STATES.includes(state)) throw mustBe('options.state', STATES_RULE, state)
}
