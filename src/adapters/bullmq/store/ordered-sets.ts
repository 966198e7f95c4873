import type { BlockAllocator } from './block-allocator.ts'
import type { UndoMemory } from './undo-memory.ts'

export const NodeOffset = { Left: 0, Right: 4, Parent: 8, Count: 12, Priority: 16, Item: 20, Score: 24 } as const
export const NODE_BYTES = 32

/**
 * Items in the order of their scores, by treaps whose nodes count what is below them (Seidel and Aragon, "Randomized
 * search trees", Algorithmica 1996). All calls take a number of steps that grows with the logarithm of the size.
 *
 * A set is a word: the reference of its root, 0 if it is empty. A node stays where it is as long as it is in the set.
 */
export class OrderedSets {
  readonly #memory: UndoMemory
  readonly #allocator: BlockAllocator
  readonly #compareItems: (a: number, b: number) => number

  /** Items of equal scores are in the order that `compareItems` gives them. */
  constructor(memory: UndoMemory, allocator: BlockAllocator, compareItems: (a: number, b: number) => number) {
    this.#memory = memory
    this.#allocator = allocator
    this.#compareItems = compareItems
  }

  item(node: number): number {
    return this.#memory.word(node + NodeOffset.Item)
  }

  score(node: number): number {
    return this.#memory.float(node + NodeOffset.Score)
  }

  count(set: number): number {
    return this.#countOf(this.#memory.word(set))
  }

  first(set: number): number {
    return this.#end(this.#memory.word(set), NodeOffset.Left)
  }

  last(set: number): number {
    return this.#end(this.#memory.word(set), NodeOffset.Right)
  }

  next(node: number): number {
    return this.#step(node, NodeOffset.Right, NodeOffset.Left)
  }

  previous(node: number): number {
    return this.#step(node, NodeOffset.Left, NodeOffset.Right)
  }

  /** The node at a place from 0 on; 0 if there is none. */
  at(set: number, place: number): number {
    let node = this.#memory.word(set)
    let left = place
    while (node !== 0) {
      const before = this.#countOf(this.#memory.word(node + NodeOffset.Left))
      if (left === before) return node
      if (left < before) node = this.#memory.word(node + NodeOffset.Left)
      else {
        left -= before + 1
        node = this.#memory.word(node + NodeOffset.Right)
      }
    }
    return 0
  }

  /** How many items have scores below this one. */
  countBelow(set: number, score: number): number {
    let node = this.#memory.word(set)
    let count = 0
    while (node !== 0) {
      const isBelow = this.score(node) < score
      if (isBelow) count += this.#countOf(this.#memory.word(node + NodeOffset.Left)) + 1
      node = this.#memory.word(node + (isBelow ? NodeOffset.Right : NodeOffset.Left))
    }
    return count
  }

  insert(set: number, item: number, score: number): number {
    const memory = this.#memory
    const node = this.#newNode(item, score)
    let parent = 0
    let place = set
    for (let below = memory.word(set); below !== 0; below = memory.word(place)) {
      parent = below
      memory.setWord(parent + NodeOffset.Count, memory.word(parent + NodeOffset.Count) + 1)
      place = parent + (this.#isBefore(item, score, parent) ? NodeOffset.Left : NodeOffset.Right)
    }
    memory.freshWord(node + NodeOffset.Parent, parent)
    memory.setWord(place, node)
    const priority = memory.word(node + NodeOffset.Priority)
    while (memory.word(node + NodeOffset.Parent) !== 0) {
      if (memory.word(memory.word(node + NodeOffset.Parent) + NodeOffset.Priority) >= priority) break
      this.#raise(set, node)
    }
    return node
  }

  remove(set: number, node: number): void {
    const memory = this.#memory
    for (;;) {
      const left = memory.word(node + NodeOffset.Left)
      const right = memory.word(node + NodeOffset.Right)
      if (left === 0 || right === 0) {
        this.#replace(set, node, left === 0 ? right : left)
        break
      }
      this.#raise(
        set,
        memory.word(left + NodeOffset.Priority) > memory.word(right + NodeOffset.Priority) ? left : right,
      )
    }
    for (let above = memory.word(node + NodeOffset.Parent); above !== 0; above = memory.word(above + NodeOffset.Parent))
      memory.setWord(above + NodeOffset.Count, memory.word(above + NodeOffset.Count) - 1)
    this.#allocator.free(node)
  }

  #newNode(item: number, score: number): number {
    const node = this.#allocator.allocate(NODE_BYTES)
    this.#memory.freshZeros(node, NODE_BYTES)
    this.#memory.freshWord(node + NodeOffset.Count, 1)
    this.#memory.freshWord(node + NodeOffset.Priority, Math.floor(Math.random() * 0x7fffffff))
    this.#memory.freshWord(node + NodeOffset.Item, item)
    this.#memory.freshFloat(node + NodeOffset.Score, score)
    return node
  }

  #isBefore(item: number, score: number, node: number): boolean {
    const there = this.score(node)
    return score === there ? this.#compareItems(item, this.item(node)) < 0 : score < there
  }

  #countOf(node: number): number {
    return node === 0 ? 0 : this.#memory.word(node + NodeOffset.Count)
  }

  #end(root: number, side: number): number {
    let node = root
    if (node === 0) return 0
    for (let below = this.#memory.word(node + side); below !== 0; below = this.#memory.word(node + side)) node = below
    return node
  }

  #step(node: number, side: number, other: number): number {
    const below = this.#memory.word(node + side)
    if (below !== 0) return this.#end(below, other)
    let from = node
    let above = this.#memory.word(node + NodeOffset.Parent)
    while (above !== 0 && this.#memory.word(above + side) === from) {
      from = above
      above = this.#memory.word(above + NodeOffset.Parent)
    }
    return above
  }

  /** Rotate the node above its parent. */
  #raise(set: number, node: number): void {
    const memory = this.#memory
    const parent = memory.word(node + NodeOffset.Parent)
    const side = memory.word(parent + NodeOffset.Left) === node ? NodeOffset.Left : NodeOffset.Right
    const other = side === NodeOffset.Left ? NodeOffset.Right : NodeOffset.Left
    const inner = memory.word(node + other)
    this.#replace(set, parent, node)
    memory.setWord(parent + side, inner)
    if (inner !== 0) memory.setWord(inner + NodeOffset.Parent, parent)
    memory.setWord(node + other, parent)
    memory.setWord(parent + NodeOffset.Parent, node)
    memory.setWord(node + NodeOffset.Count, memory.word(parent + NodeOffset.Count))
    const left = this.#countOf(memory.word(parent + NodeOffset.Left))
    memory.setWord(parent + NodeOffset.Count, left + this.#countOf(memory.word(parent + NodeOffset.Right)) + 1)
  }

  /** Put `by`, which may be 0, where `node` is below its parent. */
  #replace(set: number, node: number, by: number): void {
    const memory = this.#memory
    const parent = memory.word(node + NodeOffset.Parent)
    const isLeft = parent !== 0 && memory.word(parent + NodeOffset.Left) === node
    memory.setWord(parent === 0 ? set : parent + (isLeft ? NodeOffset.Left : NodeOffset.Right), by)
    if (by !== 0) memory.setWord(by + NodeOffset.Parent, parent)
  }
}
