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
 * @module aether-dsm
 */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { provideRankPrograms } from '../cluster/index.ts'
import { provideSaver } from '../dsm/index.ts'
import type { makePrograms } from '../ranks/index.ts'

export {
  type BarrierOptions,
  type GroupEvent,
  HeldLock,
  JoinError,
  type JoinOptions,
  type LockRequest,
  LockTimeoutError,
  type Member,
  MemberEndedError,
  MissingMembersError,
  RendezvousError,
  SpaceError,
  type SpaceEvent,
} from '../cluster/index.ts'
export {
  type Advice,
  Allocation,
  AllocationError,
  type AllocOptions,
  adviceFinding,
  adviceText,
  type Coherence,
  join,
  MemoryExhaustedError,
  type MemoryUse,
  type OpenOptions,
  OutOfBoundsError,
  open,
  type PageAdvice,
  type PageDescription,
  PageLostError,
  PinnedRange,
  type Placement,
  ReadOnlyError,
  Region,
  type RegionCallOptions,
  RegionError,
  RegionGroup,
  type RegionOptions,
  SaveError,
  Space,
  type View,
  type ViewOptions,
} from '../dsm/index.ts'
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
} from '../native/index.ts'
export { SecretError } from '../runtime/index.ts'

// Saving is seldom needed, so it is loaded when it is.
provideSaver(async () => (await import('../saving/index.ts')).saver)
// So are collectives; the call that needs them may be one that blocks.
provideRankPrograms(() => {
  const place = new URL('../ranks/rank-programs.js', import.meta.url)
  const room = createRequire(import.meta.url)(fileURLToPath(place)) as { makePrograms: typeof makePrograms }
  return room.makePrograms
})
