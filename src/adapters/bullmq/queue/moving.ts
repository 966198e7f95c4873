import { type NextJob, promoteDue, type Taker, takeNext } from './activating.ts'
import { addDelayed, addPrioritized, addPrioritizedFirst, enqueue, insertDelayed, pushToWait } from './enqueueing.ts'
import { Failure } from './failure.ts'
import { updateFields } from './job-json.ts'
import { QueueOffset } from './layout.ts'
import { returnToParent } from './parents.ts'
import type { QueueState } from './queue-state.ts'

/** How a job leaves `active` to wait for some time. */
export interface Postponement {
  readonly id: string
  readonly token: string
  readonly nowMs: number
  readonly delayMs: number
  /** The attempt does not count. */
  readonly skipAttempt: boolean
  readonly fields?: Record<string, unknown> | undefined
  readonly next?: Taker | undefined
}

/** Move an active job to `delayed`. Returns the next job, 0, or a failure. */
export function postpone(queue: QueueState, wanted: Postponement): NextJob | number {
  const job = queue.find(wanted.id)
  const refused = leaveActive(queue, job, wanted.token, wanted.fields)
  if (refused !== 0) return refused
  if (!wanted.skipAttempt) queue.raise(job, 'attemptsMade')
  queue.setNumber(job, 'delay', Math.trunc(wanted.delayMs))
  insertDelayed(queue, job, wanted.nowMs, wanted.delayMs)
  if (wanted.next !== undefined) {
    const next = takeNext(queue, wanted.next, wanted.nowMs)
    if (next[0] !== null) return next
  }
  queue.markers.addDelay()
  return 0
}

/** Move an active job back to where it is taken from. */
export function retry(queue: QueueState, id: string, { token, lifo, fields, nowMs }: RetryRequest): Failure | 0 {
  promoteDue(queue, nowMs, queue.isPausedOrMaxed)
  const job = queue.find(id)
  const refused = leaveActive(queue, job, token, fields)
  if (refused !== 0) return refused
  enqueue(queue, job, lifo ? 'right' : 'left', queue.isPausedOrMaxed)
  queue.raise(job, 'attemptsMade')
  queue.events.add(['event', 'waiting', 'jobId', id, 'prev', 'active'])
  return 0
}

export interface RetryRequest {
  readonly token: string
  readonly lifo: boolean
  readonly fields?: Record<string, unknown> | undefined
  readonly nowMs: number
}

/** Move an active job to `waiting-children`, if it waits for `childKey`, or without one for any. */
export function awaitChildren(
  queue: QueueState,
  id: string,
  token: string,
  childKey: string | undefined,
): Failure | 0 | 'nothing to wait for' {
  const job = queue.find(id)
  if (!queue.exists(job)) return Failure.Missing
  const { children } = queue
  if (children.count(job, 'unsuccessful') > 0) return Failure.FailedChildren
  const waits =
    childKey === undefined ? children.count(job, 'dependencies') > 0 : children.has(job, 'dependencies', childKey)
  if (!waits) return 'nothing to wait for'
  const refused = queue.locks.release(job, token)
  if (refused !== 0) return refused
  if (!queue.remove('active', job)) return Failure.NotInState
  queue.insert('waiting-children', job, Date.now())
  queue.events.add(['event', 'waiting-children', 'jobId', id, 'prev', 'active'])
  return 0
}

/** Give an active job back. Returns how long no job may be taken, or a failure. */
export function giveBack(queue: QueueState, id: string, token: string): number {
  const job = queue.find(id)
  if (!queue.exists(job)) return Failure.Missing
  const refused = queue.locks.release(job, token)
  if (refused !== 0) return refused
  if (queue.remove('active', job)) {
    const priority = queue.number(job, 'priority')
    if (priority > 0) addPrioritizedFirst(queue, job, priority)
    else pushToWait(queue, job, 'right', queue.isPausedOrMaxed)
    queue.events.add(['event', 'waiting', 'jobId', id, 'prev', 'active'])
  }
  return Math.max(0, queue.limit.leftMs())
}

function leaveActive(
  queue: QueueState,
  job: number,
  token: string,
  fields: Record<string, unknown> | undefined,
): Failure | 0 {
  if (!queue.exists(job)) return Failure.Missing
  const refused = queue.locks.release(job, token)
  if (refused !== 0) return refused
  updateFields(queue, job, fields)
  return queue.remove('active', job) ? 0 : Failure.NotInState
}

/** Run a finished job again. */
export function reprocess(
  queue: QueueState,
  id: string,
  state: 'completed' | 'failed',
  {
    lifo,
    resetMade,
    resetStarted,
  }: { readonly lifo: boolean; readonly resetMade: boolean; readonly resetStarted: boolean },
): Failure | 0 {
  const job = queue.find(id)
  if (!queue.exists(job)) return Failure.Missing
  if (!queue.remove(state, job)) return Failure.NotInState
  forgetOutcome(queue, job, state)
  if (resetMade) queue.setNumber(job, 'attemptsMade', 0)
  if (resetStarted) queue.setNumber(job, 'attemptsStarted', 0)
  enqueue(queue, job, lifo ? 'right' : 'left', queue.isPausedOrMaxed)
  returnToParent(queue, job, state)
  queue.events.add(['event', 'waiting', 'jobId', id, 'prev', state])
  return 0
}

