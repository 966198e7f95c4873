import { Errno, VerbsError } from './errors.ts'

/**
 * Something that is being made beside the event loop. Who has taken the result calls neither `abandon` nor `cancel` any
 * more.
 */
export interface ProviderPending<T> {
  /** Rejects with what the synchronous call throws, and with VerbsError ECANCELED after `abandon` or `cancel`. */
  readonly done: Promise<T>
  /** Nobody wants it any more: it is given back as soon as it is there. */
  abandon(): void
  /** The same, but returns only when it is gone, waiting for a call that is under way. */
  cancel(): void
}

/** What is thrown to those who wait for something that was given up. */
export function canceled(verb: string): VerbsError {
  return new VerbsError(verb, Errno.ECANCELED, 'it was given up')
}

/** Carries `make`, whose result may be given up before anybody has taken it. */
export class Pending<T extends { destroy(): void }> implements ProviderPending<T> {
  readonly done: Promise<T>
  readonly #stop: (wait: boolean) => void
  #made: T | undefined
  #isMade = false

  /** `stop` is called while there is no result; `make` rejects soon afterwards. */
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

/** Of a provider that has nothing to wait for: `make` runs when the caller has returned. */
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
