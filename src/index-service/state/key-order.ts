import { OrderedMap } from '../values/ordered-map.ts'

/** An entry of the map, the string of the key. */
const KEY_BYTES = 52

/** Keys that are encoded tuples begin with this byte. The tuple follows. */
const TUPLE = 0

/** The keys of a shard that are encoded tuples, in the order of their bytes. */
export class KeyOrder {
  #keys = new OrderedMap<string, true>(compareText)
  #characters = 0

  static holds(key: Uint8Array): boolean {
    return key[0] === TUPLE
  }

  /** What one takes. */
  static bytesOf(key: Uint8Array): number {
    return KEY_BYTES + key.length
  }

  get usedBytes(): number {
    return this.#keys.size * KEY_BYTES + this.#characters
  }

  add(key: string): void {
    if (this.#keys.set(key, true)) this.#characters += key.length
  }

  remove(key: string): void {
    if (this.#keys.delete(key)) this.#characters -= key.length
  }

  clear(): void {
    this.#keys = new OrderedMap(compareText)
    this.#characters = 0
  }

  /** Keys from `from` up to before `to`, or the same backwards. */
  *range(from: string, to: string, isReverse: boolean): Generator<string> {
    const start = this.#keys.rankOf(from)
    const end = this.#keys.rankOf(to)
    for (let step = 0; step < end - start; step += 1) yield this.#keys.at(isReverse ? end - 1 - step : start + step)![0]
  }
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one === other ? 0 : 1
}
