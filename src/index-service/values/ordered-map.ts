import { type Gap, OrderedCursor, type WalkOptions } from './ordered-cursor.ts'
import { type Comparison, countBefore, countUpTo } from './search.ts'
import { TreeBranch, type TreeNode } from './tree-branch.ts'
import { TreeLeaf } from './tree-leaf.ts'

/**
 * A map in the order of its keys, which also knows the rank of each: a B+-tree with counts.
 *
 * `compare` must be an order, and the order of two keys must never change. Each operation but `clear` and `cursor`
 * compares before it changes anything: if `compare` throws, the map is as it was. Keys are not copied, so do not change
 * their bytes. A key cannot be undefined.
 *
 * The same operations give the same tree. Each leaf has 24 to 64 entries, but the last may have fewer. Keys that come
 * in ascending order fill leaves.
 */
export class OrderedMap<Key, Value> {
  readonly #compare: Comparison<Key>
  #root: TreeNode<Key, Value> = new TreeLeaf()
  #size = 0
  #version = 0
  /** How the last descent came to its leaf: branches from the root on, and which child of each it took. */
  readonly #branches: TreeBranch<Key, Value>[] = []
  readonly #turns: number[] = []

  constructor(compare: Comparison<Key>) {
    this.#compare = compare
  }

  /** How many entries it has. */
  get size(): number {
    return this.#size
  }

  /** @internal Changes whenever a key is inserted or deleted. */
  get version(): number {
    return this.#version
  }

