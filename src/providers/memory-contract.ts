/**
 * What `verbs/` needs of a provider's memory: regions, windows, device memory, indirect keys. Part of the seam; the
 * rules of `contract.ts` apply. A *token* is a number that a provider gives its object, by which a work request names
 * it (`encoded-request.ts`).
 */
import type { ProviderProtectionDomain, ProviderQueuePair } from './contract.ts'
import type { EncodedRequest } from './encoded-request.ts'

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

/** What `reregister` changes; what is left out stays as it is. */
export interface ReregisterChanges {
  readonly access?: number
  readonly domain?: ProviderProtectionDomain
  readonly buffer?: Uint8Array
  /** The origin of `buffer`. */
  readonly origin?: BufferOrigin
}

export interface ProviderMemoryRegion {
  readonly token: number
  /**
   * Empty if the program itself cannot touch the memory: device memory, physical memory of a real device, a whole
   * address space.
   */
  readonly bytes: Uint8Array
  /** The address of the first byte in requests; 0 if the region is zero-based. */
  readonly address: number
  readonly length: number
  readonly localKey: number
  readonly remoteKey: number
  readonly access: number
  /** Where its bytes lie in a shared memory object, by a descriptor that is the region's; undefined elsewhere. */
  readonly origin?: BufferOrigin | undefined
  /**
   * ibv_rereg_mr(3). Address, length and both keys may have changed afterwards. If it throws, nothing has changed, or
   * the old registration is lost; then every further use of the region fails.
   */
  reregister(changes: ReregisterChanges): void
  /**
   * Withdraw the keys, wait for remote accesses that are under way, and free what `allocate` took. EBUSY if a peer does
   * not end its access, or while a memory window is bound to the region.
   */
  destroy(): void
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
