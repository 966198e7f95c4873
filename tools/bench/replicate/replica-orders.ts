import type { FailOver } from 'aether-dsm/consensus'
import type { LanesRun } from '../lanes.ts'

/** What a replica's process is started with. */
export interface ReplicaPlan {
  /** Of the group. */
  readonly name: string
  readonly replicas: number
  readonly spinMs: number
  /** Where the replica runs. */
  readonly thread: 'own' | 'program'
  /** Where it keeps its log; undefined: in memory. */
  readonly directory: string | undefined
}

/** What it is told. */
export type ToReplica =
  | { readonly kind: 'prepare'; readonly bytes: number; readonly depth: number; readonly timeMs: number }
  | { readonly kind: 'propose' }
  | { readonly kind: 'status' }
  | { readonly kind: 'close' }

/** What it says. */
export type FromReplica =
  | { readonly kind: 'opened'; readonly rank: number; readonly leads: boolean }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'proposed'; readonly run: LanesRun }
  | { readonly kind: 'status'; readonly failOver: FailOver | undefined }
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly why: string }
