import { EventEmitter } from 'node:events'
import type {
  DependenciesOpts,
  IQueueBackend,
  JobJson,
  JobProgress,
  JobState,
  JobsOptions,
  JobType,
  KeepJobs,
  MinimalJob,
  MoveToDelayedOpts,
  MoveToWaitingChildrenOpts,
  ParentKeyOpts,
  QueueBaseOptions,
  RepeatableOptions,
  RetryJobOpts,
  RetryOptions,
  StreamReadRaw,
} from 'bullmq'
import { UnsupportedError } from '../../native/index.ts'
import { type NextJob, type Taker, takeNext } from './queue/activating.ts'
import { addJob, releaseIfReady } from './queue/adding.ts'
import { cleanState, drain, obliterate, removeOrphans } from './queue/clearing.ts'
import { Failure, failureError } from './queue/failure.ts'
import { finish, keepJobs, type Outcome } from './queue/finishing.ts'
import { jobJson } from './queue/job-json.ts'
import type { Marker } from './queue/markers.ts'
import { readMetrics } from './queue/metrics.ts'
import {
  awaitChildren,
  changeDelay,
  changePriority,
  giveBack,
  moveAllToWait,
  pause,
  postpone,
  promote,
  recoverStalled,
  reprocess,
  resume,
  retry,
} from './queue/moving.ts'
import type { QueueState } from './queue/queue-state.ts'
import {
  childValues,
  countChildren,
  countPriorities,
  countStates,
  type Dependencies,
  dependenciesOf,
  finishedOrNot,
  idsInStates,
  logOf,
  type Page,
  pageOfChildren,
  stateNamed,
  stateOfJob,
} from './queue/reading.ts'
import { detach, isLocked, isNextOfScheduler, removeChildren, removeFamily } from './queue/removing.ts'
import { addScheduler, advanceScheduler, attributesOf, removeScheduler } from './queue/schedulers.ts'
import type { StoreHold } from './store-hold.ts'

/** Options of queues and workers that the types of a backend's options leave out. */
interface WorkerSettings {
  readonly prefix?: string
  readonly name?: string
  readonly lockDuration?: number
  readonly stalledInterval?: number
  readonly maxStalledCount?: number
  readonly limiter?: { readonly max: number; readonly duration: number }
  readonly metrics?: { readonly maxDataPoints?: number }
  readonly removeOnComplete?: KeepJobs
  readonly removeOnFail?: KeepJobs
}

/** What BullMQ calls a queue's keys. Programs see some of them. */
const KEY_NAMES = [
  '',
  'active',
  'wait',
  'waiting-children',
  'paused',
  'id',
  'delayed',
  'prioritized',
  'stalled-check',
  'completed',
  'failed',
  'stalled',
  'repeat',
  'limiter',
  'meta',
  'events',
  'pc',
  'marker',
  'de',
] as const

const DEFAULT_PREFIX = 'bull'
/** The shortest and the longest wait for a job that a worker asks for, in seconds. */
const BLOCK_SECONDS_MIN = 0.001
const BLOCK_SECONDS_MAX = 10
/** Default of a worker's `lockDuration`, and of its `stalledInterval`. */
const LOCK_MS = 30_000

/**
 * BullMQ's operations on one queue, in the memory of a space. Each is one transaction: it is done for all processes, or
 * was never there. What each does follows BullMQ's backend on Redis; see docs/adapters.md for what differs.
 *
 * @internal Made by {@link aetherBackend}.
 */
export class AetherBackend extends EventEmitter implements IQueueBackend {
  readonly keys: Record<string, string>
  readonly qualifiedName: string
  closing: Promise<void> | undefined
  readonly #hold: StoreHold
  readonly #name: string
  readonly #prefix: string
  readonly #settings: WorkerSettings
  readonly #isOwner: boolean
  #interrupted = false

  constructor(hold: StoreHold, name: string, opts: QueueBaseOptions<unknown>, isOwner: boolean = true) {
    super()
    this.#hold = hold
    this.#name = name
    this.#settings = opts as WorkerSettings
    this.#prefix = this.#settings.prefix ?? DEFAULT_PREFIX
    this.#isOwner = isOwner
    this.qualifiedName = `${this.#prefix}:${name}`
    this.keys = Object.fromEntries(KEY_NAMES.map((key) => [key, this.toKey(key)]))
    if (isOwner) this.#announce()
  }

