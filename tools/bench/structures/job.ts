import type { KeyChoice } from './key-sequence.ts'

/** The operation that is repeated: gets and sets, with a percentage of sets; or one of the others. */
export type Work =
  | { readonly kind: 'get, set'; readonly keys: KeyChoice; readonly writes: number }
  | { readonly kind: 'update'; readonly keys: KeyChoice }
  | { readonly kind: 'push, pop' }
  | { readonly kind: 'add' }

/** One measurement, by all processes at once. */
export interface Job {
  readonly work: Work
  /** Of values. */
  readonly bytes: number
  readonly timeMs: number
}

/** What a process found of one kind of operation. */
export interface Samples {
  readonly op: string
  /** Means over batches of operations, per operation. */
  readonly ns: Float64Array
  readonly operations: number
  readonly totalNs: number
}

/** How many keys there are: 32 MiB of values, and at most ten thousand. */
export function keysOf(bytes: number): number {
  return Math.max(16, Math.min(10_000, Math.floor(2 ** 25 / bytes)))
}

/** What the processes of a run are told. */
export type ToWorker =
  /** Remove everything, and set each key to a value of `bytes` bytes. */
  | { readonly kind: 'fill'; readonly bytes: number }
  /** Get ready: answered when the code is warm. */
  | { readonly kind: 'prepare'; readonly job: Job }
  | { readonly kind: 'go' }
  | { readonly kind: 'close' }

export type FromWorker =
  | { readonly kind: 'opened' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'filled' }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'measured'; readonly samples: readonly Samples[] }
