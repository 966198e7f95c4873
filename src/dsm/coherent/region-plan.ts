import type { Placement } from '../region-request.ts'

/** What the main thread hands to the agent for a region; everything in it is shared or plain. */
export interface RegionPlan {
  readonly name: string
  /** Length in bytes as asked for; the frames are rounded up to whole pages. */
  readonly size: number
  readonly pageSize: number
  readonly placement: Placement
  /** Name of the protocol. */
  readonly coherence: string
  readonly words: SharedArrayBuffer
  readonly windows: SharedArrayBuffer
  /** See {@link FailureWord}. */
  readonly failure: SharedArrayBuffer
  readonly framesDescriptor: number
}

/** Why pages of a region could not be had (Int32): the kind of the last failure, and the rank it is about. */
export const FailureWord = { Kind: 0, Rank: 1, Count: 2 } as const
export const FailureKind = { None: 0, MemberDied: 1, MemoryExhausted: 2 } as const

/** How many pages a region has. */
export function pageCount(size: number, pageSize: number): number {
  return Math.ceil(size / pageSize)
}
