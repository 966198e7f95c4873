import type { JobsOptions } from 'bullmq'
import { addDelayed, addPrioritized, pushToWait } from './enqueueing.ts'
import type { QueueState } from './queue-state.ts'

/** A job before it has an id. */
export interface NewJob {
  readonly name: string
  readonly data: string
  readonly opts: JobsOptions
  readonly timestamp: number
  readonly parentKey?: string | undefined
  /** JSON of its parent's id and queue. */
  readonly parent?: string | undefined
  readonly repeatJobKey?: string | undefined
  readonly deduplicationId?: string | undefined
}

/** Write the job down; it is in no state yet. */
export function storeJob(queue: QueueState, id: string, wanted: NewJob): number {
  const job = queue.entry(id)
  queue.begin(job)
  queue.setText(job, 'name', wanted.name)
  queue.setText(job, 'data', wanted.data)
  queue.setText(job, 'opts', optionsText(wanted.opts))
  queue.setNumber(job, 'timestamp', Math.trunc(wanted.timestamp))
  queue.setNumber(job, 'delay', Math.trunc(wanted.opts.delay ?? 0))
  queue.setNumber(job, 'priority', Math.trunc(wanted.opts.priority ?? 0))
  if (wanted.parentKey !== undefined) {
    queue.setText(job, 'parentKey', wanted.parentKey)
    queue.setText(job, 'parent', wanted.parent)
  }
  if (wanted.repeatJobKey) queue.setText(job, 'repeatJobKey', wanted.repeatJobKey)
  const deduplicationId = wanted.opts.deduplication?.id
  if (deduplicationId) queue.setText(job, 'deduplicationId', deduplicationId)
  queue.events.add(['event', 'added', 'jobId', id, 'name', `${wanted.name}`])
  return job
}

/** Options that are null count as not given, as on Redis. */
function optionsText(opts: JobsOptions): string {
  const text = JSON.stringify(opts)
  if (!text.includes(':null')) return text
  return JSON.stringify(opts, (_, value: unknown) => (value === null ? undefined : value))
}

/** Put a new job into the state that its options ask for. */
export function enqueueNew(queue: QueueState, job: number, { opts, timestamp }: NewJob): void {
  const { delay = 0, priority = 0, lifo = false } = opts
  if (delay > 0) {
    addDelayed(queue, job, timestamp, delay)
    return
  }
  const isPausedOrMaxed = queue.isPausedOrMaxed
  if (priority > 0) addPrioritized(queue, job, priority, isPausedOrMaxed)
  else pushToWait(queue, job, lifo ? 'right' : 'left', isPausedOrMaxed)
  queue.events.add(['event', 'waiting', 'jobId', queue.idOf(job)])
}
