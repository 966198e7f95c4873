import type { Comparison } from '../../../src/index-service/values/search.ts'

/** What an ordered map does, with a sorted array and no searches but from one end to the other. */
export class NaiveMap<Key, Value> {
  readonly entries: [Key, Value][] = []
  readonly #compare: Comparison<Key>

  constructor(compare: Comparison<Key>) {
    this.#compare = compare
  }

  rankOf(key: Key): number {
    const rank = this.entries.findIndex(([other]) => this.#compare(other, key) >= 0)
    return rank < 0 ? this.entries.length : rank
  }

  get(key: Key): Value | undefined {
    return this.entries.find(([other]) => this.#compare(other, key) === 0)?.[1]
  }

  set(key: Key, value: Value): boolean {
    const found = this.entries.find(([other]) => this.#compare(other, key) === 0)
    if (found === undefined) this.entries.splice(this.rankOf(key), 0, [key, value])
    else found[1] = value
    return found === undefined
  }

  delete(key: Key): boolean {
    const index = this.entries.findIndex(([other]) => this.#compare(other, key) === 0)
    if (index >= 0) this.entries.splice(index, 1)
    return index >= 0
  }

  walk({ from, isInclusive, reverse }: { from: Key; isInclusive: boolean; reverse: boolean }): [Key, Value][] {
    const sign = reverse ? -1 : 1
    const inOrder = reverse ? this.entries.toReversed() : this.entries
    return inOrder.filter(([key]) => {
      const order = this.#compare(key, from) * sign
      return order > 0 || (order === 0 && isInclusive)
    })
  }
}
