import type { DependenciesOpts, JobJson, JobState } from 'bullmq'
import { Failure } from './failure.ts'
import { jobJson } from './job-json.ts'
import { ChildTable, type ChildTableName, isList, type StateName, states } from './layout.ts'
import { DELAYED_PER_MS } from './markers.ts'
import type { QueueState } from './queue-state.ts'

/** A state by any of the names that BullMQ has for it; undefined: no job can be in it. */
export function stateNamed(name: string): StateName | undefined {
  return name === 'waiting' ? 'wait' : states.find((state) => state === name)
}

export function stateOfJob(queue: QueueState, id: string): JobState | 'unknown' {
  const job = queue.find(id)
  const order = ['completed', 'failed', 'delayed', 'prioritized', 'active', 'wait', 'waiting-children'] as const
  const state = order.find((each) => queue.has(each, job))
  return state === 'wait' ? 'waiting' : (state ?? 'unknown')
}

/** 0: not finished, 1: completed, 2: failed, -1: there is no such job. With its value, if that is asked for. */
export function finishedOrNot(queue: QueueState, id: string, withValue: boolean): number | [number, string] {
  const job = queue.find(id)
  if (!queue.exists(job))
    return withValue ? [Failure.Missing, `Missing key for job ${queue.keyOf(id)}. isFinished`] : Failure.Missing
  if (queue.has('completed', job)) return withValue ? [1, queue.text(job, 'returnvalue')!] : 1
  if (queue.has('failed', job)) return withValue ? [2, queue.text(job, 'failedReason')!] : 2
  return withValue ? ([0] as unknown as [number, string]) : 0
}

export function countStates(
  queue: QueueState,
  names: readonly string[],
  delayedBeforeMs: number | undefined,
): number[] {
  return names.map((name) => {
    const state = stateNamed(name)
    if (state === undefined) return 0
    if (state !== 'delayed' || delayedBeforeMs === undefined) return queue.count(state)
    return queue.countBelow('delayed', delayedBeforeMs * DELAYED_PER_MS)
  })
}

export function countPriorities(queue: QueueState, priorities: readonly number[]): number[] {
  return priorities.map((priority) => {
    if (priority === 0) return queue.count('wait')
    const below = queue.countBelow('prioritized', priority * 2 ** 32)
    return queue.countBelow('prioritized', (priority + 1) * 2 ** 32) - below
  })
}

/** Ids of jobs by state. Ascending ranges of lists come in the order in which BullMQ turns them around. */
export function idsInStates(
  queue: QueueState,
  names: readonly string[],
  { start, end, asc }: { readonly start: number; readonly end: number; readonly asc: boolean },
): string[][] {
  return names.map((name) => {
    const state = stateNamed(name)
    if (state === undefined) return []
    const jobs = isList(state) ? listRange(queue, state, start, end, asc) : setRange(queue, state, start, end, asc)
    return jobs.map((job) => queue.idOf(job))
  })
}

function setRange(queue: QueueState, state: StateName, start: number, end: number, asc: boolean): number[] {
  return asc ? queue.range(state, start, end) : queue.reverseRange(state, start, end)
}

/** The newest job of a list is its first. */
function listRange(queue: QueueState, state: StateName, start: number, end: number, asc: boolean): number[] {
  if (!asc) return queue.range(state, start, end)
  return queue.range(state, end === -1 ? 0 : -(end + 1), start === -1 ? 0 : -(start + 1))
}

/** Rows of the log of a job, and how many it has. Rows are counted from the oldest, or else from the latest. */
export function logOf(
  queue: QueueState,
  id: string,
  { start, end, asc }: { readonly start: number; readonly end: number; readonly asc: boolean },
): { logs: string[]; count: number } {
  const rows = queue.logs.rows(queue.find(id))
  const logs = asc ? redisRange(rows, start, end) : redisRange(rows, -(end + 1), -(start + 1)).reverse()
  return { logs, count: rows.length }
}

function redisRange<T>(items: readonly T[], start: number, end: number): T[] {
  const from = Math.max(0, start < 0 ? start + items.length : start)
  const to = end < 0 ? end + items.length : end
  return items.slice(from, Math.max(from, to + 1))
}

export function countChildren(queue: QueueState, id: string, types: readonly string[]): number[] {
  const job = queue.find(id)
  return types.map((type) => {
    if (type === 'processed') return queue.children.count(job, 'processed')
    if (type === 'unprocessed') return queue.children.count(job, 'dependencies')
    return queue.children.count(job, type === 'ignored' ? 'failed' : 'unsuccessful')
  })
}

