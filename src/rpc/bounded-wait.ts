import { addAbortCallback, removeAbortCallback, timerDelay } from '../runtime/index.ts'

/** When a wait ends without its result. */
export interface WaitBounds {
  /** A time of `performance.now()`. */
  readonly deadline: number
  /** When it aborts, the wait rejects with its reason. */
  readonly signal: AbortSignal | undefined
  /** The error when the time is up. */
  readonly late: () => unknown
  /** Called once, before the promise settles in any way. */
  readonly ended: () => void
}

/**
 * A wait for something that another part of the program provides: until it is there, the time is up, or the signal is
 * aborted.
 */
export class BoundedWait<T> {
  readonly promise: Promise<T>
  #resolve!: (value: T) => void
  #reject!: (error: unknown) => void
  readonly #bounds: WaitBounds
  readonly #timer: NodeJS.Timeout | undefined
  #isOver = false

  /** Throws the signal's reason if it was aborted before. */
  constructor(bounds: WaitBounds) {
    const { deadline, signal, late } = bounds
    signal?.throwIfAborted()
    this.#bounds = bounds
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    if (deadline !== Infinity)
      this.#timer = setTimeout(() => this.reject(late()), timerDelay(deadline - performance.now()))
    if (signal) addAbortCallback(signal, this.#aborted)
  }

  resolve(value: T): void {
    this.#end()
    this.#resolve(value)
  }

  reject(error: unknown): void {
    this.#end()
    this.#reject(error)
  }

  readonly #aborted = (): void => this.reject(this.#bounds.signal?.reason)

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { signal, ended } = this.#bounds
    clearTimeout(this.#timer)
    if (signal) removeAbortCallback(signal, this.#aborted)
    ended()
  }
}
