import {
  CompletionBatch,
  type CompletionQueue,
  CompletionStatus,
  type ConnectOptions,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
  type RegionToken,
} from '../../../src/verbs/index.ts'
import { until } from '../../cluster/support.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import type { Opened } from './fixtures/end.ts'

export const fixture: URL = new URL('./fixtures/end.js', import.meta.url)

/** The end that is left when the other one, a process of its own, is stopped or killed. */
export class Survivor implements Disposable {
  readonly device: Device
  readonly domain: ProtectionDomain
  readonly queue: CompletionQueue
  readonly memory: MemoryRegion
  pair: QueuePair
  readonly #batch = new CompletionBatch(64)
  readonly #others: RankProcess[] = []

  constructor(lengthBytes: number) {
    this.device = openDevice('tcp-lo')
    this.domain = this.device.createProtectionDomain()
    this.queue = this.device.createCompletionQueue({ depth: 1024 })
    this.memory = this.domain.allocate(lengthBytes, ALL_ACCESS)
    this.pair = this.newPair()
  }

  newPair(): QueuePair {
    return this.domain.createQueuePair({ type: 'rc', sendQueue: this.queue, receiveQueue: this.queue })
  }

  /** Another process, connected to the pair of this one; a new one, unless one is given. */
  async meet(
    lengthBytes: number,
    options: ConnectOptions = {},
    other: RankProcess = this.#newProcess(),
  ): Promise<readonly [RankProcess, RegionToken]> {
    const { endpoint, token } = await other.call<Opened>('open', 'tcp-lo', lengthBytes)
    await other.call('connect', this.pair.endpoint, options)
    this.pair.connect(endpoint, options)
    return [other, token]
  }

  #newProcess(): RankProcess {
    const other = new RankProcess(fixture, {})
    this.#others.push(other)
    return other
  }

  poll(): number[] {
    const count = this.queue.poll(this.#batch)
    return [...this.#batch.status.slice(0, count)]
  }

  /** Statuses of `count` completions. */
  async statuses(count: number): Promise<number[]> {
    const all: number[] = []
    await until(() => all.push(...this.poll()) >= count, 'everything completes')
    return all
  }

  [Symbol.dispose](): void {
    for (const { child } of this.#others) child.kill('SIGKILL')
    this.device.close()
  }
}

/** The first that did not succeed, and those behind it; throws unless one says why, and the others were flushed. */
export function failureOf(statuses: readonly number[]): number {
  const first = statuses.findIndex((status) => status !== CompletionStatus.Success)
  const behind = statuses.slice(first + 1)
  if (first < 0 || behind.some((status) => status !== CompletionStatus.WorkRequestFlushed))
    throw new Error(`statuses ${statuses.join(' ')}`)
  return statuses[first]!
}
