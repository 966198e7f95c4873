/** Places of those that have gone that are kept before the rest moves up. */
const GONE_MAX = 1024

/**
 * A queue, first come, first served. Taking the first costs the same however many wait: an array's own `shift` moves
 * all others.
 */
export class WaitingLine<Each extends object> {
  #places: (Each | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#places.length - this.#head
  }

  get first(): Each | undefined {
    return this.#places[this.#head]
  }

  push(each: Each): void {
    this.#places.push(each)
  }

  /** Remove and return the first. */
  shift(): void {
    this.#places[this.#head] = undefined
    this.#head += 1
    if (this.#head < GONE_MAX || this.#head * 2 < this.#places.length) return
    this.#places = this.#places.slice(this.#head)
    this.#head = 0
  }

  /** Remove one, wherever it stands. Returns whether it was the first, a later one, or absent. */
  remove(each: Each): 'first' | 'later' | 'absent' {
    const index = this.#places.indexOf(each, this.#head)
    if (index < 0) return 'absent'
    if (index === this.#head) {
      this.shift()
      return 'first'
    }
    this.#places.splice(index, 1)
    return 'later'
  }
}
