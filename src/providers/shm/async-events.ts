import { native } from '../../native/index.ts'
import type { AsyncEventType, ProviderAsyncEvent } from '../async-event.ts'
import type { ShmDevice } from './device.ts'

/**
 * The asynchronous events of a device that were not taken yet, and a pipe that is readable while there are any.
 * Events are raised by this thread only: what a peer causes is noticed here, in a poll or when the peer rings.
 */
export class ShmAsyncEvents {
  readonly descriptor: number
  readonly #device: ShmDevice
  readonly #writeEnd: number
  readonly #waiters = new Set<() => void>()
  #events: ProviderAsyncEvent[] = []
  #token = -1

  constructor(device: ShmDevice) {
    this.#device = device
    const [readEnd, writeEnd] = native.createPipe()
    this.descriptor = readEnd
    this.#writeEnd = writeEnd
  }

  raise(type: AsyncEventType, about: Omit<ProviderAsyncEvent, 'type'>): void {
    this.#events.push({ type, ...about })
    native.ringPipe(this.#writeEnd)
  }

  /** An object is destroyed: events about it that nobody took are dropped, as the kernel does. */
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
    const once = (): void => {
      cancel()
      ready()
    }
    const cancel = (): void => {
      if (this.#waiters.delete(once) && keepAlive) this.#device.releaseEventLoop()
    }
    this.#waiters.add(once)
    if (keepAlive) this.#device.holdEventLoop()
    if (this.#token < 0) this.#token = this.#device.watch(this.descriptor, () => this.#readable(), undefined)
    else this.#device.rewatch(this.#token)
    return cancel
  }

  close(): void {
    if (this.#token >= 0) this.#device.unwatch(this.#token)
    native.closeDescriptor(this.descriptor)
    native.closeDescriptor(this.#writeEnd)
  }

  #readable(): void {
    for (const waiter of [...this.#waiters]) waiter()
  }
}