  /** Return the value of a key. */
  get(key: Key): Value | undefined {
    const leaf = this.#leafOf(key)
    const index = countBefore(leaf.keys, key, this.#compare)
    return this.#isAt(leaf, index, key) ? leaf.values[index] : undefined
  }

  /** Return true if it has the key. */
  has(key: Key): boolean {
    const leaf = this.#leafOf(key)
    return this.#isAt(leaf, countBefore(leaf.keys, key, this.#compare), key)
  }

  /** Set the value of a key. Returns true if the key is new. If it is not, the map keeps the key that it has. */
  set(key: Key, value: Value): boolean {
    const leaf = this.#descend(key)
    const index = countBefore(leaf.keys, key, this.#compare)
    if (this.#isAt(leaf, index, key)) {
      leaf.values[index] = value
      return false
    }
    leaf.insert(index, key, value)
    this.#count(1)
    if (leaf.isOverfull) this.#split(leaf, leaf.next === undefined && index === leaf.keys.length - 1)
    return true
  }

  /** Delete a key. Returns true if the map had it. */
  delete(key: Key): boolean {
    const leaf = this.#descend(key)
    const index = countBefore(leaf.keys, key, this.#compare)
    if (!this.#isAt(leaf, index, key)) return false
    leaf.remove(index)
    this.#count(-1)
    if (leaf.isMeagre) this.#mend()
    return true
  }

  clear(): void {
    this.#root = new TreeLeaf()
    this.#size = 0
    this.#version += 1
    this.#branches.length = 0
    this.#turns.length = 0
  }

  /** Return the entry with the lowest key. */
  first(): [Key, Value] | undefined {
    return this.at(0)
  }

  /** Return the entry with the highest key. */
  last(): [Key, Value] | undefined {
    return this.at(this.#size - 1)
  }

  /** Return the entry that has `rank` entries before it. */
  at(rank: number): [Key, Value] | undefined {
    if (!(rank >= 0 && rank < this.#size)) return undefined
    let node = this.#root
    let index = rank
    while (!node.isLeaf) {
      let turn = 0
      for (let count = node.counts[0]!; index >= count; count = node.counts[turn]!) {
        index -= count
        turn += 1
      }
      node = node.children[turn]!
    }
    return [node.keys[index]!, node.values[index]!]
  }

  /** Return how many keys come before `key`, whether the map has it or not. */
  rankOf(key: Key): number {
    let node = this.#root
    let rank = 0
    while (!node.isLeaf) {
      const turn = countUpTo(node.bounds, key, this.#compare)
      for (let index = 0; index < turn; index += 1) rank += node.counts[index]!
      node = node.children[turn]!
    }
    return rank + countBefore(node.keys, key, this.#compare)
  }

  /** Return a cursor before the first entry of a walk. */
  cursor(options: WalkOptions<Key> = {}): OrderedCursor<Key, Value> {
    return new OrderedCursor(this, options)
  }

  /** Iterate over entries, one at a time: the map may change meanwhile, as with a cursor. */
  *entries(options: WalkOptions<Key> = {}): Generator<[Key, Value], void, void> {
    const cursor = this.cursor(options)
    while (cursor.next()) yield [cursor.key, cursor.value]
  }

  [Symbol.iterator](): Generator<[Key, Value], void, void> {
    return this.entries()
  }

  /** @internal The gap before the place of `key`, or after it. */
  gapAt(key: Key, isAfter: boolean): Gap<Key, Value> {
    const leaf = this.#leafOf(key)
    const count = isAfter ? countUpTo : countBefore
    return { leaf, index: count(leaf.keys, key, this.#compare) }
  }

  /** @internal The gap before the first entry, or after the last. */
  gapAtEnd(isLast: boolean): Gap<Key, Value> {
    let node = this.#root
    while (!node.isLeaf) node = node.children[isLast ? node.children.length - 1 : 0]!
    return { leaf: node, index: isLast ? node.keys.length : 0 }
  }

  #isAt(leaf: TreeLeaf<Key, Value>, index: number, key: Key): boolean {
    return index < leaf.keys.length && this.#compare(leaf.keys[index]!, key) === 0
  }

  /** The leaf that has the key, if any has. */
  #leafOf(key: Key): TreeLeaf<Key, Value> {
    let node = this.#root
    while (!node.isLeaf) node = node.children[countUpTo(node.bounds, key, this.#compare)]!
    return node
  }

  /** The same, and remember the way. */
  #descend(key: Key): TreeLeaf<Key, Value> {
    let node = this.#root
    let level = 0
    for (; !node.isLeaf; level += 1) {
      const turn = countUpTo(node.bounds, key, this.#compare)
      this.#branches[level] = node
      this.#turns[level] = turn
      node = node.children[turn]!
    }
    this.#branches.length = level
    this.#turns.length = level
    return node
  }

  /** An entry came to the leaf of the last descent, or went. */
  #count(change: 1 | -1): void {
    for (let level = 0; level < this.#branches.length; level += 1)
      this.#branches[level]!.counts[this.#turns[level]!]! += change
    this.#size += change
    this.#version += 1
  }

  /** Split a leaf, and each branch that has too many children then. */
  #split(leaf: TreeLeaf<Key, Value>, isAppended: boolean): void {
    let node: TreeNode<Key, Value> = leaf
    for (let level = this.#branches.length - 1; node.isOverfull; level -= 1) {
      // Further keys will come at the end, too: what lies before it stays full. A branch has two children or more.
      const split = node.split(isAppended ? node.width - (node.isLeaf ? 1 : 2) : node.width >>> 1)
      if (level < 0) {
        this.#root = new TreeBranch([node, split.right], [split.bound], [node.size, split.right.size])
        return
      }
      const parent = this.#branches[level]!
      parent.insertAfter(this.#turns[level]!, split)
      node = parent
    }
  }

  /** Mend the leaf of the last descent, and each branch that has too few children then. */
  #mend(): void {
    for (let level = this.#branches.length - 1; level >= 0; level -= 1) {
      const parent = this.#branches[level]!
      parent.mend(this.#turns[level]!)
      if (!parent.isMeagre) return
    }
    if (!this.#root.isLeaf && this.#root.width === 1) this.#root = this.#root.children[0]!
  }
}
