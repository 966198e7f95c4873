/** One for all: to make and to clear one costs more than most of what is awaited. */
let timer: NodeJS.Timeout | undefined
let holders = 0

function hold(): void {
  holders += 1
  if (holders > 1) return
  timer ??= setInterval(() => {}, 2 ** 30)
  timer.ref()
}

function release(): void {
  holders -= 1
  if (holders === 0) timer!.unref()
}

/**
 * Keeps the event loop alive while something is awaited that libuv does not know of (Atomics.waitAsync, an unref'd
 * worker). Without it a program that awaits nothing else would end with code 13.
 */
export class KeepAlive {
  #held = 0

  hold(): void {
    if (this.#held++ === 0) hold()
  }

  release(): void {
    if (--this.#held === 0) release()
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