  // StoreHold

  async waitUntilReady(): Promise<void> {
    await this.#hold.open()
  }

  async close(): Promise<void> {
    if (!this.#isOwner) return
    this.closing ??= this.#hold.close().then(() => void this.emit('close'))
    await this.closing
  }

  async disconnect(): Promise<void> {
    if (this.#isOwner) this.#hold.interrupt()
  }

  async setName(): Promise<void> {
    // There are no connections that could have names.
  }

  get minimumBlockTimeout(): number {
    return BLOCK_SECONDS_MIN
  }

  get maximumBlockTimeout(): number {
    return BLOCK_SECONDS_MAX
  }

  forQueue(queueName: string, prefix: string = this.#prefix): AetherBackend {
    return new AetherBackend(
      this.#hold,
      queueName,
      { connection: undefined, prefix } as QueueBaseOptions<unknown>,
      false,
    )
  }

  toKey(type: string): string {
    return `${this.qualifiedName}:${type}`
  }

  parseNodeKey(key: string): { prefix: string; queueName: string; id: string } {
    const last = key.lastIndexOf(':')
    const before = key.lastIndexOf(':', last - 1)
    return { prefix: key.slice(0, before), queueName: key.slice(before + 1, last), id: key.slice(last + 1) }
  }

  clientName(suffix: string = ''): string {
    return `${this.#prefix}:${Buffer.from(this.#name).toString('base64')}${suffix}`
  }

  /** There is no client: not what a program that talks to Redis itself can use. @throws UnsupportedError */
  get client(): never {
    throw new UnsupportedError('queues in shared memory have no Redis client; use the methods of Queue and Job')
  }

  // Adding

  async addJob(job: JobJson, jobId: string, parentKeyOpts: ParentKeyOpts = {}): Promise<string> {
    const added = await this.#run((queue) => addJob(queue, job, jobId, parentKeyOpts))
    return this.#passed(added, { command: 'addJob', parentKey: parentKeyOpts.parentKey })
  }

  async addJobs(entries: { job: JobJson; jobId: string; parentKeyOpts?: ParentKeyOpts }[]): Promise<string[]> {
    const ids = await this.#run((queue) =>
      entries.map(({ job, jobId, parentKeyOpts = {} }) => addJob(queue, job, jobId, parentKeyOpts)),
    )
    return ids as string[]
  }

  async addFlow(
    entries: { jobData: JobJson; jobId: string; parentKeyOpts: ParentKeyOpts; prefix: string; queueName: string }[],
  ): Promise<[Error | null, string | number][]> {
    const nowMs = Date.now()
    return await this.#run(({ queues }) => {
      const results = entries.map(({ jobData, jobId, parentKeyOpts, prefix, queueName }) => {
        const queue = queues.get(`${prefix}:${queueName}`)
        return addJob(queue, jobData, jobId, { ...parentKeyOpts, deferParentRelease: true })
      })
      const parents = new Map(entries.map(({ jobData, parentKeyOpts }) => [parentKeyOpts?.parentKey, jobData.parent]))
      for (const [key, parent] of parents)
        if (key && parent) releaseIfReady(queues.get(parent.queueKey), parent, key, nowMs)
      return results.map((result): [null, string | number] => [null, result])
    })
  }

  // Processing

  async moveToActive(token: string, name?: string): Promise<unknown[]> {
    const taker = this.#taker(token, name)
    return await this.#run((queue) => takeNext(queue, taker, Date.now()))
  }

  async moveToCompleted<T = unknown, R = unknown, N extends string = string>(
    job: MinimalJob<T, R, N>,
    returnValue: R,
    removeOnComplete: boolean | number | KeepJobs,
    token: string,
    fetchNext: boolean = false,
  ): Promise<{ result: undefined | unknown[]; finishedOn: number }> {
    const value = JSON.stringify(returnValue) ?? 'null'
    const keep = keepJobs(removeOnComplete, this.#settings.removeOnComplete)
    return await this.#finish(job, { state: 'completed', value, keep, token }, fetchNext)
  }

  async moveToFailed<T = unknown, R = unknown, N extends string = string>(
    job: MinimalJob<T, R, N>,
    failedReason: string,
    removeOnFail: boolean | number | KeepJobs,
    token: string,
    fetchNext: boolean = false,
    fields?: Record<string, unknown>,
  ): Promise<{ result: undefined | unknown[]; finishedOn: number }> {
    const value = failedReason === undefined ? 'null' : `${failedReason}`
    const keep = keepJobs(removeOnFail, this.#settings.removeOnFail)
    return await this.#finish(job, { state: 'failed', value, keep, token, fields }, fetchNext)
  }

  async moveToDelayed(
    jobId: string,
    timestamp: number,
    delay: number,
    token: string = '0',
    { skipAttempt = false, fieldsToUpdate, fetchNext = false }: MoveToDelayedOpts = {},
  ): Promise<undefined | unknown[]> {
    const next = fetchNext && this.closing === undefined ? this.#taker(token, this.#settings.name) : undefined
    const wanted = { id: jobId, token, nowMs: timestamp, delayMs: delay, skipAttempt, fields: fieldsToUpdate, next }
    const moved = await this.#run((queue) => postpone(queue, wanted))
    return nextJob(this.#passed(moved, { command: 'moveToDelayed', jobId, state: 'active' }))
  }

  async moveToWaitingChildren(
    jobId: string,
    token: string,
    { child }: MoveToWaitingChildrenOpts = {},
  ): Promise<boolean> {
    const childKey = child && `${child.queue}:${child.id}`
    const moved = await this.#run((queue) => awaitChildren(queue, jobId, token, childKey))
    return this.#passed(moved, { command: 'moveToWaitingChildren', jobId, state: 'active' }) === 0
  }

  async moveJobFromActiveToWait(jobId: string, token: string = '0'): Promise<number> {
    const moved = await this.#run((queue) => giveBack(queue, jobId, token))
    return this.#passed(moved, { command: 'moveJobFromActiveToWait', jobId, state: 'active' })
  }

  async retryJob(jobId: string, lifo: boolean, token: string = '0', opts: RetryJobOpts = {}): Promise<void> {
    const request = { token, lifo, fields: opts.fieldsToUpdate, nowMs: Date.now() }
    const retried = await this.#run((queue) => retry(queue, jobId, request))
    this.#passed(retried, { command: 'retryJob', jobId, state: 'active' })
  }

  async retryFinishedJob<T = unknown, R = unknown, N extends string = string>(
    job: MinimalJob<T, R, N>,
    state: 'failed' | 'completed',
    { resetAttemptsMade = false, resetAttemptsStarted = false }: RetryOptions = {},
  ): Promise<void> {
    const id = job.id!
    const reset = { resetMade: resetAttemptsMade, resetStarted: resetAttemptsStarted }
    const lifo = job.opts.lifo === true
    const retried = await this.#run((queue) => reprocess(queue, id, state, { lifo, ...reset }))
    this.#passed(retried, { command: 'reprocessJob', jobId: id, state })
  }

  async promote(jobId: string): Promise<void> {
    const promoted = await this.#run((queue) => promote(queue, jobId))
    this.#passed(promoted, { command: 'promote', jobId, state: 'delayed' })
  }

  async moveStalledJobsToWait(): Promise<string[]> {
    const { maxStalledCount = 1, stalledInterval = LOCK_MS } = this.#settings
    return await this.#run((queue) =>
      recoverStalled(queue, { stalledMax: maxStalledCount, intervalMs: stalledInterval }),
    )
  }

  async retryFinishedJobs(
    state: 'completed' | 'failed' = 'failed',
    count: number = 1000,
    timestamp: number = Date.now(),
  ): Promise<number> {
    return (await this.#run((queue) => moveAllToWait(queue, state, count, timestamp))) ? 1 : 0
  }

  async promoteJobs(count: number = 1000): Promise<number> {
    return (await this.#run((queue) => moveAllToWait(queue, 'delayed', count, Number.MAX_VALUE))) ? 1 : 0
  }

  // The whole queue

  async pause(paused: boolean): Promise<void> {
    await this.#run(paused ? pause : resume)
  }

  async drain(delayed: boolean): Promise<void> {
    while (await this.#run((queue) => drain(queue, delayed)));
  }

  async cleanJobsByState(state: string, timestamp: number, limit: number = 0): Promise<string[]> {
    const ids: string[] = []
    for (let more = true; more; ) {
      const left = limit > 0 ? limit - ids.length : 0
      more = await this.#run((queue) => {
        const step = cleanState(queue, state, timestamp, left)
        ids.push(...step.ids)
        if (!step.more) queue.events.add(['event', 'cleaned', 'count', `${ids.length}`])
        return step.more
      })
    }
    return ids
  }

  async obliterate({ force, count }: { force: boolean; count: number }): Promise<number> {
    const outcome = await this.#run((queue) => obliterate(queue, count, force))
    if (outcome === 'not paused') throw new Error('Cannot obliterate non-paused queue')
    if (outcome === 'active jobs') throw new Error('Cannot obliterate queue with active jobs')
    return outcome === 'done' ? 0 : 1
  }

  async removeOrphanedJobs(_count?: number, limit: number = 0): Promise<number> {
    let removed = 0
    for (let more = true; more; ) {
      const step = await this.#run((queue) => removeOrphans(queue, limit > 0 ? limit - removed : 0))
      removed += step.removed
      more = step.more && (limit === 0 || removed < limit)
    }
    return removed
  }

  // One job

  async extendLock(jobId: string, token: string, duration: number): Promise<number> {
    return await this.#run((queue) => (queue.locks.extend(queue.find(jobId), token, duration) ? 1 : 0))
  }

  async extendLocks(jobIds: string[], tokens: string[], duration: number): Promise<string[]> {
    return await this.#run((queue) =>
      jobIds.filter((id, at) => !queue.locks.extend(queue.find(id), tokens[at]!, duration)),
    )
  }

  async updateData<T = unknown, R = unknown, N extends string = string>(
    job: MinimalJob<T, R, N>,
    data: T,
  ): Promise<void> {
    const id = job.id!
    const text = JSON.stringify(data)
    await this.#change('updateData', id, (queue, found) => queue.setText(found, 'data', text))
  }

  async updateProgress(jobId: string, progress: JobProgress): Promise<void> {
    const text = JSON.stringify(progress)
    await this.#change('updateProgress', jobId, (queue, job) => {
      queue.setText(job, 'progress', text)
      queue.events.add(['event', 'progress', 'jobId', jobId, 'data', text])
    })
  }

  async addLog(jobId: string, logRow: string, keepLogs?: number): Promise<number> {
    return await this.#change('addLog', jobId, (queue, job) => {
      const count = queue.logs.add(job, `${logRow}`)
      if (!keepLogs) return count
      queue.logs.trim(job, keepLogs)
      return Math.min(keepLogs, count)
    })
  }

  async clearLogs(jobId: string, keepLogs: number = 0): Promise<void> {
    await this.#run((queue) => queue.logs.trim(queue.find(jobId), keepLogs))
  }

  async changeDelay(jobId: string, delay: number): Promise<void> {
    const changed = await this.#run((queue) => changeDelay(queue, jobId, delay, Date.now()))
    this.#passed(changed, { command: 'changeDelay', jobId, state: 'delayed' })
  }

  async changePriority(jobId: string, priority: number = 0, lifo: boolean = false): Promise<void> {
    const changed = await this.#run((queue) => changePriority(queue, jobId, priority, lifo))
    this.#passed(changed, { command: 'changePriority', jobId })
  }

  async remove(jobId: string, withChildren: boolean): Promise<number> {
    const removed = await this.#run((queue) => {
      const job = queue.find(jobId)
      if (isNextOfScheduler(queue, job)) return Failure.OfScheduler
      if (isLocked(queue, job, withChildren)) return 0
      removeFamily(queue, jobId, { withChildren, unprocessedOnly: false })
      return 1
    })
    return this.#passed(removed, { command: 'removeJob', jobId })
  }

  async removeUnprocessedChildren(jobId: string): Promise<void> {
    await this.#run((queue) => {
      const job = queue.find(jobId)
      if (job !== 0) removeChildren(queue, job, { withChildren: true, unprocessedOnly: true })
    })
  }

  async removeChildDependency(jobId: string, parentKey: string): Promise<boolean> {
    const removed = await this.#run((queue) => {
      const job = queue.find(jobId)
      if (!queue.exists(job)) return Failure.Missing
      if (queue.queues.locate(parentKey) === undefined) return Failure.ParentMissing
      if (!detach(queue, job, { hard: false, parentKey })) return 1
      queue.setText(job, 'parentKey', undefined)
      queue.setText(job, 'parent', undefined)
      return 0
    })
    return this.#passed(removed, { command: 'removeChildDependency', jobId, parentKey }) === 0
  }

  async removeDeduplicationKey(deduplicationId: string, jobId: string): Promise<number> {
    return await this.#run(({ deduplication }) =>
      deduplication.get(deduplicationId) === jobId && deduplication.delete(deduplicationId) ? 1 : 0,
    )
  }

  async deleteDeduplicationKey(deduplicationId: string): Promise<number> {
    return await this.#run(({ deduplication }) => (deduplication.delete(deduplicationId) ? 1 : 0))
  }

  // Job schedulers

  async addJobScheduler(
    jobSchedulerId: string,
    nextMillis: number,
    templateData: string,
    templateOpts: JobsOptions,
    opts: RepeatableOptions,
    delayedJobOpts: JobsOptions,
  ): Promise<[string, number]> {
    const request = {
      id: jobSchedulerId,
      nextMs: Number(nextMillis),
      data: templateData,
      templateOpts,
      opts,
      jobOpts: delayedJobOpts,
      nowMs: Date.now(),
    }
    const added = await this.#run((queue) => addScheduler(queue, request))
    return this.#passed(added, { command: 'addJobScheduler' })
  }

  async updateJobSchedulerNextMillis(
    jobSchedulerId: string,
    nextMillis: number,
    _templateData: string,
    delayedJobOpts: JobsOptions,
    producerId?: string,
  ): Promise<string | null> {
    const request = { id: jobSchedulerId, nextMs: Number(nextMillis), jobOpts: delayedJobOpts, nowMs: Date.now() }
    return await this.#run((queue) => advanceScheduler(queue, request, producerId))
  }

  async removeJobScheduler(jobSchedulerId: string): Promise<number> {
    return (await this.#run((queue) => removeScheduler(queue, jobSchedulerId))) ? 0 : 1
  }

  async getJobScheduler(id: string): Promise<[unknown, string | null]> {
    return await this.#run((queue) => {
      const scheduler = queue.find(id)
      if (!queue.has('repeat', scheduler)) return [null, null]
      return [Object.entries(attributesOf(queue, id)).flat(), `${queue.score('repeat', scheduler)}`]
    })
  }

  async isJobScheduler(id: string): Promise<boolean> {
    return await this.#run((queue) => 'ic' in attributesOf(queue, id))
  }

  async getJobSchedulerData(key: string): Promise<Record<string, string>> {
    return await this.#run((queue) => attributesOf(queue, key))
  }

  async getJobSchedulersRange(start: number, end: number, asc: boolean): Promise<string[]> {
    return await this.#run((queue) => {
      const schedulers = asc ? queue.range('repeat', start, end) : queue.reverseRange('repeat', start, end)
      return schedulers.flatMap((scheduler) => [queue.idOf(scheduler), `${queue.score('repeat', scheduler)}`])
    })
  }

  async getJobSchedulersCount(): Promise<number> {
    return await this.#run((queue) => queue.count('repeat'))
  }

  // Reading

  async getState(jobId: string): Promise<JobState | 'unknown'> {
    return await this.#run((queue) => stateOfJob(queue, jobId))
  }

  async isFinished(jobId: string, returnValue: boolean = false): Promise<number | [number, string]> {
    return await this.#run((queue) => finishedOrNot(queue, jobId, returnValue))
  }

  async isMaxed(): Promise<boolean> {
    return await this.#run((queue) => queue.isMaxed)
  }

  async isJobInState(state: string, jobId: string): Promise<boolean> {
    const name = stateNamed(state)
    if (name === undefined && state !== 'paused') throw new Error(`Unknown job state: ${state}`)
    return name !== undefined && (await this.#run((queue) => queue.has(name, queue.find(jobId))))
  }

  async getJobData(jobId: string): Promise<JobJson | undefined> {
    return await this.#run((queue) => {
      const job = queue.find(jobId)
      return queue.exists(job) ? jobJson(queue, job) : undefined
    })
  }

  async getDeduplicationJobId(deduplicationId: string): Promise<string | null> {
    return await this.#run((queue) => queue.deduplication.get(deduplicationId) ?? null)
  }

  async getJobLogs(
    jobId: string,
    start: number,
    end: number,
    asc: boolean,
  ): Promise<{ logs: string[]; count: number }> {
    return await this.#run((queue) => logOf(queue, jobId, { start, end, asc }))
  }

  async getRateLimitTtl(maxJobs: number = 0): Promise<number> {
    return await this.#run((queue) => {
      const most = maxJobs || Number(queue.meta.get('max') ?? 0)
      return most > 0 ? queue.limit.waitMs(most) : queue.limit.leftMs()
    })
  }

  async getCounts(types: JobType[], delayedTimestamp?: number): Promise<number[]> {
    return await this.#run((queue) => countStates(queue, types, delayedTimestamp))
  }

  async getCountsPerPriority(priorities: number[]): Promise<number[]> {
    return await this.#run((queue) => countPriorities(queue, priorities))
  }

  async getRanges(types: JobType[], start: number = 0, end: number = 1, asc: boolean = false): Promise<[string][]> {
    const ids = await this.#run((queue) => idsInStates(queue, types, { start, end, asc }))
    return ids as [string][]
  }

  async getDependencyCounts(jobId: string, types: string[]): Promise<number[]> {
    return await this.#run((queue) => countChildren(queue, jobId, types))
  }

  async getDependencies(jobId: string, opts: DependenciesOpts = {}): Promise<Dependencies> {
    return await this.#run((queue) => dependenciesOf(queue, jobId, opts))
  }

  async getProcessedChildrenValues(jobId: string): Promise<Record<string, string>> {
    return await this.#run((queue) => childValues(queue, jobId, 'processed'))
  }

  async getIgnoredChildrenFailures(jobId: string): Promise<Record<string, string>> {
    return await this.#run((queue) => childValues(queue, jobId, 'failed'))
  }

  async getMetrics(
    type: 'completed' | 'failed',
    start: number = 0,
    end: number = -1,
  ): Promise<[string[], string[], number]> {
    return await this.#run((queue) => readMetrics(queue, type, start, end))
  }

  /** None: workers have no connections. */
  async getClientList(): Promise<string[]> {
    return []
  }

  async paginate(key: string, opts: { start: number; end: number; fetchJobs?: boolean }): Promise<Page> {
    return await this.#run((queue) => pageOfChildren(queue, key, opts))
  }

  // Metadata, limits and events

  async setQueueMeta(values: Record<string, string | number>): Promise<number> {
    return await this.#run(
      ({ meta }) => Object.entries(values).filter(([field, value]) => meta.set(field, `${value}`)).length,
    )
  }

  async getQueueMetaField(field: string): Promise<string | null> {
    return await this.#run(({ meta }) => meta.get(field) ?? null)
  }

  async getQueueMetaFields(fields: string[]): Promise<(string | null)[]> {
    return await this.#run(({ meta }) => fields.map((field) => meta.get(field) ?? null))
  }

  async getQueueMeta(): Promise<Record<string, string>> {
    return await this.#run(({ meta }) => meta.all())
  }

  async removeQueueMetaFields(fields: string[]): Promise<number> {
    return await this.#run(({ meta }) => fields.filter((field) => meta.delete(field)).length)
  }

  async hasQueueMetaField(field: string): Promise<boolean> {
    return (await this.getQueueMetaField(field)) !== null
  }

  async setRateLimit(expireTimeMs: number): Promise<void> {
    await this.#run(({ limit }) => limit.block(expireTimeMs))
  }

  async removeRateLimitKey(): Promise<number> {
    return await this.#run(({ limit }) => (limit.remove() ? 1 : 0))
  }

  /** There never was one here. */
  async removeDeprecatedPriorityKey(): Promise<number> {
    return 0
  }

  async trimEvents(maxLength: number): Promise<number> {
    return await this.#run(({ events }) => events.trim(maxLength))
  }

  async publishEvent(fields: Record<string, string | number>, maxEvents: number): Promise<string> {
    const flat = Object.entries(fields).flatMap(([name, value]) => [name, `${value}`])
    return await this.#run(({ events }) => events.add(flat, maxEvents))
  }

  // Waiting

  async readEvents(id: string, blockTimeout: number): Promise<StreamReadRaw> {
    let from = id
    const events = await this.#until('events', blockTimeout, (queue) => {
      if (from === '$') from = queue.events.lastId
      const found = queue.events.after(from)
      return found.length === 0 ? undefined : found
    })
    return events === undefined ? null : [[this.toKey('events'), events]]
  }

  async waitForJob(blockTimeout: number): Promise<Marker | null> {
    const marker = await this.#until('jobs', blockTimeout * 1000, (queue) => queue.markers.take())
    return marker ?? null
  }

  async disconnectBlocking(): Promise<void> {
    this.#interrupted = true
    this.#hold.interrupt()
  }

  async reconnectBlocking(): Promise<void> {
    this.#interrupted = false
  }

  /** Look in a transaction whenever there is a reason to; undefined after `timeoutMs`, or if interrupted. */
  async #until<T>(
    waiter: 'jobs' | 'events',
    timeoutMs: number,
    look: (queue: QueueState) => T | undefined,
  ): Promise<T | undefined> {
    const { store } = this.#hold.ready ?? (await this.#hold.open())
    return await this.#hold.waiting(timeoutMs, async (signal) => {
      for (;;) {
        if (signal.aborted || this.#interrupted) return undefined
        const seen = store.announced(waiter, this.qualifiedName)
        const found = await this.#run(look)
        if (found !== undefined) return found
        try {
          await store.waitFor(waiter, this.qualifiedName, seen, signal)
        } catch (error) {
          if (!signal.aborted) throw error
        }
      }
    })
  }

  // Ourselves

  async #run<T>(work: (queue: QueueState) => T): Promise<T> {
    const queues = this.#hold.ready ?? (await this.#hold.open())
    return await queues.store.transaction(() => work(queues.get(this.qualifiedName)))
  }

  async #change<T>(command: string, jobId: string, change: (queue: QueueState, job: number) => T): Promise<T> {
    const changed = await this.#run((queue) => {
      const job = queue.find(jobId)
      return queue.exists(job) ? { value: change(queue, job) } : Failure.Missing
    })
    return this.#passed(changed, { command, jobId }).value
  }

  async #finish<T, R, N extends string>(
    job: MinimalJob<T, R, N>,
    outcome: Pick<Outcome, 'state' | 'value' | 'keep' | 'token' | 'fields'>,
    fetchNext: boolean,
  ): Promise<{ result: undefined | unknown[]; finishedOn: number }> {
    const nowMs = Date.now()
    const id = job.id!
    const next = fetchNext && this.closing === undefined ? this.#taker(outcome.token, this.#settings.name) : undefined
    const metricsMax = this.#settings.metrics?.maxDataPoints
    const finished = await this.#run((queue) =>
      finish(queue, { ...outcome, id, nowMs, next, metricsMax, attempts: job.opts.attempts }),
    )
    const result = nextJob(this.#passed(finished, { command: 'moveToFinished', jobId: id, state: 'active' }))
    return { result, finishedOn: nowMs }
  }

  #taker(token: string, name: string | undefined): Taker {
    const { lockDuration = LOCK_MS, limiter } = this.#settings
    return { token, name, lockDuration, limiter }
  }

  /** @throws what BullMQ's own backends throw if it is a failure. */
  #passed<T>(outcome: T | Failure, attempted: Parameters<typeof failureError>[1]): Exclude<T, Failure> {
    if (typeof outcome === 'number' && outcome < 0) throw failureError(outcome, attempted)
    return outcome as Exclude<T, Failure>
  }

  /** Tell when it is ready. If the space cannot be opened, each call says why; listeners of errors hear it too. */
  #announce(): void {
    this.#hold.open().then(
      () => this.emit('ready'),
      (error: unknown) => {
        if (this.listenerCount('error') > 0) this.emit('error', error)
      },
    )
  }
}

/** What a worker does next: nothing is known if there is no job. */
function nextJob(next: NextJob | number): unknown[] {
  return typeof next === 'number' ? [] : next
}
