import { Errno, VerbsError } from './errors.ts'

/**
 * An object that is being made off the event loop. A caller that has taken the result no longer calls `abandon` or
 * `cancel`.
 */
export interface ProviderPending<T> {
  /** Rejects with what the synchronous call throws, and with VerbsError ECANCELED after `abandon` or `cancel`. */
  readonly done: Promise<T>
  /** The result is not wanted any more: it is destroyed as soon as it exists. */
  abandon(): void
  /** The same, but returns only when the result is gone, and waits for a call that is under way. */
  cancel(): void
}

/** The error for those who wait for a result that was given up. */
export function canceled(verb: string): VerbsError {
  return new VerbsError(verb, Errno.ECANCELED, 'it was canceled')
}

/** Carries `make`, whose result may be given up before it has been taken. */
export class Pending<T extends { destroy(): void }> implements ProviderPending<T> {
  readonly done: Promise<T>
  readonly #stop: (wait: boolean) => void
  #made: T | undefined
  #isMade = false

  /** `stop` is called if there is no result yet; `make` then rejects soon. */
  constructor(make: Promise<T>, stop: (wait: boolean) => void) {
    this.#stop = stop
    this.done = make.then((made) => {
      this.#isMade = true
      this.#made = made
      return made
    })
  }

  abandon(): void {
    this.#giveUp(false)
  }

  cancel(): void {
    this.#giveUp(true)
  }

  #giveUp(wait: boolean): void {
    if (!this.#isMade) {
      this.#stop(wait)
      return
    }
    const made = this.#made
    this.#made = undefined
    made?.destroy()
  }
}

/** For a provider that has nothing to wait for: `make` runs after the caller has returned. */
export function makeSoon<T extends { destroy(): void }>(verb: string, make: () => T): Pending<T> {
  let isStopped = false
  const made = Promise.resolve().then(() => {
    if (isStopped) throw canceled(verb)
    return make()
  })
  return new Pending(made, () => {
    isStopped = true
  })
}
