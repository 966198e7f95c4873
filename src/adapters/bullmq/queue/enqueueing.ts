import { DELAYED_PER_MS } from './markers.ts'
import type { QueueState } from './queue-state.ts'

/** Put a job into `wait`; at the right end it is the next one. */
export function pushToWait(queue: QueueState, job: number, end: 'left' | 'right', isPausedOrMaxed: boolean): void {
  if (end === 'left') queue.pushLeft('wait', job)
  else queue.pushRight('wait', job)
  queue.markers.addJobs(isPausedOrMaxed)
}

export function addPrioritized(queue: QueueState, job: number, priority: number, isPausedOrMaxed: boolean): void {
  queue.insert('prioritized', job, queue.priorityScore(priority))
  queue.markers.addJobs(isPausedOrMaxed)
}

/** Before all others of its priority. */
export function addPrioritizedFirst(queue: QueueState, job: number, priority: number): void {
  queue.insert('prioritized', job, priority * 2 ** 32)
}

/** Put a job into `wait`, or among the prioritized ones. */
export function enqueue(queue: QueueState, job: number, end: 'left' | 'right', isPausedOrMaxed: boolean): void {
  const priority = queue.number(job, 'priority')
  if (priority === 0) pushToWait(queue, job, end, isPausedOrMaxed)
  else addPrioritized(queue, job, priority, isPausedOrMaxed)
}

/** Let a job wait for `delayMs` from `nowMs` on. */
export function addDelayed(queue: QueueState, job: number, nowMs: number, delayMs: number): void {
  insertDelayed(queue, job, nowMs, delayMs)
  queue.markers.addDelay()
}

/** The same without waking workers, which is left to the caller. */
export function insertDelayed(queue: QueueState, job: number, nowMs: number, delayMs: number): void {
  const { score, dueMs } = delayedScore(queue, nowMs, delayMs)
  queue.insert('delayed', job, score)
  queue.events.add(['event', 'delayed', 'jobId', queue.idOf(job), 'delay', `${dueMs}`])
}

/** Jobs that are due in the same millisecond keep their order, up to 4096 of them. */
function delayedScore(
  queue: QueueState,
  nowMs: number,
  delayMs: number,
): { readonly score: number; readonly dueMs: number } {
  const dueMs = Math.trunc(delayMs > 0 ? nowMs + delayMs : nowMs)
  const least = dueMs * DELAYED_PER_MS
  const most = least + DELAYED_PER_MS - 1
  const before = queue.range(
    'delayed',
    queue.countBelow('delayed', most + 1) - 1,
    queue.countBelow('delayed', most + 1) - 1,
  )
  const last = before[0] === undefined ? -1 : queue.score('delayed', before[0])
  return { score: last < least ? least : Math.min(most, last + 1), dueMs }
}
