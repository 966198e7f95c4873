import type { JobsOptions, RepeatableOptions } from 'bullmq'
import { Failure } from './failure.ts'
import { enqueueNew, type NewJob, storeJob } from './new-job.ts'
import type { QueueState } from './queue-state.ts'
import { removeJob } from './removing.ts'

/** What is kept of a job scheduler, as texts. `ic` counts its iterations. */
type Attributes = Record<string, string>

/** Options of a scheduler's job; workers get `repeat` back with it. */
type IterationOptions = JobsOptions & { readonly repeat?: { readonly every?: number; readonly offset?: number } }

export interface SchedulerRequest {
  readonly id: string
  readonly nextMs: number
  readonly data: string
  readonly templateOpts: JobsOptions
  readonly opts: RepeatableOptions
  readonly jobOpts: IterationOptions
  readonly nowMs: number
}

/** Slots that are looked through for one without a job. */
const SLOTS_MAX = 32

/** Add a job scheduler, or replace it, and add its next job. Returns the job's id and delay, or a failure. */
export function addScheduler(queue: QueueState, request: SchedulerRequest): [string, number] | Failure {
  const { id, nowMs } = request
  const { every, startDate } = request.opts
  const known = queue.find(id)
  const previousMs = queue.has('repeat', known) ? queue.score('repeat', known) : undefined
  let nextMs = request.nextMs
  let opts = request.opts
  const offset = opts.offset ?? (request.jobOpts.repeat?.offset || 0)
  let newOffset = offset
  const changed = every !== undefined && previousMs !== undefined && Number(attributesOf(queue, id)['every']) !== every
  if (every)
    ({ nextMs, offset: newOffset } = slotAfter(changed ? undefined : previousMs, { every, nowMs, offset, startDate }))
  const removed = previousMs !== undefined && removeNext(queue, `repeat:${id}:${previousMs}`)
  if (!removed) opts = { ...opts, offset: newOffset }
  else if (every && !changed) nextMs = previousMs!
  const free = freeSlot(queue, id, nextMs, every)
  if (free === undefined) return Failure.SchedulerBusy
  if (free === 'taken' && !removed) return Failure.SchedulerCollision
  nextMs = free === 'taken' ? nextMs : free
  storeScheduler(queue, { ...request, nextMs, opts })
  queue.nextId()
  const delay = Math.max(0, nextMs - nowMs)
  addNext(queue, `repeat:${id}:${nextMs}`, request.jobOpts, { ...request, name: opts.name, delay })
  return [`repeat:${id}:${nextMs}`, delay]
}

/** The job `producerId` has started: add the one after it. Returns its id; null if that is not for this job to do. */
export function advanceScheduler(
  queue: QueueState,
  request: Pick<SchedulerRequest, 'id' | 'nextMs' | 'jobOpts' | 'nowMs'>,
  producerId: string | undefined,
): string | null {
  const { id, jobOpts, nowMs } = request
  const scheduler = queue.find(id)
  if (!queue.has('repeat', scheduler)) return null
  const previousMs = queue.score('repeat', scheduler)
  const attributes = attributesOf(queue, id)
  const every = Number(attributes['every'] ?? jobOpts.repeat?.every) || undefined
  let { nextMs } = request
  if (every) {
    const offset = Number(attributes['offset'] ?? jobOpts.repeat?.offset ?? 0)
    const startDate = attributes['startDate'] === undefined ? undefined : Number(attributes['startDate'])
    nextMs = slotAfter(previousMs, { every, nowMs, offset, startDate }).nextMs
  }
  if (producerId !== `repeat:${id}:${previousMs}`) return null
  const nextId = `repeat:${id}:${nextMs}`
  if (queue.exists(queue.find(nextId))) {
    queue.events.add(['event', 'duplicated', 'jobId', nextId])
    return null
  }
  queue.insert('repeat', scheduler, nextMs)
  setAttributes(queue, id, { ...attributes, ic: `${Number(attributes['ic'] ?? 0) + 1}` })
  queue.nextId()
  const delay = Math.max(0, nextMs - nowMs)
  addNext(queue, nextId, jobOpts, {
    id,
    data: attributes['data'] ?? '{}',
    name: attributes['name']!,
    nowMs,
    delay,
  })
  return nextId
}

