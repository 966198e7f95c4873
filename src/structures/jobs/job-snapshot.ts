import { decodeOutcome, type JobFailure } from './job-outcome.ts'
import { JobPhase, type JobRecord } from './job-record.ts'
import { priorityOf } from './ready-lists.ts'

/** `waiting` can be taken now, `delayed` is due later, `active` is held by a worker. */
export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed'

export const JOB_STATES: readonly JobState[] = ['waiting', 'delayed', 'active', 'completed', 'failed']

/** How many jobs are in each state. */
export type JobCounts = { readonly [State in JobState]: number }

/** What is known of a job at a moment. */
export interface JobSnapshot<V, R = unknown> {
  readonly id: string
  readonly state: JobState
  readonly data: V
  readonly priority: number
  /** How often it was taken. */
  readonly attempt: number
  readonly failures: number
  readonly losses: number
  readonly addedAt: Date
  /** When it was taken last. */
  readonly startedAt?: Date
  readonly endedAt?: Date
  /** Until a delayed job is due, in milliseconds. */
  readonly dueInMs?: number
  readonly progress?: unknown
  /** Of a completed job. */
  readonly result?: R
  /** Why the last attempt failed. */
  readonly failure?: JobFailure
  readonly schedule?: string
}

export function stateOf(record: JobRecord, nowMs: number): JobState {
  if (record.phase === JobPhase.Pending) return record.dueMs > nowMs ? 'delayed' : 'waiting'
  if (record.phase === JobPhase.Active) return 'active'
  return record.phase === JobPhase.Completed ? 'completed' : 'failed'
}

export function snapshotOf<V, R>(
  id: string,
  record: JobRecord,
  nowMs: number,
  decode: (data: Uint8Array) => V,
): JobSnapshot<V, R> {
  const state = stateOf(record, nowMs)
  const { startedAtMs, endedAtMs, outcome, progress, schedule } = record
  return {
    id,
    state,
    data: decode(record.data),
    priority: priorityOf(record.level),
    attempt: record.hold.attempt,
    failures: record.failures,
    losses: record.losses,
    addedAt: new Date(record.addedAtMs),
    ...(startedAtMs !== 0 && { startedAt: new Date(startedAtMs) }),
    ...(endedAtMs !== 0 && { endedAt: new Date(endedAtMs) }),
    ...(state === 'delayed' && { dueInMs: record.dueMs - nowMs }),
    ...(progress.length > 0 && { progress: decodeOutcome(progress) }),
    ...(state === 'completed' && { result: decodeOutcome(outcome) as R }),
    ...(state !== 'completed' && outcome.length > 0 && { failure: decodeOutcome(outcome) as JobFailure }),
    ...(schedule.length > 0 && { schedule: Buffer.from(schedule).toString() }),
  }
}
