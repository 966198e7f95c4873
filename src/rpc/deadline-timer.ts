import { timerDelay } from './timer-delay.ts'

/** One timer for many deadlines. It is set to the earliest; when it fires, its owner checks all deadlines. */
export class DeadlineTimer {
  /** Ends what is due at `now` (of `performance.now()`), and says when the next is: Infinity where none is left. */
  readonly #expire: (now: number) => number
  #timer: NodeJS.Timeout | undefined
  #at = Infinity

  constructor(expire: (now: number) => number) {
    this.#expire = expire
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
