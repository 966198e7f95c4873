import { inspect } from 'node:util'
import type { JobCounts, JobSnapshot } from '../structures/index.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatCount } from './output/units.ts'
import { plainName } from './structures/structures-table.ts'

const TEXT_LENGTH_MAX = 60

/** A job queue, and how many jobs of each state it has. */
export interface QueueLine extends JobCounts {
  readonly name: string
  readonly isPaused: boolean
  readonly schedules: number
}

/** One row for each queue. */
export function queuesTable(queues: readonly QueueLine[], screen: Screen): void {
  const counted = ['waiting', 'delayed', 'active', 'completed', 'failed', 'schedules'] as const
  const columns: Column[] = [
    { title: 'queue', align: 'left' },
    ...counted.map((title): Column => ({ title, align: 'right' })),
    { title: 'now', align: 'left' },
  ]
  const rows = queues.map((queue) => [
    plainName(queue.name),
    ...counted.map((each) => formatCount(queue[each])),
    queue.isPaused ? 'paused' : '',
  ])
  screen.table(columns, rows)
}

/** One row for each job. */
export function jobsTable(jobs: readonly JobSnapshot<unknown>[], screen: Screen): void {
  const columns: Column[] = [
    { title: 'job', align: 'left' },
    { title: 'state', align: 'left' },
    { title: 'attempt', align: 'right' },
    { title: 'data', align: 'left' },
    { title: 'last', align: 'left' },
  ]
  screen.table(
    columns,
    jobs.map((job) => [plainName(job.id), stateText(job), formatCount(job.attempt), short(job.data), lastText(job)]),
  )
}

function stateText({ state, dueInMs }: JobSnapshot<unknown>): string {
  return dueInMs === undefined ? state : `${state}, ${Math.ceil(dueInMs / 1000)} s`
}

/** The error, the result or the progress. */
function lastText({ failure, result, progress }: JobSnapshot<unknown>): string {
  if (failure !== undefined) return cut(plainName(`${failure.name}: ${failure.message}`))
  if (result !== undefined) return short(result)
  return progress === undefined ? '' : short(progress)
}

function short(value: unknown): string {
  const text = inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY, customInspect: false, getters: false })
  return cut(plainName(text))
}

function cut(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX - 1)}…`
}
