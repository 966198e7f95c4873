import type { DeduplicationOptions } from 'bullmq'
import { addDelayed } from './enqueueing.ts'
import type { NewJob } from './new-job.ts'
import type { QueueState } from './queue-state.ts'

/** All that a check needs to know. */
interface Check {
  readonly queue: QueueState
  readonly jobId: string
  readonly wanted: NewJob
  readonly options: DeduplicationOptions
}

/**
 * Returns the id of the job that has the deduplication id. Undefined if the new one is to be added; it has the id now.
 * `plain`: without replacing or rescheduling, as for parents of flows.
 */
export function deduplicate(queue: QueueState, jobId: string, wanted: NewJob, plain: boolean): string | undefined {
  const options = wanted.opts.deduplication
  if (!options?.id) return undefined
  const check = { queue, jobId, wanted, options }
  if (plain) return keepFirst(check)
  if (options.replace) return replaceDelayed(check)
  const held = keepFirst(check)
  if (held !== undefined && isRescheduled(options)) reschedule(check, held)
  return held
}

/** An option of later versions than 6.0. */
function isRescheduled(options: DeduplicationOptions): boolean {
  return (options as { readonly reschedule?: boolean }).reschedule === true
}

function reschedule({ queue, wanted }: Check, held: string): void {
  const job = queue.find(held)
  if (!queue.has('delayed', job)) return
  const delay = wanted.opts.delay ?? 0
  queue.setNumber(job, 'delay', delay)
  addDelayed(queue, job, wanted.timestamp, delay)
}

function keepFirst(check: Check): string | undefined {
  const { queue, jobId, options } = check
  const { deduplication } = queue
  const held = deduplication.get(options.id)
  if (held === undefined) {
    assign(check)
    return undefined
  }
  if (recoverStale(check, held)) return undefined
  if (keepForLater(check, held)) return held
  if (options.ttl !== undefined && options.ttl > 0 && options.extend) {
    deduplication.set(options.id, held, options.keepLastIfActive ? 0 : options.ttl)
    tellDeduplicated(queue, held, options.id, jobId)
    return held
  }
  tellDeduplicated(queue, held, options.id, jobId)
  return held
}

function replaceDelayed(check: Check): string | undefined {
  const { queue, jobId, options } = check
  const { deduplication } = queue
  const held = deduplication.get(options.id)
  if (held === undefined) {
    assign(check)
    return undefined
  }
  const job = queue.find(held)
  if (queue.remove('delayed', job)) {
    queue.erase(job)
    queue.events.add(['event', 'removed', 'jobId', held, 'prev', 'delayed'])
    tellDeduplicated(queue, jobId, options.id, held)
    deduplication.setNext(options.id, undefined)
    const keepsTime = !options.keepLastIfActive && !options.extend && options.ttl !== undefined && options.ttl > 0
    if (keepsTime) deduplication.pass(options.id, jobId)
    else assign(check)
    return undefined
  }
  if (recoverStale(check, held)) return undefined
  keepForLater(check, held)
  return held
}

/** The new job has the id from now on. */
function assign({ queue, jobId, options }: Check): void {
  queue.deduplication.set(options.id, jobId, options.keepLastIfActive ? 0 : (options.ttl ?? 0))
}

/** The job that had it is gone, though it should have given it back. */
function recoverStale(check: Check, held: string): boolean {
  const { queue, options } = check
  if (!queue.deduplication.isPersistent(options.id) || queue.exists(queue.find(held))) return false
  queue.deduplication.setNext(options.id, undefined)
  assign(check)
  return true
}

/** With `keepLastIfActive`, the latest job is added when the active one is finished. */
function keepForLater({ queue, jobId, wanted, options }: Check, held: string): boolean {
  if (!options.keepLastIfActive || !queue.has('active', queue.find(held))) return false
  queue.deduplication.setNext(options.id, JSON.stringify({ id: jobId, job: wanted }))
  queue.deduplication.persist(options.id)
  tellDeduplicated(queue, held, options.id, jobId)
  return true
}

function tellDeduplicated(queue: QueueState, jobId: string, id: string, duplicate: string): void {
  queue.events.add(['event', 'deduplicated', 'jobId', jobId, 'deduplicationId', id, 'deduplicatedJobId', duplicate])
}
