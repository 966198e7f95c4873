import type { CoherenceKind } from '../coherence.ts'
import type { FramePages } from './frame-object.ts'
import type { EvaluatedPlacement } from './placement.ts'

/** What the main thread hands to the agent for a region; everything in it is shared or plain. */
export interface RegionPlan {
  readonly name: string
  /** Length in bytes as asked for; the frames are rounded up to whole pages. */
  readonly size: number
  readonly pageSize: number
  readonly placement: EvaluatedPlacement
  /** Name of the protocol. */
  readonly coherence: CoherenceKind
  readonly words: SharedArrayBuffer
  readonly windows: SharedArrayBuffer
  readonly framesDescriptor: number
  readonly framePages: FramePages
  /**
   * The most that pages of other ranks may occupy here; 0: a page is given back after each use; undefined: no bound.
   */
  readonly cacheBytes: number | undefined
  /** Whether what is fenced is kept by other ranks, too. */
  readonly replicas: 0 | 1
  /** Whether this rank watches who writes where. */
  readonly advise: boolean
}

/** Why a page could not be had: the rank that took it along, or a want of memory, here or at its home. */
export type PageFailure =
  | { readonly kind: 'memberDied'; readonly rank: number }
  | { readonly kind: 'memoryExhausted'; readonly rank: number }

/** How many pages a region has. */
export function pageCount(size: number, pageSize: number): number {
  return Math.ceil(size / pageSize)
}
