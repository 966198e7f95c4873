/** The door of this room for other rooms: structures that processes share. Users import `src/public/structures.ts`. */

export { bytes, type Codec, json, number, structured } from '../codecs/index.ts'
export type { RateLimiterOptions, RateVerdict } from './cell-rate.ts'
export { checkHeap, type HeapReport, type LostBlock } from './checking/check-heap.ts'
export { Damage, isWhole, must } from './checking/damage.ts'
export { readImage } from './checking/heap-image.ts'
export type { Counter } from './counter.ts'
export type { CyclicBarrier } from './cyclic-barrier.ts'
export {
  type GroupCell,
  type GroupCounter,
  type GroupList,
  type GroupLog,
  type GroupMap,
  type GroupMvRlu,
  type GroupRcu,
  type GroupStructures,
  type GroupStructuresOptions,
  HomeLostError,
} from './distributed/index.ts'
export { HeapFullError, StructureError } from './errors.ts'
export { structureCounters, structureLabel } from './figures/structure-counters.ts'
export type { Flag } from './flag.ts'
export { heapBytesOf } from './heap/layout.ts'
export { JobError } from './jobs/errors.ts'
export type { Job } from './jobs/job.ts'
export { JOB_STATES, type JobCounts, type JobSnapshot, type JobState } from './jobs/job-snapshot.ts'
export type { SharedJobs } from './jobs/shared-jobs.ts'
export type { Latch } from './latch.ts'
export type { Leader, Leadership } from './leader.ts'
export type { SharedQueue } from './list/queue.ts'
export type { SharedStack } from './list/stack.ts'
export type { ListOptions, ValueList } from './list/value-list.ts'
export type { LogEntry } from './log/entry-follower.ts'
export type { Follower, FollowOptions } from './log/follower.ts'
export type { LogBounds } from './log/log-core.ts'
export type { ChannelOptions, SharedChannel } from './log/shared-channel.ts'
export type { LogOptions, SharedLog } from './log/shared-log.ts'
export { KEY_BYTES_MAX, type MapKey } from './map/key.ts'
export { type MapOptions, type SetOptions, type SharedMap, VALUE_BYTES_MAX } from './map/shared-map.ts'
export { MemberPeers } from './member-peers.ts'
export { LocalMemory } from './memory/local-memory.ts'
export type { Mutex, MutexHold } from './mutex.ts'
export type { MvRlu, MvRluOptions } from './mvrlu/mv-rlu.ts'
export type { MvRluObject, MvRluSection } from './mvrlu/section.ts'
export type { Once } from './once.ts'
export { openStructures } from './open.ts'
export { ownerEpoch, ownerSlot, ownerWord } from './peers.ts'
export type { RateLimiter } from './rate-limiter.ts'
export type { Rcu } from './rcu/rcu.ts'
export type { RcuCell } from './rcu/rcu-cell.ts'
export type { ReadSection } from './rcu/read-section.ts'
export type { ReadWriteHold, ReadWriteLock } from './read-write-lock.ts'
export { SavedStructures } from './saving/saved-structures.ts'
export type { Permit, Semaphore } from './semaphore.ts'
export type { Sequence } from './sequence.ts'
export type { Owner, StructureFigures } from './sight/figures.ts'
export { HEAP_IDENTITY_BYTES, HeapSight, identifyHeap } from './sight/heap-sight.ts'
export { heapUse } from './sight/heap-use.ts'
export { type NamedStructure, NamedStructures } from './sight/named-structures.ts'
export { contentsOf, figuresOf, optionsOf } from './sight/structure-sight.ts'
export {
  FREE_BLOCK,
  FREE_BLOCK_BYTES,
  identifyStore,
  STORE_GUARDS_REGION,
  STORE_HEAD_BYTES,
  STORE_MAGIC,
  STORE_NAME,
  StoreBlockOffset,
  StoreHead,
  usedEnd,
} from './store-head.ts'
export { openThose, Structures, type StructuresOptions } from './structures.ts'
export { BELL_BYTES, Bell } from './waiting/bell.ts'
export type { WaitOptions } from './waiting/wait-options.ts'
