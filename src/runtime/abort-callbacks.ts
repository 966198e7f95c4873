/** What is called when a signal is aborted. */
const callbacksOf = new WeakMap<AbortSignal, Callbacks>()

class Callbacks {
  readonly #signal: AbortSignal
  readonly #all = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(callback: () => void): void {
    if (this.#all.size === 0) this.#signal.addEventListener('abort', this.#aborted, { once: true })
    this.#all.add(callback)
  }

  remove(callback: () => void): void {
    if (this.#all.delete(callback) && this.#all.size === 0) this.#signal.removeEventListener('abort', this.#aborted)
  }

  readonly #aborted = (): void => {
    for (const callback of this.#all) {
      this.#all.delete(callback)
      callback()
    }
  }
}

/**
 * Call `callback` once when the signal is aborted. Thousands of calls may wait for one signal: they count as one
 * listener, because Node.js warns of a leak from eleven on. Pass a different function for each call.
 */
export function addAbortCallback(signal: AbortSignal, callback: () => void): void {
  let callbacks = callbacksOf.get(signal)
  if (callbacks === undefined) {
    callbacks = new Callbacks(signal)
    callbacksOf.set(signal, callbacks)
  }
  callbacks.add(callback)
}

export function removeAbortCallback(signal: AbortSignal, callback: () => void): void {
  callbacksOf.get(signal)?.remove(callback)
}
