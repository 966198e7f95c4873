import type { JobJson } from 'bullmq'
import { addPrioritized } from './enqueueing.ts'
import { jobJson } from './job-json.ts'
import { NO_TOKEN } from './job-lock.ts'
import { DELAYED_PER_MS } from './markers.ts'
import type { QueueState } from './queue-state.ts'

/** A job to process; or how long no job may be taken, and when the next delayed one is due (0: none is). */
export type NextJob = [job: JobJson | null, id: string | number, limitMs: number, delayedUntilMs: number]

/** What a worker says of itself when it asks for a job. */
export interface Taker {
  readonly token: string
  readonly name?: string | undefined
  readonly lockDuration: number
  readonly limiter?: { readonly max?: number | undefined; readonly duration?: number | undefined } | undefined
}

/** Delayed jobs that become waiting ones at once. */
const PROMOTED_MAX = 1000

/** Make the next job active. */
export function takeNext(queue: QueueState, taker: Taker, nowMs: number): NextJob {
  const isPausedOrMaxed = queue.isPausedOrMaxed
  promoteDue(queue, nowMs, isPausedOrMaxed)
  const jobsMax = Number(queue.meta.get('max') ?? taker.limiter?.max) || undefined
  const limitMs = queue.limit.waitMs(jobsMax)
  if (limitMs > 0) return [null, 0, limitMs, 0]
  if (isPausedOrMaxed) return [null, 0, 0, 0]
  const job = takeWaiting(queue)
  if (job !== 0) return activate(queue, job, taker, jobsMax, nowMs)
  return [null, 0, 0, queue.markers.nextDelayed() ?? 0]
}

/** Delayed jobs that are due now become waiting ones. */
export function promoteDue(queue: QueueState, nowMs: number, isPausedOrMaxed: boolean): void {
  const due = queue.byScore('delayed', 0, (nowMs + 1) * DELAYED_PER_MS - 1, PROMOTED_MAX)
  for (const job of due) queue.remove('delayed', job)
  for (const job of due) {
    const priority = queue.number(job, 'priority')
    if (priority === 0) queue.pushLeft('wait', job)
    else addPrioritized(queue, job, priority, true)
    queue.events.add(['event', 'waiting', 'jobId', queue.idOf(job), 'prev', 'delayed'])
    queue.setNumber(job, 'delay', 0)
  }
  if (due.length > 0) queue.markers.addJobs(isPausedOrMaxed)
}

function takeWaiting(queue: QueueState): number {
  const waiting = queue.last('wait')
  const job = waiting === 0 ? queue.first('prioritized') : waiting
  if (job === 0) queue.resetPriorities()
  else {
    queue.remove(waiting === 0 ? 'prioritized' : 'wait', job)
    queue.pushLeft('active', job)
  }
  return job
}

function activate(queue: QueueState, job: number, taker: Taker, jobsMax: number | undefined, nowMs: number): NextJob {
  const id = queue.idOf(job)
  if (jobsMax !== undefined && queue.text(job, 'deferredFailure') === undefined)
    queue.limit.count(taker.limiter?.duration ?? Number(queue.meta.get('duration') ?? 0))
  if (taker.token !== NO_TOKEN) queue.locks.take(job, taker.token, taker.lockDuration)
  queue.events.add(['event', 'active', 'jobId', id, 'prev', 'waiting'])
  queue.begin(job)
  queue.setNumber(job, 'processedOn', nowMs)
  if (taker.name) queue.setText(job, 'processedBy', taker.name)
  queue.raise(job, 'attemptsStarted')
  // Another worker may be idle, and there may be more jobs.
  queue.markers.addJobs(false)
  return [jobJson(queue, job), id, 0, 0]
}
