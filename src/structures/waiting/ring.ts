import { addAbortListener } from 'node:events'
import type { Peers } from '../peers.ts'

/** One waiter's ear: remembers a ring until it is asked for. */
export class Ring implements Disposable {
  readonly #stop: () => void
  readonly #abort: Disposable | undefined
  #rung = false
  #resolve: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(peers: Peers, signal: AbortSignal | undefined) {
    this.#stop = peers.onRing(() => this.#ring())
    this.#abort = signal === undefined ? undefined : addAbortListener(signal, () => this.#ring())
  }

  /**
   * Resolves at the next ring, at once when there was one since the last call, and after `lookMs` anyway. Keeps the
   * process alive.
   */
  async next(lookMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve
        this.#timer = setTimeout(resolve, lookMs)
      })
      clearTimeout(this.#timer)
      this.#resolve = undefined
    }
    this.#rung = false
  }

  [Symbol.dispose](): void {
    this.#stop()
    this.#abort?.[Symbol.dispose]()
  }

  #ring(): void {
    this.#rung = true
    this.#resolve?.()
  }
}
