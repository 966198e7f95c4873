import type { AsyncEventType, ProviderAsyncEvent } from '../async-event.ts'

/** Tells the program that there are events. */
interface EventSignal {
  raise(): void
  take(): boolean
}

/**
 * The asynchronous events of a device that were not taken yet. Its own thread raises them: it notices what a peer
 * causes when it makes progress.
 */
export class SoftAsyncEvents {
  readonly #signal: EventSignal
  #events: ProviderAsyncEvent[] = []

  constructor(signal: EventSignal) {
    this.#signal = signal
  }

  raise(type: AsyncEventType, about: Omit<ProviderAsyncEvent, 'type'>): void {
    this.#events.push({ type, ...about })
    this.#signal.raise()
  }

  /** An object is destroyed: events about it that were not taken are dropped, as the kernel does. */
  forget(object: object): void {
    this.#events = this.#events.filter(
      (event) => event.completionQueue !== object && event.queuePair !== object && event.sharedReceiveQueue !== object,
    )
  }

  drain(take: (event: ProviderAsyncEvent) => void): number {
    this.#signal.take()
    const events = this.#events
    this.#events = []
    for (const event of events) take(event)
    return events.length
  }
}
