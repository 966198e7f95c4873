import type { Structures } from 'aether-dsm/internal/structures'
import type { CommonStructures, Subject } from '../subject.ts'
import { barrierSubject } from './barrier.ts'
import { boundedMapSubject } from './bounded-map.ts'
import { cellSubject } from './cell.ts'
import { counterSubject } from './counter.ts'
import { expiringMapSubject } from './expiring-map.ts'
import { flagSubject } from './flag.ts'
import { jobsSubject } from './jobs.ts'
import { latchSubject } from './latch.ts'
import { leaderSubject } from './leader.ts'
import { listSubject } from './list.ts'
import { channelSubject, logSubject } from './log.ts'
import { mapCountsSubject } from './map-counts.ts'
import { mutexSubject } from './mutex.ts'
import { objectsSubject } from './objects.ts'
import { onceSubject } from './once.ts'
import { ownMapSubject } from './own-map.ts'
import { rateLimiterSubject } from './rate-limiter.ts'
import { readWriteLockSubject } from './read-write-lock.ts'
import { semaphoreSubject } from './semaphore.ts'
import { sequenceSubject } from './sequence.ts'

/** What the ranks of a group have. */
export const groupSubjects: readonly Subject<CommonStructures>[] = [
  counterSubject,
  sequenceSubject,
  flagSubject,
  rateLimiterSubject,
  leaderSubject,
  mutexSubject,
  semaphoreSubject,
  onceSubject,
  mapCountsSubject,
  ownMapSubject,
  expiringMapSubject,
  boundedMapSubject,
  listSubject('queue', 32),
  listSubject('queue', undefined),
  listSubject('stack', 64),
  logSubject,
  objectsSubject,
]

/** What the processes of a machine have. */
export const machineSubjects: readonly Subject<Structures>[] = [
  ...groupSubjects,
  channelSubject,
  cellSubject,
  readWriteLockSubject,
  latchSubject,
  barrierSubject,
  jobsSubject,
]
