import { setImmediate } from 'node:timers/promises'
import { native } from '../native/index.ts'

/** How long this thread's other work waits at a time. */
const TURN_NS = 5e6

/** Gives way to the event loop again and again. */
export class Pacer {
  readonly signal: AbortSignal | undefined
  #sinceNs: number = native.monotonicNs()

  constructor(signal?: AbortSignal) {
    this.signal = signal
  }

  /** Whether it is time for {@link pause}: asked before, so that a step in between costs no promise. */
  get isDue(): boolean {
    return native.monotonicNs() - this.#sinceNs > TURN_NS
  }

  /** A pause if it is due. */
  readonly step = (): Promise<void> | undefined => (this.isDue ? this.pause() : undefined)

  /** @throws the reason of the signal. */
  async pause(): Promise<void> {
    this.signal?.throwIfAborted()
    await setImmediate()
    this.#sinceNs = native.monotonicNs()
  }
}
