import type { KeepJobs } from 'bullmq'
import { type NextJob, type Taker, takeNext } from './activating.ts'
import { addDependency } from './adding.ts'
import { Failure } from './failure.ts'
import { updateFields } from './job-json.ts'
import { countFinished, type FinishedState } from './metrics.ts'
import { enqueueNew, type NewJob, storeJob } from './new-job.ts'
import { failChild, finishChild, parentOf } from './parents.ts'
import type { QueueState } from './queue-state.ts'
import { detach, removeJob } from './removing.ts'

/** How a job ended. */
export interface Outcome {
  readonly id: string
  readonly state: FinishedState
  /** JSON of the return value, or the reason of the failure. */
  readonly value: string
  readonly keep: { readonly count?: number; readonly age?: number; readonly limit?: number }
  readonly attempts: number | undefined
  readonly metricsMax: number | undefined
  readonly fields?: Record<string, unknown> | undefined
  /** The worker that asks for the next job; undefined if it asks for none. */
  readonly token: string
  readonly next?: Taker | undefined
  readonly nowMs: number
}

/** Jobs that go at once because of their age. */
const AGED_MAX = 1000

/** Move an active job to `completed` or `failed`. Returns the next job, 0 if there is none, or a failure. */
export function finish(queue: QueueState, outcome: Outcome): NextJob | number {
  const { id, state, value, nowMs } = outcome
  const job = queue.find(id)
  const refused = refuse(queue, job, outcome)
  if (refused !== 0) return refused
  updateFields(queue, job, outcome.fields)
  if (!queue.remove('active', job)) return Failure.NotInState
  queue.events.trim(queue.meta.eventsMax())
  releaseDeduplication(queue, job, id, nowMs)
  tellParent(queue, job, outcome)
  const attemptsMade = queue.raise(job, 'attemptsMade')
  if (outcome.keep.count === 0) discard(queue, job)
  else store(queue, job, outcome)
  const property = state === 'completed' ? 'returnvalue' : 'failedReason'
  queue.events.add(['event', state, 'jobId', id, property, value, 'prev', 'active'])
  if (state === 'failed' && attemptsMade >= Number(outcome.attempts))
    queue.events.add(['event', 'retries-exhausted', 'jobId', id, 'attemptsMade', `${attemptsMade}`])
  if (outcome.metricsMax) countFinished(queue, state, outcome.metricsMax, nowMs)
  if (outcome.next !== undefined) {
    const next = takeNext(queue, outcome.next, nowMs)
    if (next[0] !== null || next[2] > 0 || next[3] > 0 || queue.isPausedOrMaxed) return next
  }
  const isDrained = queue.count('wait') + queue.count('active') + queue.count('prioritized') === 0
  if (isDrained) queue.events.add(['event', 'drained'])
  return 0
}

function refuse(queue: QueueState, job: number, { state, token }: Outcome): number {
  if (!queue.exists(job)) return Failure.Missing
  if (state === 'completed' && queue.children.count(job, 'dependencies') > 0) return Failure.PendingChildren
  if (state === 'completed' && queue.children.count(job, 'unsuccessful') > 0) return Failure.FailedChildren
  return queue.locks.release(job, token)
}

/** The id is free again; a job that came while this one was active is added now. */
function releaseDeduplication(queue: QueueState, job: number, id: string, nowMs: number): void {
  const deduplicationId = queue.text(job, 'deduplicationId')
  if (deduplicationId === undefined) return
  const { deduplication } = queue
  if (deduplication.isPersistent(deduplicationId) && deduplication.get(deduplicationId) === id)
    deduplication.delete(deduplicationId)
  const next = deduplication.next(deduplicationId)
  if (next === undefined) return
  queue.nextId()
  const { id: nextId, job: wanted } = JSON.parse(next) as { readonly id: string; readonly job: NewJob }
  const options = wanted.opts.deduplication
  deduplication.set(deduplicationId, nextId, options?.keepLastIfActive ? 0 : (options?.ttl ?? 0))
  const following = { ...wanted, timestamp: nowMs }
  enqueueNew(queue, storeJob(queue, nextId, following), following)
  addDependency(queue, wanted.parentKey, nextId)
  deduplication.setNext(deduplicationId, undefined)
}

function tellParent(queue: QueueState, job: number, { id, state, value, nowMs }: Outcome): void {
  const parent = parentOf(queue, job)
  if (parent?.id === undefined) return
  const key = queue.keyOf(id)
  if (state === 'failed') {
    if (queue.text(job, 'parent') !== undefined) failChild(queue.queues, parent, key, value, nowMs)
    return
  }
  const found = queue.queues.locate(`${parent.queueKey}:${parent.id}`)
  if (found?.queue.children.delete(found.job, 'dependencies', key)) finishChild(queue.queues, parent, key, value, nowMs)
}

function discard(queue: QueueState, job: number): void {
  const parentKey = queue.text(job, 'parentKey')
  detach(queue, job, { hard: false, ...(parentKey === undefined ? {} : { parentKey }) })
  queue.erase(job)
}

/** Keep the finished job, and let older ones go. */
function store(queue: QueueState, job: number, { state, value, keep, nowMs }: Outcome): void {
  queue.insert(state, job, nowMs)
  queue.setText(job, state === 'completed' ? 'returnvalue' : 'failedReason', value)
  queue.setNumber(job, 'finishedOn', nowMs)
  if (state === 'failed') queue.setText(job, 'deferredFailure', undefined)
  if (keep.age !== undefined) removeOlder(queue, state, nowMs - keep.age * 1000, keep.limit ?? AGED_MAX)
  if (keep.count !== undefined && keep.count > 0) removeSurplus(queue, state, keep.count)
}

function removeOlder(queue: QueueState, state: FinishedState, mostMs: number, limit: number): void {
  const count = queue.countBelow(state, mostMs + 1)
  if (count === 0) return
  for (const job of queue.range(state, Math.max(0, count - limit), count - 1)) removeFinished(queue, state, job)
}

function removeSurplus(queue: QueueState, state: FinishedState, kept: number): void {
  const surplus = queue.count(state) - kept
  if (surplus > 0) for (const job of queue.range(state, 0, surplus - 1)) removeFinished(queue, state, job)
}

function removeFinished(queue: QueueState, state: FinishedState, job: number): void {
  removeJob(queue, job, { hard: false, withDeduplication: false })
  queue.remove(state, job)
}

/** How many jobs to keep, by the job's option or else the worker's. */
export function keepJobs(
  ofJob: boolean | number | KeepJobs | undefined,
  ofWorker: KeepJobs | undefined,
): Outcome['keep'] {
  if (ofJob === undefined) return ofWorker ?? { count: -1 }
  if (typeof ofJob === 'object') return ofJob
  return { count: typeof ofJob === 'number' ? ofJob : ofJob ? 0 : -1 }
}
