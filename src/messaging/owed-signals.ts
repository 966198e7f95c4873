import type { RingCarrier } from './ring-carrier.ts'
import type { Signal } from './signal.ts'

/** Signals that leave as soon as there is room for them, in the order in which they became due. */
export class OwedSignals {
  readonly #carrier: RingCarrier
  readonly #owed: { readonly signal: Signal; readonly argument: number }[] = []

  constructor(carrier: RingCarrier) {
    this.#carrier = carrier
  }

  has(signal: Signal): boolean {
    return this.#owed.some((each) => each.signal === signal)
  }

  get isEmpty(): boolean {
    return this.#owed.length === 0
  }

  add(signal: Signal, argument: number): void {
    this.#owed.push({ signal, argument })
  }

  pay(): void {
    if (this.isEmpty) return
    for (let first = this.#owed[0]; first !== undefined; first = this.#owed[0]) {
      if (!this.#carrier.transmitSignal(first.signal, first.argument)) return
      this.#owed.shift()
    }
  }
}
