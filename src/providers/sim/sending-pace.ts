const NS_PER_SECOND = 1e9

/** When packets may leave to keep within a number of bytes per second: each waits until those before it are paid. */
export class SendingPace {
  readonly bytesPerSecond: number
  #paidNs = 0

  constructor(bytesPerSecond: number) {
    this.bytesPerSecond = bytesPerSecond
  }

  /** When the next packet may leave. */
  get nextNs(): number {
    return this.#paidNs
  }

  left(nowNs: number, bytes: number): void {
    this.#paidNs = Math.max(nowNs, this.#paidNs) + (bytes * NS_PER_SECOND) / this.bytesPerSecond
  }
}
