import { addAbortCallback, removeAbortCallback } from '../runtime/index.ts'
import { recordBytes } from './ring-record.ts'
import { type InLine, WaitingLine } from './waiting-line.ts'

interface Waiter extends InLine {
  readonly length: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  readonly signal: AbortSignal | undefined
  readonly onAbort: () => void
}

/** Callers that wait for room in a ring, first come, first served. */
export class RoomWaiters {
  readonly #waiters = new WaitingLine<Waiter>()
  /** Tells the one who waits longest from all who did before; never used for anything but comparison. */
  #first = 0

  get waiting(): boolean {
    return this.#waiters.length > 0
  }

  /** The length that the longest waiting caller needs; -1 if there is none. */
  get firstLength(): number {
    return this.#waiters.first?.length ?? -1
  }

  /** Changes whenever the longest waiting caller changes. */
  get first(): number {
    return this.#first
  }

  add(length: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        if (this.#waiters.first === waiter) this.#first += 1
        this.#waiters.remove(waiter)
        reject(signal?.reason)
      }
      const waiter: Waiter = { place: -1, length, resolve, reject, signal, onAbort }
      if (signal !== undefined) addAbortCallback(signal, onAbort)
      this.#waiters.push(waiter)
    })
  }

  /** Resolve those that may leave, each in addition to the ones before it: this many bytes in this many messages. */
  settle(mayLeave: (length: number, messages: number) => boolean): void {
    let ahead = 0
    let count = 0
    for (const waiter of this.#waiters) {
      if (!mayLeave(ahead + waiter.length, count + 1)) break
      ahead += recordBytes(waiter.length)
      count += 1
    }
    if (count > 0) this.#first += 1
    for (; count > 0; count -= 1) this.#take().resolve()
  }

  fail(error: unknown): void {
    while (this.waiting) this.#take().reject(error)
  }

  /** The first waits no longer. */
  #take(): Waiter {
    const waiter = this.#waiters.shift()!
    if (waiter.signal !== undefined) removeAbortCallback(waiter.signal, waiter.onAbort)
    return waiter
  }
}
