import { ASYNC_EVENT_WORDS, type VerbsToken } from '../../native/index.ts'
import { AsyncEventType, type ProviderAsyncEvent } from '../async-event.ts'
import type { ProviderCompletionQueue } from '../completion-contract.ts'
import type { DescriptorWatch } from '../descriptor-watch.ts'
import type { ProviderQueuePair } from '../queue-pair-contract.ts'
import { ReadableWaiters } from '../readable-waiters.ts'
import type { ProviderSharedReceiveQueue } from '../shared-receive-queue.ts'
import type { IbverbsContext } from './context.ts'

const EVENTS_AT_ONCE = 16
/** The program may never read events: if there are more, the oldest are dropped. */
const KEPT_MAX = 4096

/** A device with the objects that events are about, by token. */
interface EventfulDevice extends IbverbsContext {
  readonly asyncDescriptor: number
  readonly watch: DescriptorWatch
  readonly queues: ReadonlyMap<VerbsToken, ProviderCompletionQueue & { markOverrun(): void }>
  readonly pairs: ReadonlyMap<VerbsToken, ProviderQueuePair>
  readonly sharedReceives: ReadonlyMap<VerbsToken, ProviderSharedReceiveQueue>
}

/** Asynchronous events of a device, acknowledged as they are taken, and kept until the program asks for them. */
export class AsyncEventQueue {
  readonly #device: EventfulDevice
  readonly #words = new Float64Array(EVENTS_AT_ONCE * ASYNC_EVENT_WORDS)
  readonly #waiters: ReadableWaiters
  #kept: ProviderAsyncEvent[] = []

  constructor(device: EventfulDevice) {
    this.#device = device
    this.#waiters = new ReadableWaiters(device.watch, device.asyncDescriptor)
  }

  /** Take the events that are waiting in the kernel. */
  collect(): void {
    const { verbs, handle } = this.#device
    for (let count = EVENTS_AT_ONCE; count === EVENTS_AT_ONCE; ) {
      count = verbs.readAsyncEvents(handle, this.#words)
      for (let index = 0; index < count; index += 1) this.#keep(index * ASYNC_EVENT_WORDS)
    }
  }

  drain(take: (event: ProviderAsyncEvent) => void): number {
    this.collect()
    const events = this.#kept
    this.#kept = []
    for (const event of events) take(event)
    return events.length
  }

  whenReadable(ready: () => void, keepAlive: boolean): () => void {
    if (this.#kept.length > 0) setImmediate(() => this.#waiters.wake())
    return this.#waiters.add(ready, keepAlive)
  }

  close(): void {
    this.#waiters.close()
  }

  #keep(at: number): void {
    const type = this.#words[at]!
    const subject = this.#words[at + 1]!
    const port = this.#words[at + 2]!
    const { queues, pairs, sharedReceives } = this.#device
    const completionQueue = queues.get(subject)
    const queuePair = pairs.get(subject)
    const sharedReceiveQueue = sharedReceives.get(subject)
    if (type === AsyncEventType.CompletionQueueError) completionQueue?.markOverrun()
    if (this.#kept.length === KEPT_MAX) this.#kept.shift()
    this.#kept.push({
      type,
      ...(completionQueue === undefined ? {} : { completionQueue }),
      ...(queuePair === undefined ? {} : { queuePair }),
      ...(sharedReceiveQueue === undefined ? {} : { sharedReceiveQueue }),
      ...(port === 0 ? {} : { port }),
    })
  }
}
