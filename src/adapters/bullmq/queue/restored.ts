import { StoreHead } from '../../../structures/index.ts'
import { JobOffset, QueueOffset } from './layout.ts'
import type { QueueState } from './queue-state.ts'
import type { Queues } from './queues.ts'

/** No member is this one. Slots and epochs begin again in a restored space, so the old words may name others. */
const NO_OWNER = 0
/** What a job changes in the undo log takes less than this. */
const STEP_JOBS = 256

/**
 * After a restore: those who held locks are of another life. Their jobs become orphans, which the first check for
 * stalled jobs gives back. That check is due at once. A process that is killed here leaves the rest to the next one.
 */
export async function forgetHolders(queues: Queues): Promise<void> {
  const { store } = queues
  while (await store.transaction(() => forgetSome(queues)));
}

/** True if there may be more. */
function forgetSome(queues: Queues): boolean {
  const { memory } = queues.store
  if (memory.word(StoreHead.Restored) === 0) return false
  let left = STEP_JOBS
  for (const queue of queues.all()) {
    left -= forgetIn(queue, left)
    if (left <= 0) return true
  }
  memory.setWord(StoreHead.Restored, 0)
  return false
}

/** Returns how many were changed. */
function forgetIn(queue: QueueState, jobsMax: number): number {
  const { memory } = queue.store
  let forgotten = 0
  if (memory.float(queue.at + QueueOffset.StalledCheckEnd) !== 0) {
    memory.setFloat(queue.at + QueueOffset.StalledCheckEnd, 0)
    forgotten += 1
  }
  for (const job of queue.entries()) {
    if (memory.word(job + JobOffset.LockToken) === 0 || memory.word(job + JobOffset.LockOwner) === NO_OWNER) continue
    if (forgotten >= jobsMax) break
    memory.setWord(job + JobOffset.LockOwner, NO_OWNER)
    memory.setFloat(job + JobOffset.LockEnd, 0)
    forgotten += 1
  }
  return forgotten
}
