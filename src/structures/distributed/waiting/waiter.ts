import { addAbortListener } from 'node:events'
import type { GroupMemory } from '../memory/group-memory.ts'

/** One call that waits: it sleeps, and remembers that it was stirred until that is asked for. */
export class Waiter implements Disposable {
  readonly #group: GroupMemory
  readonly #signal: AbortSignal | undefined
  readonly #abort: Disposable | undefined
  #stirred = false
  #sleeping: AbortController | undefined

  constructor(group: GroupMemory, signal: AbortSignal | undefined) {
    this.#group = group
    this.#signal = signal
    this.#abort = signal === undefined ? undefined : addAbortListener(signal, () => this.#sleeping?.abort())
  }

  get isStirred(): boolean {
    return this.#stirred
  }

  /** There is reason to look. */
  stir(): void {
    this.#stirred = true
    this.#sleeping?.abort()
  }

  /** Whether it was stirred since the last call. */
  takeStir(): boolean {
    const stirred = this.#stirred
    this.#stirred = false
    return stirred
  }

  /**
   * Sleep for `ms` milliseconds, or until it is stirred, its signal is aborted, or a rank has ended. Returns at once if
   * it was stirred or aborted already. Keeps the process alive.
   */
  async sleep(ms: number): Promise<void> {
    if (this.#stirred || this.#signal?.aborted === true) return
    this.#sleeping = new AbortController()
    await this.#group.sleep(ms, this.#sleeping.signal)
    this.#sleeping = undefined
  }

  [Symbol.dispose](): void {
    this.#abort?.[Symbol.dispose]()
  }
}
