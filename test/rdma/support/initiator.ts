/**
 * The end that a fault is tested from: a queue pair with memory, and completions that come in bounded time or are
 * missed loudly.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Access,
  CompletionBatch,
  type CompletionQueue,
  CompletionStatus,
  type ConnectOptions,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
  statusName,
} from '../../../src/verbs/index.ts'
import { PATIENCE_MS } from './program.ts'

const ALL = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

export interface Outcome {
  readonly id: number
  readonly status: string
}

export class Initiator implements Disposable {
  readonly device: Device
  readonly domain: ProtectionDomain
  readonly queue: CompletionQueue
  readonly memory: MemoryRegion
  pair: QueuePair
  readonly #batch = new CompletionBatch(64)

  constructor(deviceName = 'rxe0') {
    this.device = openDevice(deviceName)
    this.domain = this.device.createProtectionDomain()
    this.queue = this.device.createCompletionQueue({ depth: 1024 })
    this.memory = this.domain.allocate(65_536, ALL)
    this.pair = this.#createPair()
  }

  /** A fresh queue pair in place of the one that failed. */
  replacePair(): void {
    this.pair.close()
    this.pair = this.#createPair()
  }

  connect(remote: RemoteEndpoint, options: ConnectOptions = {}): void {
    this.pair.connect(remote, options)
  }

  /** The next `count` completions, in order; rejects when they are not there after `patienceMs`. */
  async completions(count: number, patienceMs: number = PATIENCE_MS): Promise<Outcome[]> {
    const deadline = Date.now() + patienceMs
    const all: Outcome[] = []
    while (all.length < count) {
      const rows = this.queue.poll(this.#batch)
      for (let row = 0; row < rows; row += 1) {
        const status = statusName(this.#batch.status[row] as CompletionStatus)
        all.push({ id: this.#batch.id[row]!, status })
      }
      if (Date.now() > deadline) throw new Error(`${all.length} of ${count} completions in ${patienceMs} ms`)
      // Whoever spins in an emulated guest takes a processor from the others.
      if (rows === 0) await sleep(1)
    }
    return all
  }

  [Symbol.dispose](): void {
    this.device.close()
  }

  #createPair(): QueuePair {
    return this.domain.createQueuePair({
      type: 'rc',
      sendQueue: this.queue,
      receiveQueue: this.queue,
      maxSendRequests: 512,
      maxInlineBytes: 32,
    })
  }
}

/**
 * Each request is either done, or its failure is named, and everything behind a failure is flushed. Returns how many
 * were done.
 */
export function assertTruthful(outcomes: readonly Outcome[], causes: readonly string[] = [RETRY_EXCEEDED]): number {
  const failed = outcomes.findIndex(({ status }) => status !== SUCCESS)
  if (failed < 0) return outcomes.length
  assert.ok(causes.includes(outcomes[failed]?.status ?? ''), `the cause is ${outcomes[failed]?.status}`)
  for (const { status } of outcomes.slice(failed + 1)) assert.equal(status, FLUSHED)
  return failed
}

export const SUCCESS: string = statusName(CompletionStatus.Success)
export const RETRY_EXCEEDED: string = statusName(CompletionStatus.RetryExceeded)
export const FLUSHED: string = statusName(CompletionStatus.WorkRequestFlushed)
