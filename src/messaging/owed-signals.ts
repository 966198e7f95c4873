import type { Signal } from './signal.ts'

/** Signals that leave as soon as there is room for them, in the order in which they became due. */
export class OwedSignals {
  readonly #transmit: (signal: Signal, argument: number) => boolean
  readonly #owed: { readonly signal: Signal; readonly argument: number }[] = []

  /** `transmit` returns false if there is no room now. */
  constructor(transmit: (signal: Signal, argument: number) => boolean) {
    this.#transmit = transmit
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
      if (!this.#transmit(first.signal, first.argument)) return
      this.#owed.shift()
    }
  }
}
