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
export { bookDamage } from './allocation/arena-allocator.ts'
export { availableMemory } from './available-memory.ts'
export * from './coherence/index.ts'
export { type Coherence, type CoherenceKind, coherenceKinds } from './coherence.ts'
export { COHERENCE_MESSAGE_BYTES } from './coherent/coherence-channel.ts'
export { DemandRing } from './coherent/demand-ring.ts'
export type { FrameChunk, Frames } from './coherent/frames.ts'
export { PageLostError } from './coherent/page-access.ts'
export { evaluatePlacement } from './coherent/placement.ts'
export type { PageFailure, RegionPlan } from './coherent/region-plan.ts'
export type { RegionProcess } from './coherent/region-process.ts'
export type { PageKnowledge, RegionServer } from './coherent/region-server.ts'
export { RegionServers } from './coherent/region-servers.ts'
export { parseDuration } from './duration.ts'
export { MemoryExhaustedError, OutOfBoundsError, ReadOnlyError, RegionError, SaveError } from './errors.ts'
export { filedRegions, REGION_TABLE_END } from './filed-regions.ts'
export { join, RegionGroup } from './group.ts'
export type { HardwareRegion } from './hardware-region.ts'
export { keepSpace } from './keeping.ts'
export type { Mmu } from './mmu/mmu.ts'
export { PageRight, PageWords, PinResult } from './mmu/page-words.ts'
export { probeUserfault } from './mmu/probe.ts'
export { WindowTable } from './mmu/window-table.ts'
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
export { type ObservedRegion, observedRegions } from './observed-regions.ts'
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
export type { HeldRegion } from './region-directory.ts'
export { ADVISE_VARIABLE, type RegionOptions } from './region-request.ts'
export type { RegionEntry } from './region-table.ts'
export { bookName, isHiddenName } from './region-table.ts'
export { type ViewMemory, viewMemoryOf } from './region-window.ts'
export type { Omission, SaveRepetition, SaveResult } from './saves.ts'
export { formatSize, parseSize, type Size } from './size.ts'
export { type BackedOptions, type OpenOptions, open, provideSaver, type Saver, Space } from './space.ts'
export type { View, ViewConstructor, ViewOptions } from './view-kind.ts'
