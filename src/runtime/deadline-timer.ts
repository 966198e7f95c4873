import { timerDelay } from './timer-delay.ts'

/** One timer for many deadlines. It is set to the earliest; when it fires, its owner checks all deadlines. */
export class DeadlineTimer {
  /** Ends what is due at `now` (of `performance.now()`), and says when the next is: Infinity where none is left. */
  readonly #expire: (now: number) => number
  readonly #isHolding: boolean
  #timer: NodeJS.Timeout | undefined
  #at = Infinity

  /** `isHolding`: whether it keeps the event loop running. */
  constructor(expire: (now: number) => number, isHolding = true) {
    this.#expire = expire
    this.#isHolding = isHolding
  }

  /** Add a deadline at `at`. */
  due(at: number): void {
    if (at < this.#at) this.#set(at, performance.now())
  }

  #set(at: number, now: number): void {
    clearTimeout(this.#timer)
    this.#at = at
    if (at === Infinity) return
    this.#timer = setTimeout(this.#fire, timerDelay(at - now))
    if (!this.#isHolding) this.#timer.unref()
  }

  readonly #fire = (): void => {
    this.#at = Infinity
    const now = performance.now()
    const next = this.#expire(now)
    if (next < this.#at) this.#set(next, now)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#at = Infinity
  }
}