export function childValues(queue: QueueState, id: string, name: ChildTableName): Record<string, string> {
  return Object.fromEntries(queue.children.list(queue.find(id), name))
}

/** What `Job.getDependencies` resolves with. */
export interface Dependencies {
  nextFailedCursor?: number
  failed?: string[]
  nextIgnoredCursor?: number
  ignored?: Record<string, unknown>
  nextProcessedCursor?: number
  processed?: Record<string, unknown>
  nextUnprocessedCursor?: number
  unprocessed?: string[]
}

const PAGE = 20

export function dependenciesOf(queue: QueueState, id: string, opts: DependenciesOpts): Dependencies {
  const job = queue.find(id)
  const { children } = queue
  const isAll = !opts.processed && !opts.unprocessed && !opts.ignored && !opts.failed
  if (isAll)
    return {
      processed: parsed(children.list(job, 'processed')),
      unprocessed: children.keys(job, 'dependencies'),
      failed: children.keys(job, 'unsuccessful'),
      ignored: Object.fromEntries(children.list(job, 'failed')),
    }
  const found: Dependencies = {}
  if (opts.processed) {
    const page = pageOf(children.list(job, 'processed'), opts.processed)
    Object.assign(found, { processed: parsed(page.items), nextProcessedCursor: page.next })
  }
  if (opts.ignored) {
    const page = pageOf(children.list(job, 'failed'), opts.ignored)
    Object.assign(found, { ignored: Object.fromEntries(page.items), nextIgnoredCursor: page.next })
  }
  if (opts.failed) {
    const { cursor = 0, count = PAGE } = opts.failed
    // As BullMQ's own backends have it: the end of the range is a place, not a number of children.
    const failed = redisRange(children.keys(job, 'unsuccessful'), cursor, count - 1)
    Object.assign(found, { failed, ...(cursor + count > 0 ? { nextFailedCursor: cursor + count } : {}) })
  }
  if (opts.unprocessed) {
    const page = pageOf(children.keys(job, 'dependencies'), opts.unprocessed)
    Object.assign(found, { unprocessed: page.items, nextUnprocessedCursor: page.next })
  }
  return found
}

/** A cursor is a place; 0 after the last page. */
function pageOf<T>(
  items: readonly T[],
  { cursor = 0, count = PAGE }: { readonly cursor?: number; readonly count?: number },
): { readonly items: T[]; readonly next: number } {
  const end = cursor + count
  return { items: items.slice(cursor, end), next: end < items.length ? end : 0 }
}

function parsed(entries: readonly (readonly [string, string])[]): Record<string, unknown> {
  return Object.fromEntries(entries.map(([key, value]) => [key, JSON.parse(value) as unknown]))
}

export interface Page {
  cursor: string
  items: { id: string; v?: unknown; err?: string }[]
  total: number
  jobs?: JobJson[]
}

/** Children of a job by the key of one of its tables: `<job key>:processed`, and so on. */
export function pageOfChildren(
  queue: QueueState,
  key: string,
  { start, end, fetchJobs }: { readonly start: number; readonly end: number; readonly fetchJobs?: boolean | undefined },
): Page {
  const at = key.lastIndexOf(':')
  const name = key.slice(at + 1)
  const parent = queue.queues.locate(key.slice(0, at))
  if (parent === undefined || !isChildTable(name)) return { cursor: '0', items: [], total: 0, jobs: [] }
  const entries = parent.queue.children.list(parent.job, name)
  const page = entries.slice(start, end < 0 ? undefined : end + 1)
  const hasValues = name === 'processed' || name === 'failed'
  const items = page.map(([id, value]) => (hasValues ? { id, ...parsedOrError(value) } : { id }))
  const jobs = fetchJobs ? page.map(([id]) => jobWithKey(queue, id)) : []
  return { cursor: '0', items, total: entries.length, jobs }
}

function isChildTable(name: string): name is ChildTableName {
  return name in ChildTable
}

function parsedOrError(value: string): { v: unknown } | { err: string } {
  try {
    return { v: JSON.parse(value) as unknown }
  } catch (error) {
    return { err: (error as Error).message }
  }
}

function jobWithKey(queue: QueueState, key: string): JobJson {
  const found = queue.queues.locate(key)
  if (found !== undefined) return jobJson(found.queue, found.job)
  return { data: '{}', opts: {}, progress: 0 } as unknown as JobJson
}
