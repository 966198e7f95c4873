import type { Host } from './host.ts'

/** How long a step takes until it has an effect, at most; the least is 50 ns. */
const STEP_NS_MAX = 300
const STEP_NS_MIN = 50

/**
 * A program on a host's processor: `step` runs some time after it was woken, never while the host is paused, never
 * after its end. A wake-up that finds one under way is the same. Everything that a step does happens at one moment.
 */
export class Process {
  readonly #host: Host
  readonly #step: () => void
  #awaitedNs = Number.POSITIVE_INFINITY
  #missed = false

  constructor(host: Host, step: () => void) {
    this.#host = host
    this.#step = step
  }

  /** Run soon. */
  wake(): void {
    const { kernel } = this.#host
    this.wakeAt(kernel.nowNs + kernel.stream('cpu').between(STEP_NS_MIN, STEP_NS_MAX))
  }

  /** Run at that time, unless it runs earlier: who wants to be woken again then says so again. */
  wakeAt(atNs: number): void {
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
    else this.#step()
  }
}
