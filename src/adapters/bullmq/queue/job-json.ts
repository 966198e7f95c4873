import type { JobJson, JobProgress, JobsOptions } from 'bullmq'
import type { QueueState } from './queue-state.ts'

/** A job as BullMQ reads it. An entry without a job gives one without name and data, as Redis does. */
export function jobJson(queue: QueueState, job: number): JobJson {
  const text = (name: Parameters<QueueState['text']>[1]) => queue.text(job, name)
  const deduplicationId = text('deduplicationId')
  const parent = text('parent')
  return {
    id: undefined as unknown as string,
    name: text('name')!,
    data: text('data') ?? '{}',
    opts: JSON.parse(text('opts') ?? '{}') as JobsOptions,
    progress: JSON.parse(text('progress') ?? '0') as JobProgress,
    delay: queue.number(job, 'delay'),
    priority: queue.number(job, 'priority'),
    timestamp: queue.number(job, 'timestamp'),
    attemptsStarted: queue.number(job, 'attemptsStarted'),
    attemptsMade: queue.number(job, 'attemptsMade'),
    stalledCounter: queue.number(job, 'stalledCounter'),
    finishedOn: (queue.number(job, 'finishedOn') || undefined)!,
    processedOn: (queue.number(job, 'processedOn') || undefined)!,
    repeatJobKey: text('repeatJobKey')!,
    debounceId: deduplicationId!,
    deduplicationId: deduplicationId!,
    failedReason: text('failedReason')!,
    deferredFailure: text('deferredFailure')!,
    stacktrace: text('stacktrace')!,
    returnvalue: text('returnvalue')!,
    parentKey: text('parentKey')!,
    parent: parent === undefined ? (undefined as never) : (JSON.parse(parent) as NonNullable<JobJson['parent']>),
    processedBy: text('processedBy')!,
  }
}

/** Set texts of a job that a worker sends along; undefined leaves one as it is. Other names carry nothing to keep. */
export function updateFields(queue: QueueState, job: number, fields: Record<string, unknown> | undefined): void {
  for (const name of ['failedReason', 'stacktrace', 'returnvalue', 'data'] as const) {
    const value = fields?.[name]
    if (value !== undefined) queue.setText(job, name, `${value}`)
  }
}
