import { addAbortListener } from 'node:events'
import type { WaitOptions } from '../waiting/wait-options.ts'

/** Grace periods, as callbacks need them; a state is a moment. */
export interface Periods<State> {
  state(): State
  wait(state: State): Promise<void>
  /** Whether one that began after that moment is known to be over. */
  hasPassed(state: State, ask: false): boolean
}

interface Callback<State> {
  readonly state: State
  readonly run: () => void
  /** The structures were closed before. */
  readonly abandon: (error: unknown) => void
}

/** What this process does when grace periods are over, in order. */
export class Callbacks<State> {
  readonly #periods: Periods<State>
  #waiting: Callback<State>[] = []
  #working = false

  constructor(periods: Periods<State>) {
    this.#periods = periods
  }

  add(run: () => void, abandon: (error: unknown) => void = () => {}): void {
    this.#waiting.push({ state: this.#periods.state(), run, abandon })
    if (!this.#working) void this.#work()
  }

  /** Resolves when all that were added before have run. */
  async barrier({ signal }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const abort = signal && addAbortListener(signal, () => reject(signal.reason))
      const settle = (end: () => void) => {
        abort?.[Symbol.dispose]()
        end()
      }
      this.add(
        () => settle(resolve),
        (error) => settle(() => reject(error)),
      )
    })
  }

  async #work(): Promise<void> {
    this.#working = true
    try {
      for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
        await this.#periods.wait(first.state)
        this.#runThose()
      }
    } catch (error) {
      for (const { abandon } of this.#waiting.splice(0)) abandon(error)
    } finally {
      this.#working = false
    }
  }

  #runThose(): void {
    const ready = this.#waiting.findIndex(({ state }) => !this.#periods.hasPassed(state, false))
    for (const { run } of this.#waiting.splice(0, ready < 0 ? this.#waiting.length : ready)) {
      try {
        run()
      } catch (error) {
        // The error has no caller that could catch it; the other callbacks run all the same.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}
