/**
 * Aether: shared memory for Node.js, between processes on one machine with no set-up.
 *
 * ```ts
 * import { open } from 'aether-dsm'
 *
 * await using space = await open('shop')                                  // the first one in makes it
 * await using region = await space.openRegion('hits', { size: '64MiB' })
 * const hits = region.view(Int32Array, { byteOffset: 0, length: 1024 })   // an ordinary typed array
 * Atomics.add(hits, 0, 1)
 * ```
 *
 * @module
 */
export {
  type BarrierOptions,
  type DiedEvent,
  type EventOptions,
  type Group,
  type GroupEvent,
  type GroupWaits,
  HeldLock,
  JoinError,
  type JoinedEvent,
  type JoinOptions,
  type LeftEvent,
  type LockMode,
  type LockRequest,
  LockTimeoutError,
  MEMBERS_MAX,
  type Member,
  MemberEndedError,
  MissingMembersError,
  type RankWait,
  RendezvousError,
  SecretError,
  SpaceError,
  type SpaceEvent,
} from './cluster/index.ts'
export {
  type Advice,
  Allocation,
  AllocationError,
  type AllocOptions,
  adviceFinding,
  adviceText,
  type ByteRange,
  type Bytes,
  type Coherence,
  type CoherenceKind,
  join,
  MemoryExhaustedError,
  type MemoryUse,
  type OpenOptions,
  OutOfBoundsError,
  open,
  type PageAdvice,
  type PageDescription,
  PageLostError,
  type PageWriter,
  PinnedRange,
  type Placement,
  type PrefetchOptions,
  ReadOnlyError,
  Region,
  type RegionAccess,
  type RegionCallOptions,
  type RegionDescription,
  RegionError,
  RegionGroup,
  type RegionLockRequest,
  type RegionOptions,
  type SharingKind,
  type Size,
  Space,
  type View,
  type ViewConstructor,
  type ViewOptions,
} from './dsm/index.ts'
export {
  AccessError,
  AetherError,
  type AetherErrorCode,
  ArgumentError,
  ClosedError,
  NativeMissingError,
  SystemError,
  TimeoutError,
  UnsupportedError,
} from './native/index.ts'
