/** How many looks are remembered: at five a second, two minutes. */
export const HISTORY = 600

/** One link through time. Only changes are told: until the next, what was told goes on. */
export class LinkHistory {
  readonly from: number
  readonly to: number
  readonly #bytes = new Float32Array(HISTORY)
  readonly #latencyUs = new Float32Array(HISTORY).fill(Number.NaN)
  #look: number
  #lastBytes = 0
  #lastLatencyUs = Number.NaN

  /** `look`: the number of the last look before it was told of first. */
  constructor(from: number, to: number, look: number) {
    this.from = from
    this.to = to
    this.#look = look
  }

  set(look: number, bytes: number, latencyNs: number): void {
    this.#goOn(look - 1)
    this.#lastBytes = bytes
    this.#lastLatencyUs = latencyNs < 0 ? Number.NaN : latencyNs / 1000
    this.#goOn(look)
  }

  /** The last `count` looks until `look`, the newest last. */
  bytes(look: number, count: number): number[] {
    this.#goOn(look)
    return Array.from({ length: count }, (_, index) => this.#bytes[(look - count + 1 + index + HISTORY) % HISTORY]!)
  }

  /** The same for the time that a page takes; a null where none came. */
  latencyUs(look: number, count: number): (number | null)[] {
    this.#goOn(look)
    return Array.from({ length: count }, (_, index) => {
      const value = this.#latencyUs[(look - count + 1 + index + HISTORY) % HISTORY]!
      return Number.isNaN(value) ? null : value
    })
  }

  /** Bytes in the last five seconds: what says how busy it is. */
  recent(look: number): number {
    this.#goOn(look)
    let sum = 0
    for (let back = 0; back < 25; back++) sum += this.#bytes[(look - back + HISTORY) % HISTORY]!
    return sum
  }

  #goOn(look: number): void {
    if (look - this.#look > HISTORY) this.#look = look - HISTORY
    while (this.#look < look) {
      const at = ++this.#look % HISTORY
      this.#bytes[at] = this.#lastBytes
      this.#latencyUs[at] = this.#lastLatencyUs
    }
  }
}
