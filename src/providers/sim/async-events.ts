import type { AsyncEventType, ProviderAsyncEvent } from '../async-event.ts'
import { Signal } from './signal.ts'

/** The asynchronous events of a device that were not taken yet. */
export class SimAsyncEvents {
  readonly signal: Signal = new Signal()
  #events: ProviderAsyncEvent[] = []

  raise(type: AsyncEventType, about: Omit<ProviderAsyncEvent, 'type'>): void {
    this.#events.push({ type, ...about })
    this.signal.raise()
  }

  /** An object is destroyed: events about it that were not taken are dropped, as the kernel does. */
  forget(object: object): void {
    this.#events = this.#events.filter(
      (event) => event.completionQueue !== object && event.queuePair !== object && event.sharedReceiveQueue !== object,
    )
  }

  drain(take: (event: ProviderAsyncEvent) => void): number {
    this.signal.take()
    const events = this.#events
    this.#events = []
    for (const event of events) take(event)
    return events.length
  }
}
