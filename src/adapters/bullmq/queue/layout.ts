import { TABLE_BYTES } from '../store/tables.ts'

/**
 * States that are ordered sets of jobs, and `repeat`, that of job schedulers. Lists are sets with consecutive scores.
 */
export const states = [
  'wait',
  'active',
  'delayed',
  'prioritized',
  'completed',
  'failed',
  'waiting-children',
  'repeat',
] as const
export type StateName = (typeof states)[number]

/** Place in {@link states}, by name. */
export const State = Object.fromEntries(states.map((name, at) => [name, at])) as Readonly<Record<StateName, number>>

/** Whether BullMQ calls it a list: its ranges count from the newest job. */
export function isList(state: StateName): boolean {
  return state === 'wait' || state === 'active'
}

/**
 * What is kept of a queue: the payload of its entry in the table of queues. Numbers are Float64; a table has
 * {@link TABLE_BYTES}.
 */
export const QueueOffset = {
  /** The last id that was given to a job. */
  Id: 0,
  /** Counts prioritized jobs. */
  Priorities: 8,
  /** Until when workers may sleep because of delayed jobs, in ms since 1970. */
  DelayMarker: 16,
  /** Jobs taken in the rate limit's window, and its end by the monotonic clock (0: it has none). */
  LimiterCount: 24,
  LimiterEnd: 32,
  /** By the monotonic clock: no process looks for stalled jobs before. */
  StalledCheckEnd: 40,
  /** Id of the latest event. */
  EventMs: 48,
  EventSequence: 56,
  /** Bit 0: there are jobs; bit 1: `DelayMarker` is set; bit 2: a rate limit's window is there. */
  Flags: 64,
  EventFirst: 68,
  EventLast: 72,
  EventCount: 76,
  /** One word for each of {@link states}. */
  Sets: 80,
  Jobs: 112,
  Meta: 136,
  Deduplication: 160,
  /** By deduplication id: the job to add when the active one is finished. */
  Next: 184,
  /** Of completed jobs, then of failed ones: see metrics.ts. */
  Metrics: 208,
} as const

export const METRICS_BYTES = 32
export const QUEUE_BYTES: number = QueueOffset.Metrics + METRICS_BYTES * 2

export const Flag = { Jobs: 1, Delay: 2, Limiter: 4 } as const

/** Numbers of a job, Float64. 0 stands for none where none is possible. */
export const JobNumber = {
  timestamp: 0,
  delay: 8,
  priority: 16,
  processedOn: 24,
  finishedOn: 32,
  attemptsStarted: 40,
  attemptsMade: 48,
  stalledCounter: 56,
} as const
export type JobNumberName = keyof typeof JobNumber

/** Texts of a job, by reference. */
export const JobText = {
  name: 100,
  data: 104,
  opts: 108,
  parentKey: 112,
  parent: 116,
  repeatJobKey: 120,
  deduplicationId: 124,
  processedBy: 128,
  failedReason: 132,
  stacktrace: 136,
  returnvalue: 140,
  progress: 144,
  deferredFailure: 148,
} as const
export type JobTextName = keyof typeof JobText
export const jobTexts: readonly number[] = Object.values(JobText)

/** The other words of the payload of a job's entry. */
export const JobOffset = {
  /** By the monotonic clock, Float64. */
  LockEnd: 64,
  /** 1 if there is a job; an entry may also be that of a job scheduler, or of an id in a set. */
  Exists: 72,
  /** 1 if it was active at the last look for stalled jobs, and has shown no sign of life since. */
  Stalled: 76,
  /** Four tables: see {@link ChildTable}. */
  Children: 80,
  /** A table of rows, by number. */
  Logs: 84,
  LockToken: 88,
  /** The member whose worker has the lock. */
  LockOwner: 92,
  /** The attributes of the job scheduler of this id, as JSON. */
  Scheduler: 96,
  /** For each of {@link states}, the node of its set. */
  Nodes: 152,
  /** 1 if a child of a flow could not be attached. */
  AttachmentFailed: 184,
} as const

export const JOB_BYTES = 192

/** Where in a job's record of children. Keys are those of jobs, `<prefix>:<queue>:<id>`. */
export const ChildTable = {
  dependencies: 0,
  processed: 24,
  failed: 48,
  unsuccessful: 72,
} as const
export type ChildTableName = keyof typeof ChildTable
export const CHILDREN_BYTES: number = TABLE_BYTES * 4

/** Payload of entries whose value is a text, or a Float64. */
export const VALUE_BYTES = 8
/** Payload of a deduplication key: the job's id as a text, then its end by the monotonic clock (0: none). */
export const DEDUPLICATION_BYTES = 16

/** An event: its neighbours, its id, its fields as JSON. */
export const EventOffset = { Next: 0, Previous: 4, Length: 8, Ms: 16, Sequence: 24, Text: 32 } as const
