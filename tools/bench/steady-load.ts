import { setTimeout as sleep } from 'node:timers/promises'
import { native } from 'aether-dsm/internal/native'

/** Some lanes that ask without a pause, and when they were answered. */
export class SteadyLoad implements AsyncDisposable {
  #times: number[] = []
  #isOver = false
  readonly #lanes: Promise<unknown>

  constructor(lanes: number, ask: () => Promise<unknown>) {
    const lane = async (): Promise<void> => {
      while (!this.#isOver) {
        await ask()
        this.#times.push(native.monotonicNs())
      }
    }
    this.#lanes = Promise.all(Array.from({ length: lanes }, lane))
    // It is seen when it is waited for.
    this.#lanes.catch(() => {})
  }

  /** All but the last. */
  forget(): void {
    this.#times = this.#times.slice(-1)
  }

  /** Wait until `count` more have come. */
  async answers(count: number): Promise<void> {
    const wanted = this.#times.length + count
    while (this.#times.length < wanted) await Promise.race([sleep(1), this.#lanes])
  }

  longestGap(): { readonly beginNs: number; readonly endNs: number } {
    let [beginNs, endNs] = [this.#times[0]!, this.#times[0]!]
    this.#times.forEach((atNs, index) => {
      const before = this.#times[index - 1] ?? atNs
      if (atNs - before > endNs - beginNs) [beginNs, endNs] = [before, atNs]
    })
    return { beginNs, endNs }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#lanes.catch(() => {})
  }
}
