import type { JoinOptions } from 'aether-dsm'

/** One measurement by a process: `samples` times as long as `batch` operations take. */
export interface ArrayOrder {
  readonly op: string
  readonly elements: number
  readonly samples: number
  readonly batch: number
}

export interface ArrayReport {
  /** Per operation. */
  readonly ns: readonly number[]
  /** That came to this rank, or left it, for one operation. */
  readonly movedBytes: number
}

/** Where a process joins the others; undefined if it is alone. */
export type ArrayMeeting = JoinOptions | undefined
export type ToArrayProcess = { readonly kind: 'measure'; readonly order: ArrayOrder }
export type FromArrayProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measured'; readonly report: ArrayReport }
  | { readonly kind: 'failed'; readonly why: string }
