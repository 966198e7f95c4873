import type { ParentKeys } from 'bullmq'
import { addPrioritized, pushToWait } from './enqueueing.ts'
import { DELAYED_PER_MS } from './markers.ts'
import type { FoundJob, QueueDirectory, QueueState } from './queue-state.ts'

/** A child is completed: its parent has its return value, and goes on if it was the last. */
export function finishChild(
  queues: QueueDirectory,
  parent: ParentKeys,
  childKey: string,
  returnValue: string,
  nowMs: number,
): void {
  const found = find(queues, parent)
  if (found === undefined) return
  found.queue.children.set(found.job, 'processed', childKey, returnValue)
  releaseParent(queues, parent, nowMs)
}

/** Let the parent go on if it waits for no child any more. */
export function releaseParent(queues: QueueDirectory, parent: ParentKeys, nowMs: number): void {
  const found = find(queues, parent)
  if (found !== undefined && found.queue.children.count(found.job, 'dependencies') === 0) leaveWaiting(found, nowMs)
}

/** A child has failed for good: what its options say happens to the parent. */
export function failChild(
  queues: QueueDirectory,
  parent: ParentKeys,
  childKey: string,
  reason: string,
  nowMs: number,
): void {
  const { fpof, cpof, idof, rdof } = parent
  if (!(fpof || cpof || idof || rdof)) return
  const found = find(queues, parent)
  if (found === undefined || !found.queue.children.delete(found.job, 'dependencies', childKey)) return
  if (fpof) {
    found.queue.children.set(found.job, 'unsuccessful', childKey, `${nowMs}`)
    failParent(found, childKey, nowMs)
  } else if (cpof) {
    found.queue.children.set(found.job, 'failed', childKey, reason)
    leaveWaiting(found, nowMs)
  } else {
    releaseParent(queues, parent, nowMs)
    if (idof) found.queue.children.set(found.job, 'failed', childKey, reason)
  }
}

/** A finished child is to run again: its parent waits for it, as far as it still waits. */
export function returnToParent(queue: QueueState, job: number, previous: 'completed' | 'failed'): void {
  const parentKey = queue.text(job, 'parentKey')
  const parent = parentKey === undefined ? undefined : queue.queues.locate(parentKey)
  if (parent === undefined) return
  const { children } = parent.queue
  const key = queue.keyOf(queue.idOf(job))
  const wasThere =
    previous === 'completed'
      ? children.delete(parent.job, 'processed', key)
      : children.delete(parent.job, 'unsuccessful', key) || children.delete(parent.job, 'failed', key)
  if (wasThere) children.set(parent.job, 'dependencies', key)
}

/** The parent of a job, by what the job knows of it. */
export function parentOf(queue: QueueState, job: number): ParentKeys | undefined {
  const parent = queue.text(job, 'parent')
  if (parent !== undefined) {
    const known = JSON.parse(parent) as ParentKeys
    if (known.id) return known
  }
  const key = queue.text(job, 'parentKey')
  const found = key === undefined ? undefined : queue.queues.locate(key)
  return found === undefined ? undefined : { id: found.id, queueKey: found.queue.name }
}

function find(queues: QueueDirectory, { queueKey, id }: ParentKeys): FoundJob | undefined {
  return queues.locate(`${queueKey}:${id}`)
}

function leaveWaiting(parent: FoundJob, nowMs: number): void {
  if (parent.queue.remove('waiting-children', parent.job)) moveToWait(parent, nowMs)
}

function failParent(parent: FoundJob, childKey: string, nowMs: number): void {
  const { queue, job } = parent
  const reason = `child ${childKey} failed`
  const wasWaiting = queue.remove('waiting-children', job)
  const wasDelayed = !wasWaiting && queue.remove('delayed', job)
  if (wasDelayed) queue.setNumber(job, 'delay', 0)
  if (wasWaiting || wasDelayed) {
    queue.setText(job, 'deferredFailure', reason)
    moveToWait(parent, nowMs)
  } else if (!queue.has('failed', job)) queue.setText(job, 'deferredFailure', reason)
}

function moveToWait({ queue, job, id }: FoundJob, nowMs: number): void {
  const delay = queue.number(job, 'delay')
  const priority = queue.number(job, 'priority')
  if (delay > 0) {
    queue.insert('delayed', job, (nowMs + delay) * DELAYED_PER_MS)
    queue.events.add(['event', 'delayed', 'jobId', id, 'delay', `${nowMs + delay}`])
    queue.markers.addDelay()
    return
  }
  if (priority === 0) pushToWait(queue, job, 'right', queue.isPausedOrMaxed)
  else addPrioritized(queue, job, priority, queue.isPausedOrMaxed)
  queue.events.add(['event', 'waiting', 'jobId', id, 'prev', 'waiting-children'])
}
