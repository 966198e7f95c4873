/**
 * Structures that processes share: what a service keeps in one place for all of its processes, without a server.
 *
 * ```ts
 * import { open } from 'aether-dsm'
 * import { openStructures } from 'aether-dsm/structures'
 *
 * await using space = await open('shop')
 * await using shared = await openStructures(space)
 * const hits = await shared.counter('hits')
 * hits.addSync()
 * const mutex = await shared.mutex('stock')
 * using hold = await mutex.lock({ signal: AbortSignal.timeout(1000) })
 * ```
 *
 * Plain names return promises; names with `Sync` do the same on this thread. On one machine the `Sync` form of a call
 * that does not wait takes a few instructions: use it in services. The promises are for programs that should also run
 * over a network.
 *
 * @module aether-dsm/structures
 */
export {
  bytes,
  type ChannelOptions,
  type Codec,
  type Counter,
  type CyclicBarrier,
  type Flag,
  type Follower,
  type GroupStructures,
  type GroupStructuresOptions,
  HeapFullError,
  HomeLostError,
  type Job,
  JobError,
  json,
  KEY_BYTES_MAX,
  type Latch,
  type Leader,
  type Leadership,
  type ListOptions,
  type LogEntry,
  type LogOptions,
  type MapKey,
  type MapOptions,
  type Mutex,
  type MutexHold,
  type MvRlu,
  type MvRluSection,
  number,
  type Once,
  openStructures,
  type Permit,
  type RateLimiter,
  type RateLimiterOptions,
  type RateVerdict,
  type Rcu,
  type RcuCell,
  type ReadSection,
  type ReadWriteHold,
  type ReadWriteLock,
  type Semaphore,
  type Sequence,
  type SetOptions,
  type SharedChannel,
  type SharedJobs,
  type SharedLog,
  type SharedMap,
  type SharedQueue,
  type SharedStack,
  StructureError,
  type Structures,
  type StructuresOptions,
  structured,
  VALUE_BYTES_MAX,
  type WaitOptions,
} from '../structures/index.ts'
