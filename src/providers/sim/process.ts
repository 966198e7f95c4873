import { mustBe } from '../../native/index.ts'
import type { Kernel } from './kernel.ts'

/** The longest time until a step takes effect; the least is 50 ns. */
const STEP_NS_MAX = 300
const STEP_NS_MIN = 50

/** What a program runs on. */
interface Processor {
  readonly kernel: Kernel
  readonly alive: boolean
  readonly paused: boolean
  changes: number
}

/**
 * A program on a host's processor. `step` runs some time after a wake-up, never while the host is paused, and never
 * after its end. A wake-up while one is pending has no further effect. Everything that a step does happens at one
 * moment.
 */
export class Process {
  readonly #host: Processor
  readonly #step: () => void
  #awaitedNs = Number.POSITIVE_INFINITY
  #missed = false

  constructor(host: Processor, step: () => void) {
    this.#host = host
    this.#step = step
  }

  /** Run soon. */
  wake(): void {
    const { kernel } = this.#host
    this.wakeAt(kernel.nowNs + kernel.stream('cpu').between(STEP_NS_MIN, STEP_NS_MAX))
  }

  /** Run at that time, unless it runs earlier; then `wakeAt` must be called again for a later time. */
  wakeAt(atNs: number): void {
    if (typeof atNs !== 'number' || Number.isNaN(atNs)) throw mustBe('atNs', 'a number of nanoseconds', atNs)
    const { kernel } = this.#host
    if (atNs >= this.#awaitedNs || !Number.isFinite(atNs)) return
    this.#awaitedNs = Math.max(atNs, kernel.nowNs)
    const awaited = this.#awaitedNs
    kernel.at(awaited, () => {
      if (awaited === this.#awaitedNs) this.#run()
    })
  }

  /** The processor runs again. */
  resumed(): void {
    if (!this.#missed) return
    this.#missed = false
    this.wake()
  }

  #run(): void {
    this.#awaitedNs = Number.POSITIVE_INFINITY
    if (!this.#host.alive) return
    if (this.#host.paused) this.#missed = true
    else {
      this.#host.changes += 1
      this.#step()
    }
  }
}
