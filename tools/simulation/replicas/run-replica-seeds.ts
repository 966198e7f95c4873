import { playTasks } from '../play-tasks.ts'
import type { ReplicaSeedTask } from './replica-worker.ts'
import type { ReplicaRunResult } from './simulate-replicas.ts'

export interface RunReplicaSeedsOptions {
  /** The first seed. */
  readonly first: number
  readonly seeds: number
  readonly threads?: number | undefined
  /** Replicas have journals. */
  readonly hasDisks?: boolean
  /** A seed is done. Where it returns 'stop', no other is begun. */
  readonly onReport?: (result: ReplicaRunResult) => 'stop' | undefined
}

/** Every so many seeds one is played twice, to see that it takes the same course. */
const TWICE_EVERY = 20

/** Play many seeds, several at a time. Results come in the order in which they are done. */
export function runReplicaSeeds({
  first,
  seeds,
  threads,
  hasDisks = false,
  onReport,
}: RunReplicaSeedsOptions): Promise<ReplicaRunResult[]> {
  return playTasks<ReplicaSeedTask, ReplicaRunResult>({
    worker: new URL('./replica-worker.js', import.meta.url),
    count: seeds,
    taskOf: (index) => ({ seed: first + index, hasDisks, twice: index % TWICE_EVERY === 0 }),
    threads,
    onReport,
  })
}
