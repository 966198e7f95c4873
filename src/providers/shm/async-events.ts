import { native } from '../../native/index.ts'
import type { AsyncEventType, ProviderAsyncEvent } from '../async-event.ts'
import { ReadableWaiters } from '../readable-waiters.ts'
import type { ShmDevice } from './device.ts'

/**
 * The asynchronous events of a device that were not taken yet, and a pipe that is readable while there are any. Events
 * are raised by this thread only: it notices what a peer causes in a poll, or when the peer rings.
 */
export class ShmAsyncEvents {
  readonly descriptor: number
  readonly #writeEnd: number
  readonly #waiters: ReadableWaiters
  #events: ProviderAsyncEvent[] = []

  constructor(device: ShmDevice) {
    const [readEnd, writeEnd] = native.createPipe()
    this.descriptor = readEnd
    this.#writeEnd = writeEnd
    this.#waiters = new ReadableWaiters(device.watch, readEnd)
  }

  raise(type: AsyncEventType, about: Omit<ProviderAsyncEvent, 'type'>): void {
    this.#events.push({ type, ...about })
    native.ringPipe(this.#writeEnd)
  }

  /** An object is destroyed: events about it that were not taken are dropped, as the kernel does. */
  forget(object: object): void {
    this.#events = this.#events.filter(
      (event) => event.completionQueue !== object && event.queuePair !== object && event.sharedReceiveQueue !== object,
    )
  }

  drain(take: (event: ProviderAsyncEvent) => void): number {
    native.drainPipe(this.descriptor)
    const events = this.#events
    this.#events = []
    for (const event of events) take(event)
    return events.length
  }

  whenReadable(ready: () => void, keepAlive: boolean): () => void {
    return this.#waiters.add(ready, keepAlive)
  }

  close(): void {
    this.#waiters.close()
    native.closeDescriptor(this.descriptor)
    native.closeDescriptor(this.#writeEnd)
  }
}
