/**
 * Keeps the event loop alive while something is awaited that libuv does not know of (Atomics.waitAsync, an unref'd
 * worker). Without it a program that awaits nothing else would end with code 13.
 *
 * To make a timer also brings the clock of the event loop up to date, from which `Atomics.waitAsync` counts its time. A
 * program that was busy for seconds would otherwise be told at once that its time is over.
 */
export class KeepAlive {
  #held = 0
  #timer: NodeJS.Timeout | undefined

  hold(): void {
    if (this.#held++ === 0) this.#timer = setInterval(() => {}, 2 ** 30)
  }

  release(): void {
    if (--this.#held > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Hold while `promise` is unsettled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    this.hold()
    try {
      return await promise
    } finally {
      this.release()
    }
  }
}
