import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BackendFactory,
  createRedisBackend,
  FlowProducer,
  type IQueueBackend,
  type JobJson,
  Queue,
  QueueEvents,
  Worker,
  type WorkerOptions,
} from 'bullmq'
import { aetherBackend } from '../../../src/adapters/bullmq/index.ts'

/** Why the comparison with Redis cannot run; false if it can. */
export const noRedis: string | false =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'redis-server is not installed'

/** A Redis of a test file's own: on a Unix socket, without files. */
export class TestRedis implements AsyncDisposable {
  readonly path: string
  readonly #directory: string
  readonly #child: ChildProcess

  private constructor(directory: string, child: ChildProcess) {
    this.#directory = directory
    this.path = join(directory, 'socket')
    this.#child = child
  }

  static async start(): Promise<TestRedis> {
    const directory = mkdtempSync(join(tmpdir(), 'aether-redis-'))
    const socket = join(directory, 'socket')
    const options = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--save', '', '--appendonly', 'no']
    const child = spawn('redis-server', options, { stdio: 'ignore' })
    while (!existsSync(socket)) await sleep(5)
    return new TestRedis(directory, child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** Lines of what a program saw, without times. */
export type Transcript = readonly string[]

type Settings = Omit<WorkerOptions, 'connection'>

/** One of the two backends that a program runs on. It writes down all that is returned, and what can be seen then. */
export class Side implements AsyncDisposable {
  readonly kind: 'redis' | 'aether'
  readonly lines: string[] = []
  /** Names of the backend's methods that were called. */
  readonly called: Set<string> = new Set<string>()
  readonly #factory: BackendFactory
  readonly #connection: Record<string, unknown>
  readonly #closers: (() => Promise<unknown>)[] = []
  /** By queue, the last event that was seen. */
  readonly #lastEvents = new Map<string, string>()

  constructor(kind: 'redis' | 'aether', place: string) {
    this.kind = kind
    this.#connection = kind === 'redis' ? { path: place, maxRetriesPerRequest: null } : {}
    const factory = kind === 'redis' ? createRedisBackend : aetherBackend(place, { size: '16MiB' })
    this.#factory = ((...args) =>
      this.#watched(factory(...(args as Parameters<typeof createRedisBackend>)))) as BackendFactory
  }

  backend(name: string, settings: Settings & { prefix?: string } = {}): IQueueBackend {
    const options = { lockDuration: 30_000, stalledInterval: 1, maxStalledCount: 1, ...settings }
    const made = this.#factory(name, { connection: this.#connection, ...options }, { withBlockingConnection: true })
    made.on('error', () => {})
    this.#closers.push(() => made.close(true))
    return made
  }

  queue(name: string): Queue<unknown, unknown, string, unknown, unknown, string, IQueueBackend> {
    const made = new Queue(name, { connection: this.#connection }, this.#factory)
    this.#closers.push(() => made.close())
    return made
  }

  worker(
    name: string,
    work: (job: { name: string; data: unknown; id?: string }) => Promise<unknown>,
    more: Settings = {},
  ): Worker<unknown, unknown, string, IQueueBackend> {
    const made = new Worker(
      name,
      work as never,
      { connection: this.#connection, drainDelay: 1, ...more },
      this.#factory,
    )
    made.on('error', () => {})
    this.#closers.push(() => made.close())
    return made
  }

  events(name: string): QueueEvents<never, IQueueBackend> {
    const made = new QueueEvents(name, { connection: this.#connection }, this.#factory)
    made.on('error', () => {})
    this.#closers.push(() => made.close())
    return made
  }

  flows(): FlowProducer<IQueueBackend> {
    const made = new FlowProducer({ connection: this.#connection }, this.#factory)
    this.#closers.push(() => made.close())
    return made
  }

  /** Write down what a call returns, or why it fails. */
  async note(what: string, call: () => unknown): Promise<unknown> {
    try {
      const value = await call()
      this.lines.push(`${what}: ${plain(value)}`)
      return value
    } catch (error) {
      this.lines.push(`${what} fails: ${plain((error as Error).message)} ${(error as { code?: unknown }).code ?? ''}`)
      return undefined
    }
  }

  /** Write down all states, jobs, events and metadata of a queue. */
  async look(queue: IQueueBackend, jobs: readonly string[] = []): Promise<void> {
    const ids = await queue.getRanges([...STATES] as never, 0, -1, false)
    this.lines.push(`states: ${plain(Object.fromEntries(STATES.map((state, at) => [state, ids[at]])))}`)
    for (const id of new Set([...ids.flat().map(String), ...jobs])) await this.#lookAt(queue, id)
    // With Redis, the default becomes visible by and by; a Queue always sets it.
    const meta = { ...(await queue.getQueueMeta()), 'opts.maxLenEvents': undefined }
    this.lines.push(`meta: ${plain(meta)}`)
    await this.#lookAtEvents(queue)
  }

  async #lookAt(queue: IQueueBackend, id: string): Promise<void> {
    const data = await queue.getJobData(id)
    const children = data === undefined ? undefined : sorted(await queue.getDependencies(id, {}))
    this.lines.push(`job ${plain(id)}: ${await queue.getState(id)} ${plain(data && visible(data))} ${plain(children)}`)
  }

  async #lookAtEvents(queue: IQueueBackend): Promise<void> {
    const last = this.#lastEvents.get(queue.qualifiedName) ?? '0-0'
    const read = (await queue.readEvents(last, 1)) as [string, [string, string[]][]][] | null
    const events = read?.[0]?.[1] ?? []
    this.#lastEvents.set(queue.qualifiedName, events.at(-1)?.[0] ?? last)
    this.lines.push(`events: ${plain(inOrder(events.map(([, fields]) => fields)))}`)
  }

  /** A backend that notes which of its methods are called. */
  #watched(backend: IQueueBackend): IQueueBackend {
    return new Proxy(backend, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        this.called.add(String(name))
        if (name === 'forQueue') return (...args: [string, string?]) => this.#watched(target.forQueue(...args))
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.reverse()) await close()
  }
}

const STATES = [
  'waiting',
  'active',
  'delayed',
  'prioritized',
  'completed',
  'failed',
  'waiting-children',
  'paused',
] as const

/** JSON without times: those of two runs differ. Absent and undefined values are the same. */
function plain(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) => (isRecord(each) ? ordered(each) : each)) ?? 'undefined'
  return text.replace(/\b1[5-9]\d{11}(\.\d+)?\b/g, 'T').replace(/(delay\\?":)\d{7,}/g, '$1D')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ordered(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Sets of a Redis have no order, so children are removed in any. */
function inOrder(events: readonly string[][]): readonly string[][] {
  const found = [...events]
  for (let at = 0; at < found.length; at += 1) {
    let end = at
    while (found[end]?.[1] === 'removed') end += 1
    found.splice(at, end - at, ...found.slice(at, end).sort())
    at = Math.max(at, end - 1)
  }
  return found
}

/** The same for what they hold. */
function sorted(dependencies: { unprocessed?: string[] }): unknown {
  return { ...dependencies, unprocessed: dependencies.unprocessed?.toSorted() }
}

function visible(job: JobJson): unknown {
  return { ...job, stacktrace: job.stacktrace === undefined ? undefined : 'a trace' }
}

/** A program: what it does is the same on both sides. */
export type Program = (side: Side, name: string) => Promise<void>

let programs = 0

/** Runs the program on both. Returns what each saw, and which methods it called. */
export async function compare(
  redis: TestRedis,
  space: string,
  program: Program,
): Promise<{ redis: Transcript; aether: Transcript; called: ReadonlySet<string> }> {
  programs += 1
  const name = `queue-${process.pid}-${programs}`
  const run = async (kind: 'redis' | 'aether', place: string): Promise<Side> => {
    await using side = new Side(kind, place)
    await program(side, name)
    return side
  }
  const [there, here] = [await run('redis', redis.path), await run('aether', space)]
  return { redis: there.lines, aether: here.lines, called: here.called }
}

/** @throws AssertionError with the first line that differs. */
export function assertSame(here: Transcript, there: Transcript): void {
  const at = there.findIndex((line, index) => line !== here[index])
  if (at < 0 && here.length === there.length) return
  const place = at < 0 ? there.length : at
  const before = there.slice(Math.max(0, place - 2), place).join('\n')
  assert.fail(`line ${place}, after\n${before}\nin shared memory:\n${here[place]}\non Redis:\n${there[place]}`)
}
