import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { Chain } from './chain.ts'
import { copyOfValue, makeNode, NodeOffset, nextOf, numberOf } from './node.ts'

/** Words of a queue's body, beside its bells. */
export const QueueOffset = { Head: 0, Tail: 4 } as const

const NOTHING = new Uint8Array(0)

/** A queue as a {@link Chain}: a value is pushed where its node is linked, and popped where its node becomes the dummy. */
export class QueueCore {
  readonly #heap: Heap
  readonly #chain: Chain
  readonly #capacity: number

  /** `capacity` 0: no bound. */
  constructor(heap: Heap, body: number, capacity: number) {
    this.#heap = heap
    this.#chain = new Chain(heap, body + QueueOffset.Head, body + QueueOffset.Tail)
    this.#capacity = capacity
  }

  /** How many values there are. */
  length(): number {
    this.#heap.epochs.enter()
    try {
      // Head first: it may only be overtaken by what is pushed meanwhile.
      const head = this.#chain.dummy
      return this.#chain.begun ? (numberOf(this.#heap, this.#chain.last()) - numberOf(this.#heap, head)) | 0 : 0
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** False when the queue is full. @throws HeapFullError */
  push(value: Uint8Array): boolean {
    const { intent, epochs } = this.#heap
    if (!this.#chain.begun) this.#chain.begin(() => makeNode(this.#heap, NOTHING))
    intent.begin(this.#chain.head, Reach.List)
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

  /** A copy of the first value; undefined when there is none. */
  pop(): Uint8Array | undefined {
    const { epochs } = this.#heap
    epochs.enter()
    try {
      for (;;) {
        const head = this.#chain.dummy
        const first = head === 0 ? 0 : nextOf(this.#heap, head)
        if (first === 0) return undefined
        if (this.#chain.tryUnlink(head, first)) return copyOfValue(this.#heap, first)
      }
    } finally {
      epochs.exit()
    }
  }

  /** False when the queue is full. */
  #link(node: number): boolean {
    const { memory } = this.#heap
    for (;;) {
      const last = this.#chain.last()
      const number = numberOf(this.#heap, last)
      const length = (number - numberOf(this.#heap, this.#chain.dummy)) | 0
      // The head only goes on, and `last` is the last one if this succeeds: the bound is exact.
      if (this.#capacity !== 0 && length >= this.#capacity) return false
      memory.poke(offsetOf(node) + NodeOffset.Number, (number + 1) | 0)
      if (this.#chain.tryLink(last, node)) return true
    }
  }
}
