import type { VerbsAddon, VerbsToken } from '../../native/index.ts'
import { CompletionBatch } from '../completion-batch.ts'
import type { ProviderCompletionQueue } from '../completion-contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { IbverbsCompletionChannel } from './completion-channel.ts'
import type { IbverbsContext } from './context.ts'
import { attempt, check } from './verb.ts'

/** Rows that were taken from the device before the program polled. */
interface KeptRows {
  readonly batch: CompletionBatch
  readonly count: number
  taken: number
}

const CLEANED_AT_ONCE = 64

/** A device with its queues by token. */
interface QueueDevice extends IbverbsContext {
  readonly queues: Map<VerbsToken, IbverbsCompletionQueue>
  /** Take events off the device, among them overruns. */
  noticeEvents(): void
}

/** A queue pair that completes here. */
interface CompletingPair {
  readonly number: number
  fail(): void
}

/** ibv_create_cq(3). A poll is one native call, which fills the batch. */
export class IbverbsCompletionQueue implements ProviderCompletionQueue {
  readonly handle: VerbsToken
  depth: number
  readonly channel: IbverbsCompletionChannel | undefined
  /** Queue pairs that complete here. */
  readonly users: Set<CompletingPair> = new Set<CompletingPair>()
  readonly #device: QueueDevice
  readonly #verbs: VerbsAddon
  readonly #poll: VerbsAddon['pollCompletions']
  #overrun = false
  readonly #kept: KeptRows[] = []

  constructor(device: QueueDevice, depth: number, channel: IbverbsCompletionChannel | undefined, vector: number) {
    this.#device = device
    this.#verbs = device.verbs
    this.#poll = device.verbs.pollCompletions
    this.channel = channel
    const made = attempt(() => device.verbs.createCompletionQueue(device.handle, depth, channel?.handle ?? 0, vector))
    this.handle = made.handle
    this.depth = made.depth
    channel?.queues.add(this)
  }

  /** The device reports it by an asynchronous event. */
  get overrun(): boolean {
    this.#device.noticeEvents()
    return this.#overrun
  }

  /**
   * Completions were lost, so the outcome of requests is unknown. All pairs that complete here are put into the error
   * state, unless the device has done so.
   */
  markOverrun(): void {
    this.#overrun = true
    for (const pair of this.users) pair.fail()
  }

  /**
   * Drop the completions of a queue pair that is reset or destroyed; not every driver does. Rows of other queue pairs
   * are kept for the next polls.
   */
  clean(queuePairNumber: number): void {
    const kept: KeptRows[] = []
    for (let seen = 0; seen <= 2 * this.depth; ) {
      const batch = new CompletionBatch(CLEANED_AT_ONCE)
      const rows = this.#next(batch)
      if (rows <= 0) break
      seen += rows
      const count = keepOthers(batch, rows, queuePairNumber)
      if (count > 0) kept.push({ batch, count, taken: 0 })
    }
    this.#kept.push(...kept)
  }

  poll(batch: CompletionBatch): number {
    const count = this.#next(batch)
    if (count < 0) throw new VerbsError('ibv_poll_cq', -count, 'the queue cannot be polled any more; was it overrun?')
    return count
  }

  /** Kept rows first, else rows of the device, or a negative errno. */
  #next(batch: CompletionBatch): number {
    const kept = this.#kept[0]
    if (kept === undefined) return this.#poll(this.handle, batch.buffer)
    const rows = Math.min(batch.capacity, kept.count - kept.taken)
    for (let row = 0; row < rows; row += 1) batch.copyRow(row, kept.batch, kept.taken + row)
    kept.taken += rows
    if (kept.taken === kept.count) this.#kept.shift()
    return rows
  }

  arm(solicitedOnly: boolean): void {
    const errno = this.#verbs.armCompletionQueue(this.handle, solicitedOnly)
    check('ibv_req_notify_cq', errno, () => 'the queue cannot be armed')
  }

  resize(depth: number): void {
    this.depth = attempt(() => this.#verbs.resizeCompletionQueue(this.handle, depth))
  }

  destroy(): void {
    if (this.users.size > 0) {
      const numbers = [...this.users].map((pair) => pair.number).join(', ')
      throw new VerbsError('ibv_destroy_cq', Errno.EBUSY, `queue pairs [${numbers}] still use it`)
    }
    check('ibv_destroy_cq', this.#verbs.destroy(this.handle), () => 'the queue is in use')
    this.channel?.queues.delete(this)
    this.#device.queues.delete(this.handle)
  }
}

/** Move the rows of other queue pairs to the front. Returns their number. */
function keepOthers(batch: CompletionBatch, rows: number, queuePairNumber: number): number {
  let next = 0
  for (let row = 0; row < rows; row += 1) {
    if (batch.queuePairNumber[row] === queuePairNumber) continue
    if (next !== row) batch.copyRow(next, batch, row)
    next += 1
  }
  return next
}
