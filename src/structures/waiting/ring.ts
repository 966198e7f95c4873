import { addAbortListener } from 'node:events'
import type { Peers } from '../peers.ts'

/** One waiter's ear, for one wait after another: remembers a ring until it is forgotten. */
export class Ring implements Disposable {
  readonly #stop: () => void
  readonly #abort: Disposable | undefined
  readonly #wake = (): void => {
    this.#rung = true
    this.#resolve?.()
  }
  #rung = false
  #resolve: (() => void) | undefined
  /** Runs on after a ring: to start it again takes less time than to make another. */
  #timer: NodeJS.Timeout | undefined
  #timerMs = 0

  constructor(peers: Peers, signal: AbortSignal | undefined) {
    this.#stop = peers.onRing(this.#wake)
    this.#abort = signal === undefined ? undefined : addAbortListener(signal, this.#wake)
  }

  /** It rang, or the signal was aborted, since it was last forgotten. */
  get rung(): boolean {
    return this.#rung
  }

  /** What rang until now is known. */
  forget(): void {
    this.#rung = false
  }

  /**
   * Resolves at the next ring, at once when there was one since it was last forgotten, and after `lookMs` anyway. Keeps
   * the process alive.
   */
  next(lookMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#rung) {
        resolve()
        return
      }
      this.#resolve = resolve
      this.#look(lookMs)
    })
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#stop()
    this.#abort?.[Symbol.dispose]()
  }

  #look(lookMs: number): void {
    if (this.#timer !== undefined && lookMs === this.#timerMs) {
      this.#timer.refresh()
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#resolve?.(), lookMs)
    this.#timerMs = lookMs
  }
}
