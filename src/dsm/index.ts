/**
 * Regions of shared memory, and the spaces that hold them.
 *
 * ```ts
 * import { open } from './dsm/index.ts'
 *
 * await using space = await open('shop')
 * await using region = await space.openRegion('hits', { size: '64MiB' })
 * Atomics.add(region.view(Int32Array, { byteOffset: 0, length: 1024 }), 0, 1)
 * ```
 *
 * @module
 */
export type { Advice, PageAdvice } from './advice/advice.ts'
export { ADVISE_DIRECTORY_VARIABLE, readAdviceParts } from './advice/advice-parts.ts'
export { adviceFinding, adviceText } from './advice/advice-text.ts'
export { adviceOnPage } from './advice/advise.ts'

export { Allocation, AllocationError, type AllocOptions } from './allocation/allocation.ts'
export { availableMemory } from './available-memory.ts'
export * from './coherence/index.ts'
export { type Coherence, type CoherenceKind, coherenceKinds } from './coherence.ts'
export { COHERENCE_MESSAGE_BYTES, CoherenceCodec } from './coherent/coherence-channel.ts'
export { PageLostError } from './coherent/page-access.ts'
export { decodeRecovery, encodeRecovery } from './coherent/recovery-channel.ts'
export { MemoryExhaustedError, OutOfBoundsError, ReadOnlyError, RegionError } from './errors.ts'
export { join, RegionGroup } from './group.ts'
export { probeUserfault } from './mmu/probe.ts'
export {
  countOf,
  EventKind,
  type JournalLink,
  type JournalOperations,
  type JournalPage,
  JournalReader,
  type JournalRegion,
  OPERATIONS_MAX,
  PAGE_ENTRY_BYTES,
  PAGES_PER_BLOCK,
  pageIn,
  type ReadEvent,
  WAIT_PARTS,
  waitPartBegin,
  waitsOf,
} from './observation/index.ts'
export { observedRegions } from './observed-regions.ts'
export { PinnedRange } from './pinned-range.ts'
export type { Placement } from './placement.ts'
export * from './recording/index.ts'
export {
  type MemoryUse,
  type PageDescription,
  type PrefetchOptions,
  Region,
  type RegionCallOptions,
  type RegionLockRequest,
} from './region.ts'
export { ADVISE_VARIABLE, type RegionOptions } from './region-request.ts'
export { formatSize, parseSize, type Size } from './size.ts'
export { type OpenOptions, open, Space } from './space.ts'
export type { View, ViewConstructor, ViewOptions } from './view-kind.ts'
