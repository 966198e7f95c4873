import type { JobJson, ParentKeyOpts, ParentKeys } from 'bullmq'
import { deduplicate } from './deduplicating.ts'
import { Failure } from './failure.ts'
import { enqueueNew, type NewJob, storeJob } from './new-job.ts'
import { finishChild, releaseParent } from './parents.ts'
import type { QueueState } from './queue-state.ts'

/** Add a job. Returns its id, or that of the job that is there instead; or a failure. */
export function addJob(queue: QueueState, json: JobJson, jobId: string, parentOpts: ParentKeyOpts): string | Failure {
  const parentKey = json.parentKey || undefined
  if (parentKey !== undefined && queue.queues.locate(parentKey) === undefined) return Failure.ParentMissing
  const counter = queue.nextId()
  const isNamed = jobId !== undefined && jobId !== ''
  const id = isNamed ? jobId : `${counter}`
  const wanted: NewJob = {
    name: json.name,
    data: json.data,
    opts: json.opts,
    timestamp: json.timestamp,
    parentKey,
    parent: parentKey === undefined ? undefined : JSON.stringify(json.parent ?? {}),
    repeatJobKey: json.repeatJobKey,
    deduplicationId: json.deduplicationId,
  }
  if (isNamed && queue.exists(queue.find(id))) return attachExisting(queue, id, wanted, parentOpts)
  const held = deduplicate(queue, id, wanted, parentOpts.addToWaitingChildren === true)
  if (held !== undefined) return held
  const job = storeJob(queue, id, wanted)
  if (parentOpts.addToWaitingChildren) awaitChildren(queue, job, wanted.timestamp)
  else enqueueNew(queue, job, wanted)
  if (parentOpts.parentDependenciesKey) addDependency(queue, parentKey, id)
  return id
}

/** The job is one that its parent waits for. */
export function addDependency(queue: QueueState, parentKey: string | undefined, id: string): void {
  const parent = parentKey === undefined ? undefined : queue.queues.locate(parentKey)
  if (parent !== undefined) parent.queue.children.set(parent.job, 'dependencies', queue.keyOf(id))
}

function awaitChildren(queue: QueueState, job: number, timestamp: number): void {
  queue.insert('waiting-children', job, timestamp)
  queue.events.add(['event', 'waiting-children', 'jobId', queue.idOf(job)])
}

/** A job of this id is there: it may become a child of another parent. */
function attachExisting(
  queue: QueueState,
  id: string,
  wanted: NewJob,
  { parentDependenciesKey, deferParentRelease }: ParentKeyOpts,
): string | Failure {
  const job = queue.find(id)
  const before = queue.text(job, 'parentKey')
  const { parentKey } = wanted
  const isFree = before === undefined || before === parentKey || queue.queues.locate(before) === undefined
  if (!isFree && parentKey !== undefined) {
    if (deferParentRelease) setAttachmentFailed(queue, parentKey)
    return Failure.ParentTaken
  }
  if (isFree && parentKey !== undefined) {
    attach(queue, id, wanted, { isDependency: Boolean(parentDependenciesKey), isDeferred: deferParentRelease === true })
    queue.setText(job, 'parentKey', parentKey)
    queue.setText(job, 'parent', wanted.parent)
  }
  queue.events.add(['event', 'duplicated', 'jobId', id])
  return id
}

function attach(
  queue: QueueState,
  id: string,
  { parentKey, parent, timestamp }: NewJob,
  { isDependency, isDeferred }: { readonly isDependency: boolean; readonly isDeferred: boolean },
): void {
  const job = queue.find(id)
  const found = queue.queues.locate(parentKey!)
  if (!queue.has('completed', job)) {
    if (isDependency) addDependency(queue, parentKey, id)
    return
  }
  const value = queue.text(job, 'returnvalue') ?? ''
  if (isDeferred) {
    if (found !== undefined) found.queue.children.set(found.job, 'processed', queue.keyOf(id), value)
  } else finishChild(queue.queues, JSON.parse(parent!) as ParentKeys, queue.keyOf(id), value, timestamp)
}

function setAttachmentFailed(queue: QueueState, parentKey: string): void {
  const parent = queue.queues.locate(parentKey)
  parent?.queue.setAttachmentFailed(parent.job, true)
}

/** After all jobs of a flow were added: a parent whose children were all completed before goes on. */
export function releaseIfReady(queue: QueueState, parent: ParentKeys, parentKey: string, timestamp: number): void {
  const found = queue.queues.locate(parentKey)
  if (found === undefined) return
  if (found.queue.takeAttachmentFailed(found.job)) return
  releaseParent(queue.queues, parent, timestamp)
}