function forgetOutcome(queue: QueueState, job: number, state: 'completed' | 'failed'): void {
  queue.setNumber(job, 'finishedOn', 0)
  queue.setNumber(job, 'processedOn', 0)
  queue.setText(job, state === 'failed' ? 'failedReason' : 'returnvalue', undefined)
}

/** Move up to `count` jobs of a state, whose scores are up to `most`, to `wait`. True if there may be more. */
export function moveAllToWait(
  queue: QueueState,
  state: 'completed' | 'failed' | 'delayed',
  count: number,
  most: number,
): boolean {
  const jobs: number[] = []
  for (const job of queue.byScore(state, 0, most, count)) {
    if (queue.store.isNearlyFull) break
    jobs.push(job)
    if (state !== 'delayed') {
      if (queue.exists(job)) forgetOutcome(queue, job, state)
      returnToParent(queue, job, state)
    }
    queue.events.add(['event', 'waiting', 'jobId', queue.idOf(job), 'prev', state])
    queue.remove(state, job)
    queue.pushLeft('wait', job)
  }
  if (jobs.length > 0) queue.markers.addJobs(queue.isPausedOrMaxed)
  return queue.store.isNearlyFull || jobs.length >= count
}

/** A delayed job is due now. */
export function promote(queue: QueueState, id: string): Failure | 0 {
  const job = queue.find(id)
  if (!queue.remove('delayed', job)) return Failure.NotInState
  enqueue(queue, job, 'left', queue.isPausedOrMaxed)
  queue.events.add(['event', 'waiting', 'jobId', id, 'prev', 'delayed'])
  queue.setNumber(job, 'delay', 0)
  return 0
}

export function changeDelay(queue: QueueState, id: string, delayMs: number, nowMs: number): Failure | 0 {
  const job = queue.find(id)
  if (!queue.exists(job)) return Failure.Missing
  if (!queue.has('delayed', job)) return Failure.NotInState
  queue.setNumber(job, 'delay', Math.trunc(delayMs))
  addDelayed(queue, job, nowMs, delayMs)
  return 0
}

export function changePriority(queue: QueueState, id: string, priority: number, lifo: boolean): Failure | 0 {
  const job = queue.find(id)
  if (!queue.exists(job)) return Failure.Missing
  const isPausedOrMaxed = queue.isPausedOrMaxed
  if (queue.remove('prioritized', job) || queue.remove('wait', job)) {
    if (priority === 0) pushToWait(queue, job, lifo ? 'right' : 'left', isPausedOrMaxed)
    else if (lifo) addPrioritizedFirst(queue, job, priority)
    else addPrioritized(queue, job, priority, isPausedOrMaxed)
  }
  queue.setNumber(job, 'priority', priority)
  return 0
}

const STALLED_REASON = 'job stalled more than allowable limit'

/**
 * Give back the active jobs whose workers show no sign of life. Those of processes that are known to be dead come back
 * at the first look, others at the second one after their lock has ended. Returns their ids.
 */
export function recoverStalled(
  queue: QueueState,
  { stalledMax, intervalMs }: { readonly stalledMax: number; readonly intervalMs: number },
): string[] {
  const place = queue.at + QueueOffset.StalledCheckEnd
  if (queue.store.memory.float(place) > queue.store.nowMs()) return []
  queue.store.memory.setFloat(place, queue.store.nowMs() + intervalMs)
  queue.events.trim(queue.meta.eventsMax())
  const recovered: string[] = []
  for (const job of queue.range('active', 0, -1).reverse()) {
    const isLost = queue.locks.isOrphaned(job)
    if (!isLost && !(queue.locks.isMarked(job) && queue.locks.holder(job) === undefined)) queue.locks.mark(job)
    else recovered.push(recover(queue, job, stalledMax))
  }
  return recovered
}

function recover(queue: QueueState, job: number, stalledMax: number): string {
  const id = queue.idOf(job)
  queue.locks.unmark(job)
  queue.locks.clear(job)
  queue.remove('active', job)
  const key = queue.text(job, 'repeatJobKey')
  const isScheduled = key !== undefined && queue.has('repeat', queue.find(key))
  if (queue.raise(job, 'stalledCounter') > stalledMax && !isScheduled)
    queue.setText(job, 'deferredFailure', STALLED_REASON)
  pushToWait(queue, job, 'right', queue.isPausedOrMaxed)
  queue.events.add(['event', 'waiting', 'jobId', id, 'prev', 'active'])
  queue.events.add(['event', 'stalled', 'jobId', id])
  return id
}

export function pause(queue: QueueState): void {
  queue.meta.set('paused', '1')
  queue.markers.clear()
  queue.events.add(['event', 'paused'])
}

export function resume(queue: QueueState): void {
  queue.meta.delete('paused')
  if (queue.count('wait') + queue.count('prioritized') > 0) queue.markers.addJobs(false)
  else queue.markers.addDelay()
  queue.events.add(['event', 'resumed'])
}
