import { DefectError } from '../../native/index.ts'
import { insertAt, removeAt } from './shifting.ts'

const ENTRIES_MAX = 64
const ENTRIES_MIN = 24

/** What a split makes: `right` has the keys from `bound` on. */
export interface Split<Key, Node> {
  readonly bound: Key
  readonly right: Node
}

/** Entries in order, in two arrays, so that an entry is no object of its own. Leaves of a tree are linked. */
export class TreeLeaf<Key, Value> {
  readonly isLeaf: true = true
  readonly keys: Key[]
  readonly values: Value[]
  next: TreeLeaf<Key, Value> | undefined
  previous: TreeLeaf<Key, Value> | undefined

  constructor(keys: Key[] = [], values: Value[] = []) {
    this.keys = keys
    this.values = values
  }

  get size(): number {
    return this.keys.length
  }

  get width(): number {
    return this.keys.length
  }

  get isOverfull(): boolean {
    return this.keys.length > ENTRIES_MAX
  }

  get isMeagre(): boolean {
    return this.keys.length < ENTRIES_MIN
  }

  insert(index: number, key: Key, value: Value): void {
    insertAt(this.keys, index, key)
    insertAt(this.values, index, value)
  }

  remove(index: number): void {
    removeAt(this.keys, index)
    removeAt(this.values, index)
  }

  /** Move the entries from `index` on to a new leaf. */
  split(index: number): Split<Key, TreeLeaf<Key, Value>> {
    const right = new TreeLeaf(this.keys.slice(index), this.values.slice(index))
    this.keys.length = index
    this.values.length = index
    right.next = this.next
    right.previous = this
    if (this.next !== undefined) this.next.previous = right
    this.next = right
    return { bound: right.keys[0]!, right }
  }

  /** Take all entries of the next leaf, which leaves the tree. */
  absorb(right: { readonly isLeaf: boolean }): void {
    if (!(right instanceof TreeLeaf) || right !== this.next)
      throw new DefectError('a leaf is beside what does not follow it')
    for (const key of right.keys) this.keys.push(key)
    for (const value of right.values) this.values.push(value)
    this.next = right.next
    if (this.next !== undefined) this.next.previous = this
  }
}
