/**
 * What `verbs/` needs of a provider's memory: regions, windows, device memory, indirect keys. Part of the seam; the
 * rules of `contract.ts` apply. A *token* is a number that a provider gives its object, by which a work request names
 * it (`encoded-request.ts`).
 */

import type { EncodedRequest } from './encoded-request.ts'
import type { ProviderQueuePair } from './queue-pair-contract.ts'

/** Where a buffer lies in a shared memory object, so that peers can map it. */
export interface BufferOrigin {
  readonly descriptor: number
  readonly offsetBytes: number
}

export interface AllocateOptions {
  /** Size of the pages: 4096 (default), 2 MiB or 1 GiB. */
  readonly pageBytes?: number
  /** Keep in memory (mlock). */
  readonly lock?: boolean
}

export type MemoryWindowType = 1 | 2

export interface ProviderMemoryWindow {
  readonly token: number
  readonly type: MemoryWindowType
  /** The key of the last bind that was posted; before the first it gives access to nothing. */
  readonly remoteKey: number
  /**
   * Type 1 only: ibv_bind_mw(3). `request` is encoded as BindMemoryWindow; the provider chooses the new key. Length 0
   * binds to nothing. Returns 0 or an errno like `postSend`: EINVAL for type 2, EPERM for memory of another protection
   * domain.
   */
  bind(pair: ProviderQueuePair, request: EncodedRequest): number
  /** Also unbinds it. */
  destroy(): void
}

/** Memory on the device itself: ibv_alloc_dm(3). */
export interface ProviderDeviceMemory {
  readonly length: number
  /** Offsets and lengths must be multiples of 4, else EINVAL. EFAULT beyond the end. */
  copyTo(offset: number, bytes: Uint8Array): void
  copyFrom(offset: number, bytes: Uint8Array): void
  /** EBUSY while a region is registered on it. */
  destroy(): void
}

/**
 * A key that stands for pieces of other regions; configured and invalidated by work request. Its addresses start at 0.
 */
export interface ProviderIndirectKey {
  readonly token: number
  readonly localKey: number
  readonly remoteKey: number
  /** At least what was requested. */
  readonly maxPieces: number
  destroy(): void
}

/** Objects that one thread uses at a time: ibv_alloc_td(3). */
export interface ProviderThreadDomain {
  /** EBUSY while a parent domain uses it. */
  destroy(): void
}

/** The purpose of a prefetch; the numbers of `enum ib_uverbs_advise_mr_advice`. */
export const Advice = { Prefetch: 0, PrefetchWrite: 1, PrefetchNoFault: 2 } as const
export type Advice = (typeof Advice)[keyof typeof Advice]

/** A range by the key that covers it. */
export interface AdvisedRange {
  readonly address: number
  readonly length: number
  readonly key: number
}
