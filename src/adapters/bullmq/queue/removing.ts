import { pushToWait } from './enqueueing.ts'
import type { StateName } from './layout.ts'
import type { FoundJob, QueueState } from './queue-state.ts'

interface Removal {
  /** A parent in the same queue that waits for nothing else goes, too; otherwise it runs. */
  readonly hard: boolean
  readonly withDeduplication: boolean
}

/** Remove a job's data. Its places in states are the caller's. */
export function removeJob(queue: QueueState, job: number, { hard, withDeduplication }: Removal): void {
  if (job === 0) return
  detach(queue, job, { hard })
  if (withDeduplication) giveBackDeduplication(queue, job)
  queue.erase(job)
}

/** The job's parent does not wait for it any more. `parentKey`: of a parent that need not be there. True if it did. */
export function detach(
  queue: QueueState,
  job: number,
  { hard, parentKey }: { readonly hard: boolean; readonly parentKey?: string },
  from: QueueState = queue,
): boolean {
  const key = parentKey ?? queue.text(job, 'parentKey')
  const parent = key === undefined ? undefined : queue.queues.locate(key)
  if (parent === undefined) return false
  const { children } = parent.queue
  if (!children.delete(parent.job, 'dependencies', queue.keyOf(queue.idOf(job)))) return false
  if (children.count(parent.job, 'dependencies') > 0) return true
  if (!parent.queue.remove('waiting-children', parent.job)) return true
  if (hard && parent.queue === from) removeParent(parent, queue.text(job, 'deduplicationId'), from)
  else resumeParent(parent, !hard)
  return true
}

function removeParent({ queue, job }: FoundJob, deduplicationId: string | undefined, from: QueueState): void {
  detach(queue, job, { hard: true }, from)
  queue.erase(job)
  if (deduplicationId !== undefined) queue.deduplication.delete(deduplicationId)
}

function resumeParent({ queue, job, id }: FoundJob, tells: boolean): void {
  pushToWait(queue, job, 'right', queue.isPausedOrMaxed)
  if (tells) queue.events.add(['event', 'waiting', 'jobId', id, 'prev', 'waiting-children'])
}

/** If the job has its deduplication id, another may have it now. */
function giveBackDeduplication(queue: QueueState, job: number): void {
  const id = queue.text(job, 'deduplicationId')
  if (id === undefined || queue.deduplication.get(id) !== queue.idOf(job)) return
  queue.deduplication.delete(id)
  queue.deduplication.setNext(id, undefined)
}

/** Whether a job is the next one of its job scheduler, which goes with the scheduler only. */
export function isNextOfScheduler(queue: QueueState, job: number): boolean {
  const key = job === 0 ? undefined : queue.text(job, 'repeatJobKey')
  const scheduler = key === undefined ? 0 : queue.find(key)
  if (!queue.has('repeat', scheduler)) return false
  return queue.idOf(job) === `repeat:${key}:${queue.score('repeat', scheduler)}`
}

/** Whether a worker has the job, or one of the children that it waits for. */
export function isLocked(queue: QueueState, job: number, withChildren: boolean): boolean {
  if (queue.locks.holder(job) !== undefined) return true
  if (!withChildren) return false
  return queue.children.keys(job, 'dependencies').some((key) => {
    const child = queue.queues.locate(key)
    return child !== undefined && isLocked(child.queue, child.job, true)
  })
}

export interface FamilyRemoval {
  readonly withChildren: boolean
  /** Leave children that are finished, and those that workers have. */
  readonly unprocessedOnly: boolean
}

/** Remove a job from the state it is in, and its children first. */
export function removeFamily(queue: QueueState, id: string, removal: FamilyRemoval, parentKey?: string): void {
  const job = queue.find(id)
  if (job === 0) return
  if (removal.unprocessedOnly && (isLocked(queue, job, false) || queue.has('failed', job))) return
  detach(queue, job, { hard: false, ...(parentKey === undefined ? {} : { parentKey }) })
  if (removal.withChildren) removeChildren(queue, job, removal)
  const state = removable.find((each) => queue.has(each, job))
  if (state !== undefined) queue.remove(state, job)
  giveBackDeduplication(queue, job)
  if (queue.erase(job)) queue.events.add(['event', 'removed', 'jobId', id, 'prev', state ?? 'unknown'])
}

const removable: readonly StateName[] = [
  'completed',
  'waiting-children',
  'delayed',
  'failed',
  'prioritized',
  'wait',
  'active',
]

export function removeChildren(queue: QueueState, job: number, removal: FamilyRemoval): void {
  const parentKey = queue.keyOf(queue.idOf(job))
  const finished = removal.unprocessedOnly ? [] : (['processed', 'failed', 'unsuccessful'] as const)
  for (const name of finished)
    for (const key of queue.children.keys(job, name)) removeChild(queue, key, removal, parentKey)
  for (const key of queue.children.keys(job, 'dependencies')) removeChild(queue, key, removal)
}

function removeChild(queue: QueueState, key: string, removal: FamilyRemoval, parentKey?: string): void {
  const child = queue.queues.locate(key)
  if (child !== undefined) removeFamily(child.queue, child.id, removal, parentKey)
}
