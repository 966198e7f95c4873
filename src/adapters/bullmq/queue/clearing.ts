import { QueueOffset, type StateName, states } from './layout.ts'
import { clearMetrics } from './metrics.ts'
import type { QueueState } from './queue-state.ts'
import { isNextOfScheduler, removeJob } from './removing.ts'

const ALL = { hard: true, withDeduplication: true }

/** What a call did that may need several transactions. */
export interface Progress {
  readonly ids: readonly string[]
  /** There is more to do. */
  readonly more: boolean
}

/** Remove the jobs of a state that are older than `beforeMs`; `limit` 0: all of them. */
export function cleanState(queue: QueueState, state: string, beforeMs: number, limit: number): Progress {
  const name = states.find((each) => each === state)
  const ids: string[] = []
  if (name === undefined) return { ids, more: false }
  for (const job of candidates(queue, name, beforeMs, limit)) {
    if (queue.store.isNearlyFull) return { ids, more: true }
    if (!mayBeCleaned(queue, name, job, beforeMs)) continue
    ids.push(queue.idOf(job))
    removeJob(queue, job, ALL)
    queue.remove(name, job)
  }
  return { ids, more: false }
}

function candidates(queue: QueueState, state: StateName, beforeMs: number, limit: number): number[] {
  const most = limit > 0 ? limit : Number.POSITIVE_INFINITY
  if (state === 'wait' || state === 'active') return queue.range(state, limit > 0 ? -limit : 0, -1)
  if (state === 'delayed' || state === 'prioritized') return queue.byScore(state, 0, Number.POSITIVE_INFINITY, most)
  return queue.byScore(state, 0, beforeMs, most)
}

function mayBeCleaned(queue: QueueState, state: StateName, job: number, beforeMs: number): boolean {
  if (state === 'completed' || state === 'failed' || state === 'waiting-children') return true
  if (state === 'active' && queue.locks.holder(job) !== undefined) return false
  if (isNextOfScheduler(queue, job)) return false
  const times = [queue.number(job, 'timestamp')]
  if (state !== 'prioritized') times.unshift(queue.number(job, 'processedOn'))
  if (state === 'wait' || state === 'active') times.unshift(queue.number(job, 'finishedOn'))
  return (times.find((time) => time !== 0) ?? 0) <= beforeMs
}

/** Remove all jobs that wait, but the next ones of job schedulers. True if there is more to do. */
export function drain(queue: QueueState, withDelayed: boolean): boolean {
  const drained: StateName[] = withDelayed ? ['wait', 'delayed', 'prioritized'] : ['wait', 'prioritized']
  for (const state of drained)
    for (const job of queue.range(state, 0, -1)) {
      if (queue.store.isNearlyFull) return true
      if (isScheduled(queue, job)) continue
      removeJob(queue, job, ALL)
      queue.remove(state, job)
    }
  return false
}

/** By its id alone, as job schedulers name it. */
function isScheduled(queue: QueueState, job: number): boolean {
  const [, key, at] = /^repeat:(.*):(\d+)$/.exec(queue.idOf(job)) ?? []
  const scheduler = key === undefined ? 0 : queue.find(key)
  return queue.has('repeat', scheduler) && `${queue.score('repeat', scheduler)}` === at
}

/** What {@link obliterate} says. */
export type Obliterated = 'done' | 'more' | 'not paused' | 'active jobs'

/** Remove up to `count` jobs and job schedulers; after the last of them, all else of the queue. */
export function obliterate(queue: QueueState, count: number, force: boolean): Obliterated {
  if (queue.meta.get('paused') === undefined) return 'not paused'
  if (queue.count('active') > 0 && !force) return 'active jobs'
  const order: StateName[] = ['active', 'delayed', 'repeat', 'completed', 'wait', 'prioritized', 'failed']
  let left = count
  for (const state of order)
    for (const job of queue.range(state, 0, left - 1)) {
      if (queue.store.isNearlyFull) return 'more'
      if (state === 'repeat') queue.setScheduler(job, undefined)
      else removeJob(queue, job, ALL)
      if (state === 'active') queue.locks.clear(job)
      queue.remove(state, job)
      left -= 1
      if (left <= 0) return 'more'
    }
  forget(queue)
  return 'done'
}

function forget(queue: QueueState): void {
  const { memory } = queue.store
  queue.events.trim(0)
  queue.markers.clear()
  for (const field of Object.keys(queue.meta.all())) queue.meta.delete(field)
  clearMetrics(queue)
  for (const place of [QueueOffset.Id, QueueOffset.Priorities, QueueOffset.StalledCheckEnd])
    memory.setFloat(queue.at + place, 0)
}

/** Remove jobs that are in no state; up to `limit` (0: all). */
export function removeOrphans(queue: QueueState, limit: number): { readonly removed: number; readonly more: boolean } {
  const orphans: number[] = []
  for (const job of queue.entries())
    if (queue.exists(job) && queue.stateOf(job) === undefined && !queue.idOf(job).includes(':')) orphans.push(job)
  const wanted = limit > 0 ? orphans.slice(0, limit) : orphans
  let removed = 0
  for (const job of wanted) {
    if (queue.store.isNearlyFull) return { removed, more: true }
    queue.locks.clear(job)
    queue.erase(job)
    removed += 1
  }
  return { removed, more: false }
}
