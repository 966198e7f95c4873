import type { StructureKindName } from '../heap/structure-kind.ts'
import { savedCell } from './saved-cell.ts'
import { savedJobs } from './saved-jobs.ts'
import type { SavedKind } from './saved-kind.ts'
import { savedQueue, savedStack } from './saved-lists.ts'
import { savedChannel, savedLog } from './saved-log.ts'
import { savedMap } from './saved-map.ts'
import {
  savedBarrier,
  savedCounter,
  savedFlag,
  savedLatch,
  savedLeader,
  savedMutex,
  savedOnce,
  savedRateLimiter,
  savedReadWriteLock,
  savedSemaphore,
  savedSequence,
} from './saved-words.ts'

/** How each kind of structure is saved, or why it cannot be. A kind is added here. */
export const savedKinds: Readonly<Record<StructureKindName, SavedKind | string>> = {
  counter: savedCounter,
  sequence: savedSequence,
  flag: savedFlag,
  once: savedOnce,
  mutex: savedMutex,
  semaphore: savedSemaphore,
  'rate limiter': savedRateLimiter,
  leader: savedLeader,
  latch: savedLatch,
  barrier: savedBarrier,
  'read-write lock': savedReadWriteLock,
  map: savedMap,
  jobs: savedJobs,
  queue: savedQueue,
  stack: savedStack,
  log: savedLog,
  channel: savedChannel,
  'rcu cell': savedCell,
  'mv-rlu': 'its objects name each other by their places in memory, which are others after a restore',
}
