import type { VerbsAddon, VerbsToken } from '../../native/index.ts'
import type { CompletionBatch } from '../completion-batch.ts'
import type { ProviderCompletionQueue } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { IbverbsCompletionChannel } from './completion-channel.ts'
import type { IbverbsDevice } from './device.ts'
import type { IbverbsQueuePair } from './queue-pair.ts'
import { attempt, check } from './verb.ts'

/** ibv_create_cq(3). A poll is one native call, which fills the batch. */
export class IbverbsCompletionQueue implements ProviderCompletionQueue {
  readonly handle: VerbsToken
  depth: number
  readonly channel: IbverbsCompletionChannel | undefined
  /** Queue pairs that complete here. */
  readonly users: Set<IbverbsQueuePair> = new Set<IbverbsQueuePair>()
  readonly #device: IbverbsDevice
  readonly #verbs: VerbsAddon
  #overrun = false

  constructor(device: IbverbsDevice, depth: number, channel: IbverbsCompletionChannel | undefined, vector: number) {
    this.#device = device
    this.#verbs = device.verbs
    this.channel = channel
    const made = attempt(() => device.verbs.createCompletionQueue(device.handle, depth, channel?.handle ?? 0, vector))
    this.handle = made.handle
    this.depth = made.depth
    channel?.queues.add(this)
  }

  /** The device says so by an asynchronous event. */
  get overrun(): boolean {
    this.#device.noticeEvents()
    return this.#overrun
  }

  markOverrun(): void {
    this.#overrun = true
  }

  poll(batch: CompletionBatch): number {
    const count = this.#verbs.pollCompletions(this.handle, batch.buffer, batch.capacity)
    if (count < 0) throw new VerbsError('ibv_poll_cq', -count, 'the queue cannot be polled any more; was it overrun?')
    return count
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
