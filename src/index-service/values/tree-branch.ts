import { DefectError } from '../../native/index.ts'
import { insertAt, removeAt } from './shifting.ts'
import type { Split, TreeLeaf } from './tree-leaf.ts'

const CHILDREN_MAX = 64
const CHILDREN_MIN = 24

export type TreeNode<Key, Value> = TreeLeaf<Key, Value> | TreeBranch<Key, Value>

/**
 * Two or more subtrees of one height, in order, with how many entries each has.
 *
 * ```
 *  children    c0      c1      c2     c3
 *  bounds          b0      b1     b2         keys in c0 < b0 <= keys in c1 < b1 <= ...
 *  counts      n0      n1      n2     n3
 * ```
 *
 * A bound remains when its key is deleted: it still separates.
 */
export class TreeBranch<Key, Value> {
  readonly isLeaf: false = false
  readonly children: TreeNode<Key, Value>[]
  readonly bounds: Key[]
  readonly counts: number[]

  constructor(children: TreeNode<Key, Value>[], bounds: Key[], counts: number[]) {
    this.children = children
    this.bounds = bounds
    this.counts = counts
  }

  get size(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  get width(): number {
    return this.children.length
  }

  get isOverfull(): boolean {
    return this.children.length > CHILDREN_MAX
  }

  get isMeagre(): boolean {
    return this.children.length < CHILDREN_MIN
  }

  /** Take what was split off the child at `index`. */
  insertAfter(index: number, { bound, right }: Split<Key, TreeNode<Key, Value>>): void {
    const count = right.size
    insertAt(this.children, index + 1, right)
    insertAt(this.bounds, index, bound)
    insertAt(this.counts, index + 1, count)
    this.counts[index]! -= count
  }

  /** Make the meagre child at `index` one with a neighbour, or, if that were too large, give both half of it. */
  mend(index: number): void {
    const at = Math.max(0, index - 1)
    const left = this.children[at]!
    const bound = this.bounds[at]!
    left.absorb(this.children[at + 1]!, bound)
    this.counts[at]! += this.counts[at + 1]!
    removeAt(this.children, at + 1)
    removeAt(this.bounds, at)
    removeAt(this.counts, at + 1)
    if (left.isOverfull) this.insertAfter(at, left.split(left.width >>> 1))
  }

  /** Move the children from `index` on to a new branch. */
  split(index: number): Split<Key, TreeBranch<Key, Value>> {
    const { children, bounds, counts } = this
    const right = new TreeBranch(children.slice(index), bounds.slice(index), counts.slice(index))
    const bound = bounds[index - 1]!
    children.length = index
    bounds.length = index - 1
    counts.length = index
    return { bound, right }
  }

  /** Take all children of the next branch, whose keys begin at `bound`. */
  absorb(right: TreeNode<Key, Value>, bound: Key): void {
    if (right.isLeaf) throw new DefectError('a branch is beside a leaf')
    for (const child of right.children) this.children.push(child)
    this.bounds.push(bound)
    for (const further of right.bounds) this.bounds.push(further)
    for (const count of right.counts) this.counts.push(count)
  }
}
