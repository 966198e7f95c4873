import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from 'aether-dsm'
import { native } from 'aether-dsm/internal/native'
import { type Counter, type Flag, openStructures } from 'aether-dsm/structures'
import { answerOf, askProcess } from '../ask-process.ts'
import type { BenchOptions } from '../latency.ts'
import { packageVersion } from '../peers/optional-package.ts'
import { type OnMissing, type PeerName, peerNames } from '../peers/peer-name.ts'
import { RedisServer, redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { type BenchRow, rowOf, rowOfOthers, withBaselines } from '../row.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { type OpenQueue, openQueue, type Place, type QueueName } from './job-queues.ts'
import { BEGUN_FLAG, DONE_COUNTER, type FromJobWorker, type ToJobWorker, type WorkerPlan } from './job-worker-plan.ts'

export interface JobsBenchOptions extends BenchOptions {
  /** Numbers of worker processes; default 1, 2 and 4. */
  readonly processes?: readonly number[]
  /** With Redis among them BullMQ is measured on a Redis server; default all. */
  readonly peers?: readonly PeerName[]
  readonly onMissing?: OnMissing
}

export const defaultJobsProcesses: readonly number[] = [1, 2, 4]
/** Of each row: in a shorter time, what is measured is code that is not compiled yet. */
const DEFAULT_TIME_MS = 500
/** Jobs that a worker has in hand at a time. */
const CONCURRENCY = 8
/** Jobs that are added one by one for `add`, of which the first are left out. */
const ADDS_MIN = 200
/** Jobs of a backlog: what the fastest queue works on in the time, at most. */
const BACKLOG_MAX = 50_000
const STARTS_MIN = 50

/**
 * Job queues: the shared structure, and the same work by BullMQ, in shared memory and on a Redis server.
 *
 * - `add`: one job after the other is added, each awaited.
 * - `work-N`: N worker processes finish what is there; from the first until all are done.
 * - `start`: from the call that adds a job until a worker's handler begins. The worker has been idle for a millisecond.
 * - `start-next`: the same for a job that is added as soon as the handler of the one before has begun.
 */
export async function benchJobs(options: JobsBenchOptions = {}): Promise<BenchRow[]> {
  const { timeMs = DEFAULT_TIME_MS, processes = defaultJobsProcesses, peers = peerNames, onMissing, onRow } = options
  using scratch = new ScratchDirectory()
  const rows: BenchRow[] = []
  const keep = (row: BenchRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  const plan = { directory: scratch.path, processes, timeMs }
  await benchQueue('jobs', 'jobs', plan, keep)
  // Only while there is no job does it differ.
  await benchQueue('jobs spinning', 'jobs spinning', plan, (row) => {
    if (row.op.startsWith('start')) keep(row)
  })
  const version = packageVersion('bullmq')
  if (peers.includes('Redis'))
    await unlessMissing('Redis', onMissing, async () => {
      await using _server = await RedisServer.start(scratch.path)
      await benchQueue('BullMQ on Redis', `BullMQ ${version} on ${redisProvider()}`, plan, keep)
      await benchQueue('BullMQ on aether', `BullMQ ${version} on aether`, plan, keep)
    })
  return withBaselines(rows, 'jobs')
}

interface JobsPlan {
  readonly directory: string
  readonly processes: readonly number[]
  readonly timeMs: number
}

let runs = 0

async function benchQueue(
  queue: QueueName,
  provider: string,
  { directory, processes, timeMs }: JobsPlan,
  keep: (row: BenchRow) => void,
): Promise<void> {
  runs += 1
  const space = await open(`bench-jobs-${process.pid}-${runs}`)
  const structures = await openStructures(space)
  const place: Place = { space, structures, directory, name: `bench-${runs}` }
  const producer = await openQueue(queue, place)
  try {
    const plan = { queue, space: space.name, directory, name: place.name, concurrency: CONCURRENCY }
    const words = { done: await structures.counter(DONE_COUNTER), begun: await structures.flag(BEGUN_FLAG) }
    const bench = new QueueBench(producer, words, plan, timeMs)
    keep(rowOf('add', provider, 0, { batchSize: 1, batchNs: await bench.adding(), cpuNs: Number.NaN }))
    for (const count of processes)
      keep(rowOfOthers(`work-${count}`, provider, 0, { opsPerSec: await bench.working(count), p50Ns: null }))
    keep(rowOf('start', provider, 0, { batchSize: 1, batchNs: await bench.starting(), cpuNs: Number.NaN }))
    const nextNs = await bench.startingNext()
    keep(rowOf('start-next', provider, 0, { batchSize: 1, batchNs: nextNs, cpuNs: Number.NaN }))
  } finally {
    await producer.close()
    await structures.close()
    await space.close()
  }
}

/** What workers tell. */
interface Progress {
  /** Counts the jobs whose handler has begun. */
  readonly done: Counter
  /** Raised each time. */
  readonly begun: Flag
}

/** The measurements of one queue. */
class QueueBench {
  readonly #producer: OpenQueue
  readonly #done: Counter
  readonly #begun: Flag
  readonly #plan: WorkerPlan
  readonly #timeMs: number
  #added = 0

  constructor(producer: OpenQueue, { done, begun }: Progress, plan: WorkerPlan, timeMs: number) {
    this.#producer = producer
    this.#done = done
    this.#begun = begun
    this.#plan = plan
    this.#timeMs = timeMs
  }

  /** Nanoseconds of each job that is added. */
  async adding(): Promise<Float64Array> {
    const tookNs: number[] = []
    const endNs = native.monotonicNs() + this.#timeMs * 1e6
    for (let count = 0; count < BACKLOG_MAX && (count < ADDS_MIN || native.monotonicNs() < endNs); count += 1) {
      const beforeNs = native.monotonicNs()
      await this.#add()
      if (count >= ADDS_MIN / 2) tookNs.push(native.monotonicNs() - beforeNs)
    }
    return Float64Array.from(tookNs)
  }

  /** Jobs a second that `count` workers finish together, of a backlog. */
  async working(count: number): Promise<number> {
    if (this.#added === this.#done.getSync()) await this.adding()
    const before = this.#done.getSync()
    const workers = await Promise.all(Array.from({ length: count }, () => startWorker(this.#plan)))
    try {
      const beginNs = native.monotonicNs()
      await Promise.all(workers.map((worker) => askProcess<FromJobWorker, 'working'>(worker, WORK, 'working')))
      while (this.#done.getSync() < this.#added) await sleep(1)
      return ((this.#added - before) * 1e9) / (native.monotonicNs() - beginNs)
    } finally {
      await Promise.all(workers.map(endWorker))
    }
  }

  /** Nanoseconds from the call that adds a job until its handler begins, in a worker that has been idle. */
  starting(): Promise<Float64Array> {
    return this.#starting(async () => {
      while (this.#done.getSync() < this.#added) await sleep(1)
    })
  }

  /** The same for a job that is added as soon as the handler of the one before has begun. */
  startingNext(): Promise<Float64Array> {
    this.#begun.lowerSync()
    return this.#starting(async () => {
      await this.#begun.wait()
      this.#begun.lowerSync()
    })
  }

  async #starting(hasBegun: () => Promise<void>): Promise<Float64Array> {
    const worker = await startWorker(this.#plan)
    try {
      await askProcess<FromJobWorker, 'working'>(worker, WORK, 'working')
      const endNs = native.monotonicNs() + this.#timeMs * 1e6
      for (let count = 0; count < STARTS_MIN || native.monotonicNs() < endNs; count += 1) {
        await this.#add()
        await hasBegun()
      }
      return await endWorker(worker)
    } catch (error) {
      worker.kill('SIGKILL')
      throw error
    }
  }

  async #add(): Promise<void> {
    await this.#producer.add({ addedNs: native.monotonicNs() })
    this.#added += 1
  }
}

const WORK: ToJobWorker = { kind: 'work' }
const CLOSE: ToJobWorker = { kind: 'close' }

async function startWorker(plan: WorkerPlan): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./job-worker.js', import.meta.url))
  const child = fork(script, [JSON.stringify(plan)], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    await answerOf<FromJobWorker, 'opened'>(child, 'opened')
    return child
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

/** Gives the times from add to start of its jobs. */
async function endWorker(child: ChildProcess): Promise<Float64Array> {
  const ended = once(child, 'exit')
  const { startNs } = await askProcess<FromJobWorker, 'closed'>(child, CLOSE, 'closed')
  await ended
  return startNs
}
