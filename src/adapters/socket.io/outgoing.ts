import { HeapFullError, type SharedLog } from '../../structures/index.ts'

/** What one process may have in the log before it has read it itself: a part of the log's bounds. */
const WINDOW_PART = 4

/** The bounds of the log. */
export interface LogBoundsOptions {
  readonly capacity: number
  readonly capacityBytes: number
}

interface Held {
  readonly bytes: Uint8Array
  readonly failed: (error: unknown) => void
}

/**
 * What this process appends to the log. A burst must not push out messages that others had no time to read. So this
 * process, which reads the log as the others do, appends only a window ahead of what it has read; the rest waits here.
 */
export class Outgoing {
  readonly #log: SharedLog<Uint8Array>
  readonly #bounds: LogBoundsOptions
  #held: Held[] = []
  /** The index of the last message of ours. */
  #last = -1
  /** Sent since the window was opened. */
  #sent = 0
  #sentBytes = 0

  constructor(log: SharedLog<Uint8Array>, bounds: LogBoundsOptions) {
    this.#log = log
    this.#bounds = bounds
  }

  /** `failed` is called, now or later, if the message cannot be appended. */
  send(bytes: Uint8Array, failed: (error: unknown) => void): void {
    if (this.#held.length > 0 || this.#isWindowFull()) this.#held.push({ bytes, failed })
    else this.#append({ bytes, failed })
  }

  /** This process has read the log up to `position`. */
  reached(position: number): void {
    if (position <= this.#last) return
    this.#openWindow()
    if (this.#held.length === 0) return
    let count = 0
    while (count < this.#held.length && !this.#isWindowFull()) this.#append(this.#held[count++]!)
    this.#held = this.#held.slice(count)
  }

  /** Append all that is left, without a window. */
  flush(): void {
    const held = this.#held
    this.#held = []
    for (const each of held) this.#append(each)
  }

  #openWindow(): void {
    this.#sent = 0
    this.#sentBytes = 0
  }

  #isWindowFull(): boolean {
    const { capacity, capacityBytes } = this.#bounds
    return this.#sent >= capacity / WINDOW_PART || this.#sentBytes >= capacityBytes / WINDOW_PART
  }

  #append({ bytes, failed }: Held): void {
    try {
      this.#last = this.#appendSomehow(bytes)
    } catch (error) {
      failed(error)
      return
    }
    this.#sent += 1
    this.#sentBytes += bytes.length
  }

  /** If memory runs out, the oldest messages make room. */
  #appendSomehow(bytes: Uint8Array): number {
    for (;;) {
      try {
        return this.#log.appendSync(bytes)
      } catch (error) {
        if (!(error instanceof HeapFullError && this.#dropSome() > 0)) throw error
      }
    }
  }

  #dropSome(): number {
    const { first, end } = this.#log.boundsSync()
    return this.#log.trimSync(first + Math.ceil((end - first) / 8))
  }
}
