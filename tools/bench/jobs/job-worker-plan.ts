import type { QueueName } from './job-queues.ts'

/** What a worker is started with. */
export interface WorkerPlan {
  readonly queue: QueueName
  readonly space: string
  readonly directory: string
  readonly name: string
  readonly concurrency: number
}

/** What a worker is told. */
export interface ToJobWorker {
  readonly kind: 'work' | 'close'
}

/** What a worker says. */
export type FromJobWorker =
  | { readonly kind: 'opened' }
  | { readonly kind: 'working' }
  | { readonly kind: 'closed'; readonly startNs: Float64Array }
  | { readonly kind: 'failed'; readonly why: string }

/** The counter of the space in which workers count the jobs that they have finished. */
export const DONE_COUNTER = 'done'
/** The flag that a worker raises when a handler begins. */
export const BEGUN_FLAG = 'begun'