/** False if there is none. */
export function removeScheduler(queue: QueueState, id: string): boolean {
  const scheduler = queue.find(id)
  if (!queue.has('repeat', scheduler)) return false
  const nextId = `repeat:${id}:${queue.score('repeat', scheduler)}`
  const job = queue.find(nextId)
  if (queue.remove('delayed', job)) {
    queue.erase(job)
    queue.events.add(['event', 'removed', 'jobId', nextId, 'prev', 'delayed'])
  }
  queue.remove('repeat', scheduler)
  queue.setScheduler(scheduler, undefined)
  return true
}

export function attributesOf(queue: QueueState, id: string): Attributes {
  return JSON.parse(queue.scheduler(queue.find(id)) ?? '{}') as Attributes
}

function setAttributes(queue: QueueState, id: string, attributes: Attributes): void {
  queue.setScheduler(queue.entry(id), JSON.stringify(attributes))
}

function storeScheduler(queue: QueueState, { id, nextMs, data, templateOpts, opts }: SchedulerRequest): void {
  const before = attributesOf(queue, id)
  queue.insert('repeat', queue.entry(id), nextMs)
  const attributes: Attributes = { name: opts.name }
  for (const name of ['tz', 'limit', 'pattern', 'startDate', 'endDate', 'every'] as const)
    if (opts[name]) attributes[name] = `${opts[name]}`
  const offset = opts.offset ?? before['offset']
  if (offset !== undefined) attributes['offset'] = `${offset}`
  const template = JSON.stringify(templateOpts ?? {})
  if (template !== '{}') attributes['opts'] = template
  if (data && data !== '{}') attributes['data'] = data
  setAttributes(queue, id, { ...attributes, ic: before['ic'] ?? '1' })
}

interface NextOfScheduler {
  readonly id: string
  readonly data: string
  readonly name: string
  readonly nowMs: number
  readonly delay: number
}

function addNext(queue: QueueState, jobId: string, jobOpts: JobsOptions, next: NextOfScheduler): void {
  const { id, data, name, nowMs, delay } = next
  const opts = { ...jobOpts, delay, jobId }
  const job: NewJob = { name, data, opts, timestamp: nowMs, repeatJobKey: id }
  enqueueNew(queue, storeJob(queue, jobId, job), job)
}

/** Remove the next job of a scheduler if it has not started. */
function removeNext(queue: QueueState, jobId: string): boolean {
  const job = queue.find(jobId)
  if (!queue.exists(job)) return false
  // As BullMQ's own scripts have it, which look for a waiting job in another list if the queue is paused.
  const isPaused = queue.meta.get('paused') !== undefined
  const state = (['delayed', 'prioritized', 'wait'] as const).find((each) => queue.has(each, job))
  if (state === undefined || (state === 'wait' && isPaused)) return false
  removeJob(queue, job, { hard: true, withDeduplication: true })
  queue.remove(state, job)
  return true
}

/** The first slot from `nextMs` on without a job. Undefined: all that were looked at have one. */
function freeSlot(
  queue: QueueState,
  id: string,
  nextMs: number,
  every: number | undefined,
): number | 'taken' | undefined {
  const isTaken = (slotMs: number) => queue.exists(queue.find(`repeat:${id}:${slotMs}`))
  if (!isTaken(nextMs)) return nextMs
  if (!every) return 'taken'
  for (let slot = 1; slot <= SLOTS_MAX; slot += 1) if (!isTaken(nextMs + slot * every)) return nextMs + slot * every
  return undefined
}

interface Slots {
  readonly every: number
  readonly nowMs: number
  readonly offset: number | undefined
  readonly startDate: number | Date | string | undefined
}

/** When a scheduler with an interval runs after `previousMs`; missed slots are left out. */
function slotAfter(previousMs: number | undefined, slots: Slots): { nextMs: number; offset: number } {
  const { every } = slots
  const nextMs = Math.floor(previousMs === undefined ? firstSlot(slots) : laterSlot(previousMs, slots))
  const offset = slots.offset || nextMs - Math.floor(nextMs / every) * every
  return { nextMs, offset: Math.floor(offset) }
}

function firstSlot({ every, nowMs, offset, startDate }: Slots): number {
  if (startDate) return Math.max(Number(startDate), nowMs)
  if (!offset || offset <= 0) return nowMs
  const slot = Math.floor(nowMs / every) * every + offset
  return slot <= nowMs ? slot + every : slot
}

function laterSlot(previousMs: number, { every, nowMs, offset = 0 }: Slots): number {
  if (previousMs + every >= nowMs) return previousMs + every
  const aligned = Math.floor(nowMs / every) * every + offset
  return aligned <= nowMs ? aligned + every : aligned
}
