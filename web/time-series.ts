/** How many looks are kept: two minutes, at five looks per second. */
export const HISTORY = 600

/** The history of a figure. Only changes are sent: a value holds until the next one. NaN stands for no value. */
export class TimeSeries {
  readonly #values = new Float32Array(HISTORY)
  #look: number
  #last: number

  /** `look` is the number of the last look before the first value, `before` the value until then. */
  constructor(look: number, before: number) {
    this.#look = look
    this.#last = before
    this.#values.fill(before)
  }

  set(look: number, value: number): void {
    this.#goOn(look - 1)
    this.#last = value
    this.#goOn(look)
    // Of several values at one look, the last one counts.
    this.#values[look % HISTORY] = value
  }

  /** The values of the last `count` looks until `look`, the newest last; null if there is none. */
  values(look: number, count: number): (number | null)[] {
    this.#goOn(look)
    return Array.from({ length: count }, (_, index) => {
      const value = this.#values[(look - count + 1 + index + HISTORY) % HISTORY]!
      return Number.isNaN(value) ? null : value
    })
  }

  /** The sum of the last `count` looks. */
  sum(look: number, count: number): number {
    this.#goOn(look)
    let sum = 0
    for (let back = 0; back < count; back += 1) sum += this.#values[(look - back + HISTORY) % HISTORY]!
    return sum
  }

  #goOn(look: number): void {
    if (look - this.#look > HISTORY) this.#look = look - HISTORY
    while (this.#look < look) this.#values[++this.#look % HISTORY] = this.#last
  }
}
