import type { GracePeriodState, GracePeriods } from './grace-periods.ts'

interface Callback {
  readonly state: GracePeriodState
  readonly run: () => void
  /** The structures were closed before. */
  readonly abandon: (error: unknown) => void
}

/** What this process does when grace periods are over, in order. */
export class Callbacks {
  readonly #periods: GracePeriods
  #waiting: Callback[] = []
  #working = false

  constructor(periods: GracePeriods) {
    this.#periods = periods
  }

  add(run: () => void, abandon: (error: unknown) => void = () => {}): void {
    this.#waiting.push({ state: this.#periods.state(), run, abandon })
    if (!this.#working) void this.#work()
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
        // It has nobody who could catch it; the others are run all the same.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}
