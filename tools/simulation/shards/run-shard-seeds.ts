import { playTasks } from '../play-tasks.ts'
import type { ShardsSeedTask } from './shards-worker.ts'
import type { ShardsRunResult } from './simulate-shards.ts'

export interface RunShardSeedsOptions {
  /** The first seed. */
  readonly first: number
  readonly seeds: number
  /** Nodes have directories. */
  readonly disks?: boolean
  readonly threads?: number | undefined
  readonly onReport?: (result: ShardsRunResult) => 'stop' | undefined
}

/** Every so many seeds one is played twice, to see that it takes the same course. */
const TWICE_EVERY = 10

/** Play many seeds, several at a time. Results come in the order in which they are done. */
export function runShardSeeds({
  first,
  seeds,
  disks = false,
  threads,
  onReport,
}: RunShardSeedsOptions): Promise<ShardsRunResult[]> {
  return playTasks<ShardsSeedTask, ShardsRunResult>({
    worker: new URL('./shards-worker.js', import.meta.url),
    count: seeds,
    taskOf: (index) => ({ seed: first + index, disks, twice: index % TWICE_EVERY === 0 }),
    threads,
    onReport,
  })
}
