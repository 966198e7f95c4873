import type { Said } from '../ask-process.ts'
import type { LanesRun } from '../lanes.ts'

/** What every process of a crew does at the same time. */
export interface CallJob {
  readonly bytes: number
  /** Calls under way of each process. */
  readonly depth: number
  readonly timeMs: number
}

export type ToCaller =
  /** Get ready: answered when the code is warm. */
  { readonly kind: 'prepare'; readonly job: CallJob } | { readonly kind: 'go' }

export type FromCaller =
  | (Said & { readonly kind: 'opened' })
  | (Said & { readonly kind: 'prepared' })
  | (Said & { readonly kind: 'measured'; readonly run: LanesRun; readonly cpuNs: number })
  | (Said & { readonly kind: 'failed' })
