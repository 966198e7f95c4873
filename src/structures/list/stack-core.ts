import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { copyOfValue, makeNode, NodeOffset, nextOf, noteLinked, numberOf } from './node.ts'

/**
 * A stack as a list (Treiber, "Systems programming: coping with parallelism", 1986): a value is on it from one compare-and-swap of the
 * word at `top` to another. Epochs keep a node from coming back while somebody still compares with it.
 */
export class StackCore {
  readonly #heap: Heap
  readonly #top: number
  readonly #capacity: number

  /** `capacity` 0: no bound. */
  constructor(heap: Heap, top: number, capacity: number) {
    this.#heap = heap
    this.#top = top
    this.#capacity = capacity
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
    const { intent, epochs } = this.#heap
    intent.begin(this.#top, Reach.List)
    const node = makeNode(this.#heap, value)
    epochs.enter()
    try {
      if (this.#link(node)) return true
    } finally {
      epochs.exit()
    }
    this.#heap.release(node)
    intent.end()
    return false
  }

  /** A copy of the value pushed last; undefined when there is none. */
  pop(): Uint8Array | undefined {
    const { memory, intent, epochs, blocks } = this.#heap
    epochs.enter()
    try {
      for (;;) {
        const top = memory.load(this.#top)
        if (top === 0) return undefined
        const below = nextOf(this.#heap, top)
        const state = blocks.state(top)
        noteLinked(this.#heap, top)
        intent.begin(this.#top, Reach.List)
        intent.arm(top, state, 0, 0, 0)
        const taken = memory.compareExchange(this.#top, top, below) === top
        const value = taken ? copyOfValue(this.#heap, top) : undefined
        if (taken) epochs.retire(top, state)
        intent.end()
        if (value !== undefined) return value
      }
    } finally {
      epochs.exit()
    }
  }

  #link(node: number): boolean {
    const { memory, intent } = this.#heap
    for (;;) {
      const top = memory.load(this.#top)
      const depth = this.#depth(top)
      if (this.#capacity !== 0 && depth >= this.#capacity) return false
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

  #depth(top: number): number {
    return top === 0 ? 0 : numberOf(this.#heap, top)
  }
}
