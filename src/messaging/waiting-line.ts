/** Up to this many places, those that have gone are kept. */
const PLACES_MIN = 32

/** What may stand in one line at a time. */
export interface InLine {
  /** Its place, which the line keeps; -1: it stands in none. */
  place: number
}

/**
 * A queue, first come, first served. Joining it, and leaving it from any place, costs the same however many wait. The
 * line keeps nothing of one that has left.
 */
export class WaitingLine<Each extends InLine> {
  /** The number of those that wait. */
  length = 0
  #places: (Each | undefined)[] = []
  /** The place of the first, or behind all. */
  #head = 0

  get first(): Each | undefined {
    return this.#places[this.#head]
  }

  push(each: Each): void {
    each.place = this.#places.length
    this.#places.push(each)
    this.length += 1
  }

  /** Remove and return the first. */
  shift(): Each | undefined {
    const { first } = this
    if (first !== undefined) this.remove(first)
    return first
  }

  /** Remove one, wherever it stands. Returns false if it stands in no line. */
  remove(each: Each): boolean {
    const places = this.#places
    if (each.place < 0) return false
    places[each.place] = undefined
    each.place = -1
    this.length -= 1
    while (this.#head < places.length && places[this.#head] === undefined) this.#head += 1
    // Costs a look at each place once in as many steps as there are places.
    if (places.length > PLACES_MIN && places.length > 2 * this.length) this.#closeUp()
    return true
  }

  #closeUp(): void {
    const left = [...this]
    this.#places = []
    this.#head = 0
    this.length = 0
    for (const each of left) this.push(each)
  }

  *[Symbol.iterator](): IterableIterator<Each> {
    for (let place = this.#head; place < this.#places.length; place += 1) {
      const each = this.#places[place]
      if (each !== undefined) yield each
    }
  }
}
