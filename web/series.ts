/** How many looks are remembered: at five a second, two minutes. */
export const HISTORY = 600

/** A figure through time. Only changes are told: until the next, what was told goes on. NaN where there is nothing. */
export class Series {
  readonly #values = new Float32Array(HISTORY)
  #look: number
  #last: number

  /** `look`: the number of the last look before it was told of first; `before`: what it was until then. */
  constructor(look: number, before: number) {
    this.#look = look
    this.#last = before
    this.#values.fill(before)
  }

  set(look: number, value: number): void {
    this.#goOn(look - 1)
    this.#last = value
    this.#goOn(look)
    // Of several that are told at the same look the last counts.
    this.#values[look % HISTORY] = value
  }

  /** The last `count` looks until `look`, the newest last; a null where there is nothing. */
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
