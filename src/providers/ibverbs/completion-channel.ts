import type { VerbsToken } from '../../native/index.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import type { DescriptorWatch } from '../descriptor-watch.ts'
import { Errno, VerbsError } from '../errors.ts'
import { ReadableWaiters } from '../readable-waiters.ts'
import type { IbverbsContext } from './context.ts'
import { attempt, check } from './verb.ts'

const EVENTS_AT_ONCE = 64

/** A device with its channels, and its queues by token. */
interface ChannelDevice extends IbverbsContext {
  readonly watch: DescriptorWatch
  readonly channels: Set<IbverbsCompletionChannel>
  readonly queues: ReadonlyMap<VerbsToken, ProviderCompletionQueue>
}

/** ibv_create_comp_channel(3), its descriptor non-blocking. Events are acknowledged as they are taken. */
export class IbverbsCompletionChannel implements ProviderCompletionChannel {
  readonly descriptor: number
  readonly handle: VerbsToken
  readonly queues: Set<ProviderCompletionQueue> = new Set<ProviderCompletionQueue>()
  readonly #device: ChannelDevice
  readonly #waiters: ReadableWaiters
  readonly #tokens = new Float64Array(EVENTS_AT_ONCE)

  constructor(device: ChannelDevice) {
    this.#device = device
    const { handle, descriptor } = attempt(() => device.verbs.createChannel(device.handle))
    this.handle = handle
    this.descriptor = descriptor
    this.#waiters = new ReadableWaiters(device.watch, descriptor)
  }

  drain(fired: (queue: ProviderCompletionQueue) => void): number {
    const seen = new Set<ProviderCompletionQueue>()
    for (let count = EVENTS_AT_ONCE; count === EVENTS_AT_ONCE; ) {
      count = this.#device.verbs.drainChannel(this.handle, this.#tokens)
      for (let index = 0; index < count; index += 1) {
        const queue = this.#device.queues.get(this.#tokens[index]!)
        if (queue !== undefined) seen.add(queue)
      }
    }
    for (const queue of seen) fired(queue)
    return seen.size
  }

  whenReadable(ready: () => void, keepAlive: boolean): () => void {
    return this.#waiters.add(ready, keepAlive)
  }

  destroy(): void {
    if (this.queues.size > 0) {
      throw new VerbsError(
        'ibv_destroy_comp_channel',
        Errno.EBUSY,
        `${this.queues.size} completion queues still use it`,
      )
    }
    this.#waiters.close()
    check('ibv_destroy_comp_channel', this.#device.verbs.destroy(this.handle), () => 'the channel is in use')
    this.#device.channels.delete(this)
  }
}
