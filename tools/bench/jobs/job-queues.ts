import type { Space } from 'aether-dsm'
import { AetherError } from 'aether-dsm/internal/native'
import type { Structures } from 'aether-dsm/structures'
import { optionalPackage } from '../peers/optional-package.ts'
import { redisSocket } from '../peers/redis-server.ts'

/** Job queues that are measured: the shared structure, and BullMQ in shared memory and on a Redis server. */
export type QueueName = 'jobs' | 'jobs spinning' | 'BullMQ on aether' | 'BullMQ on Redis'

/** What a process needs to open a queue. */
export interface Place {
  readonly space: Space
  readonly structures: Structures
  /** Of the Redis server's socket. */
  readonly directory: string
  readonly name: string
}

interface JobData {
  /** When it was added, by the clock of all processes, in nanoseconds. */
  readonly addedNs: number
}

/** One queue, as one process uses it. Completed jobs are not kept. */
export interface OpenQueue {
  add(data: JobData): Promise<void>
  /** Work on jobs until it is closed. */
  work(handler: (data: JobData) => void, concurrency: number): Promise<void>
  close(): Promise<void>
}

/** What is used of the package `bullmq`. */
interface BullMq {
  readonly Queue: new (name: string, options: object, backend?: unknown) => BullQueue
  readonly Worker: new (
    name: string,
    handler: (job: { readonly data: JobData }) => Promise<void>,
    options: object,
    backend?: unknown,
  ) => BullWorker
}

interface BullQueue {
  add(name: string, data: JobData, options: object): Promise<unknown>
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

interface BullWorker {
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

/** How long a worker looks for the next job, where it does. */
const SPIN_MS = 5

/** @throws AetherError where a package is not installed. */
export async function openQueue(queue: QueueName, place: Place): Promise<OpenQueue> {
  if (queue === 'jobs') return await openJobs(place, 0)
  return queue === 'jobs spinning' ? await openJobs(place, SPIN_MS) : await openBullMq(queue, place)
}

async function openJobs({ structures, name }: Place, spinMs: number): Promise<OpenQueue> {
  const jobs = await structures.jobs<JobData, void>(name)
  const stop = new AbortController()
  let working: Promise<void> | undefined
  return {
    async add(data) {
      await jobs.add(data)
    },
    async work(handler, concurrency) {
      working = jobs.work(({ data }) => handler(data), { concurrency, spinMs, signal: stop.signal })
    },
    async close() {
      stop.abort()
      await working
    },
  }
}

async function openBullMq(queue: QueueName, { space, directory, name }: Place): Promise<OpenQueue> {
  const { Queue, Worker } = await optionalPackage<BullMq>('bullmq')
  const isRedis = queue === 'BullMQ on Redis'
  const connection = isRedis ? { path: redisSocket(directory), maxRetriesPerRequest: null } : {}
  const backend = isRedis ? [] : [await backendOf(space)]
  const open = new Queue(name, { connection }, ...backend)
  await open.waitUntilReady()
  let worker: BullWorker | undefined
  return {
    async add(data) {
      await open.add('job', data, { removeOnComplete: true })
    },
    async work(handler, concurrency) {
      worker = new Worker(name, async ({ data }) => handler(data), { connection, concurrency }, ...backend)
      await worker.waitUntilReady()
    },
    async close() {
      await worker?.close()
      await open.close()
    },
  }
}

async function backendOf({ name }: Space): Promise<unknown> {
  try {
    const { aetherBackend } = await import('aether-dsm/adapters/bullmq')
    return aetherBackend(name)
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', 'the package bullmq is not installed (npm install bullmq)', { cause })
  }
}
