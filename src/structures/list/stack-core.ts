import { DefectError } from '../../native/index.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import type { ValueCopy } from '../values/value-reader.ts'
import { NodeOffset, nextOf, noteLinked, numberOf, pushNode, readValue } from './node.ts'
import type { ListBounds } from './value-list.ts'

/**
 * A stack as a list (Treiber, "Systems programming: coping with parallelism", 1986). A value is on it from one
 * compare-and-swap of the word at `top` to another. Epochs keep a node from coming back while another member still
 * compares with it.
 */
export class StackCore {
  readonly #heap: Heap
  readonly #top: number
  readonly #bounds: ListBounds

  constructor(heap: Heap, top: number, bounds: ListBounds) {
    this.#heap = heap
    this.#top = top
    this.#bounds = bounds
  }

  length(): number {
    this.#heap.epochs.enter()
    try {
      return this.#depth(this.#heap.memory.load(this.#top))
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** False when the stack is full. @throws HeapFullError */
  push(value: Uint8Array): boolean {
    return pushNode(this.#heap, this.#top, value, this.#link)
  }

  /** Take the value pushed last; false when there is none. */
  pop(into: ValueCopy): boolean {
    const { memory, intent, epochs, blocks } = this.#heap
    epochs.enter()
    try {
      for (;;) {
        const top = memory.load(this.#top)
        if (top === 0) return false
        const below = nextOf(this.#heap, top)
        const state = blocks.state(top)
        noteLinked(this.#heap, top)
        intent.begin(this.#top, Reach.List)
        intent.arm(top, state, 0, 0, 0)
        const taken = memory.compareExchange(this.#top, top, below) === top
        if (taken) readValue(this.#heap, top, into)
        if (taken) epochs.retire(top, state)
        intent.end()
        if (taken) return true
      }
    } finally {
      epochs.exit()
    }
  }

  /**
   * Copies of the values at the depths from `from` to below `to` (1 is the bottom), from the bottom up. What is pushed
   * or popped meanwhile may be in it or not.
   */
  peek(from: number, to: number): readonly Uint8Array[] {
    const { epochs, memory } = this.#heap
    const values: Uint8Array[] = []
    epochs.enter()
    try {
      let node = memory.load(this.#top)
      while (node !== 0 && this.#depth(node) >= to) node = this.#below(node)
      for (; node !== 0 && this.#depth(node) >= from; node = this.#below(node)) {
        const at = offsetOf(node)
        values.push(memory.copy(at + NodeOffset.Value, memory.peek(at + NodeOffset.Length)))
      }
    } finally {
      epochs.exit()
    }
    return values.reverse()
  }

  /** False when the stack is full. */
  readonly #link = (node: number): boolean => {
    const { memory, intent } = this.#heap
    for (;;) {
      const top = memory.load(this.#top)
      const depth = this.#depth(top)
      const { capacity } = this.#bounds
      if (capacity !== 0 && depth >= capacity) return false
      memory.poke(offsetOf(node) + NodeOffset.Next, top)
      memory.poke(offsetOf(node) + NodeOffset.Number, depth + 1)
      intent.arm(0, 0, 0, 0, 0)
      if (memory.compareExchange(this.#top, top, node) === top) {
        intent.end()
        return true
      }
      intent.disarm()
    }
  }

  #below(node: number): number {
    const below = nextOf(this.#heap, node)
    if (this.#depth(below) === this.#depth(node) - 1) return below
    throw new DefectError('the values of a stack are not numbered in a row')
  }

  #depth(top: number): number {
    return top === 0 ? 0 : numberOf(this.#heap, top)
  }
}
