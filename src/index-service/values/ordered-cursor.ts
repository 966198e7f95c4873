import type { TreeLeaf } from './tree-leaf.ts'

/** Between two entries: `index` entries of the leaf are before it. */
export interface Gap<Key, Value> {
  readonly leaf: TreeLeaf<Key, Value>
  readonly index: number
}

/** What a cursor walks on. */
interface Walkable<Key, Value> {
  /** Changes whenever a key is inserted or deleted. */
  readonly version: number
  gapAt(key: Key, isAfter: boolean): Gap<Key, Value>
  gapAtEnd(isLast: boolean): Gap<Key, Value>
}

/** Where a walk begins, and which way it goes. */
export interface WalkOptions<Key> {
  /** The key to begin at, whether the map has it or not. Default: the first key, or the last if `reverse`. */
  readonly from?: Key | undefined
  /** False to leave out the entry of `from` itself. Default: true. */
  readonly isInclusive?: boolean | undefined
  /** True to go from larger keys to smaller ones. Default: false. */
  readonly reverse?: boolean | undefined
}

/**
 * Goes from entry to entry of an `OrderedMap`, without an object for each.
 *
 * The map may change meanwhile. The cursor goes on behind the last key that it gave, whether that is still there or
 * not. So it gives each key at most once, and each that is there all the time exactly once. At the end, `next()`
 * returns false until there are further keys.
 */
export class OrderedCursor<Key, Value> {
  readonly #map: Walkable<Key, Value>
  readonly #isReverse: boolean
  readonly #seekFirst: () => Gap<Key, Value>
  #leaf: TreeLeaf<Key, Value>
  #index: number
  #version: number
  #hasGiven = false
  #key: Key | undefined
  #value: Value | undefined

  constructor(map: Walkable<Key, Value>, { from, isInclusive = true, reverse = false }: WalkOptions<Key>) {
    this.#map = map
    this.#isReverse = reverse
    this.#seekFirst = () => (from === undefined ? map.gapAtEnd(reverse) : map.gapAt(from, isInclusive === reverse))
    const { leaf, index } = this.#seekFirst()
    this.#leaf = leaf
    this.#index = index
    this.#version = map.version
  }

  /** The key of the entry that `next()` went to. */
  get key(): Key {
    return this.#key as Key
  }

  /** The value that it had then. */
  get value(): Value {
    return this.#value as Value
  }

  /** Go to the next entry. False if there is no other. */
  next(): boolean {
    if (this.#version !== this.#map.version) this.#seek()
    return this.#isReverse ? this.#back() : this.#forth()
  }

  #forth(): boolean {
    if (this.#index === this.#leaf.keys.length) {
      if (this.#leaf.next === undefined) return false
      this.#leaf = this.#leaf.next
      this.#index = 0
    }
    this.#give(this.#index)
    this.#index += 1
    return true
  }

  #back(): boolean {
    if (this.#index === 0) {
      if (this.#leaf.previous === undefined) return false
      this.#leaf = this.#leaf.previous
      this.#index = this.#leaf.keys.length
    }
    this.#index -= 1
    this.#give(this.#index)
    return true
  }

  #give(index: number): void {
    this.#key = this.#leaf.keys[index]
    this.#value = this.#leaf.values[index]
    this.#hasGiven = true
  }

  #seek(): void {
    const { leaf, index } = this.#hasGiven ? this.#map.gapAt(this.key, !this.#isReverse) : this.#seekFirst()
    this.#leaf = leaf
    this.#index = index
    this.#version = this.#map.version
  }
}
