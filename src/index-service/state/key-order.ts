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

  /** Visit keys from `from` up to before `to`, or the same backwards, until `visit` returns false. */
  range(from: string, to: string, isReverse: boolean, visit: (key: string) => boolean): void {
    const cursor = this.#keys.cursor(isReverse ? { from: to, isInclusive: false, reverse: true } : { from })
    while (cursor.next()) {
      const { key } = cursor
      if (isReverse ? key < from : key >= to) return
      if (!visit(key)) return
    }
  }
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one === other ? 0 : 1
}
