import { ProtocolViolation } from './errors.ts'

/** Receives of the peer that this end may use, one for each WRITE that announces messages. */
export class SendCredit {
  /** As many as the peer said when it connected that there can be. */
  readonly #max: number
  #available: number

  constructor(available: number, max: number) {
    this.#available = available
    this.#max = max
  }

  get isEmpty(): boolean {
    return this.#available === 0
  }

  use(): void {
    this.#available -= 1
  }

  add(count: number): void {
    if (this.#available + count > this.#max)
      throw new ProtocolViolation(
        `the peer granted ${this.#available + count} receives, but it has announced ${this.#max}`,
      )
    this.#available += count
  }

  /** Give up those beyond `keep`. Returns how many. */
  giveBack(keep: number): number {
    const count = Math.max(0, this.#available - keep)
    this.#available -= count
    return count
  }
}
