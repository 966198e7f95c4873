import { DefectError } from '../../native/index.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import type { ValueCopy } from '../values/value-reader.ts'
import { Chain } from './chain.ts'
import { makeNode, NodeOffset, nextOf, numberOf, pushNode, readValue } from './node.ts'
import type { ListBounds } from './value-list.ts'

/** Words of a queue's body, beside its bells. */
export const QueueOffset = { Head: 0, Tail: 4 } as const

/** A node of a queue, as it was when it was looked at. */
export interface QueuePosition {
  readonly reference: number
  readonly state: number
  readonly number: number
}

const NOTHING = new Uint8Array(0)

/**
 * A queue as a {@link Chain}: a value is pushed where its node is linked, and popped where its node becomes the dummy.
 */
export class QueueCore {
  readonly #heap: Heap
  readonly #chain: Chain
  readonly #bounds: ListBounds

  constructor(heap: Heap, body: number, bounds: ListBounds) {
    this.#heap = heap
    this.#chain = new Chain(heap, body + QueueOffset.Head, body + QueueOffset.Tail)
    this.#bounds = bounds
  }

  /** How many values there are: at one moment, for the head was the same before and after the tail was found. */
  length(): number {
    this.#heap.epochs.enter()
    try {
      for (;;) {
        const head = this.#chain.dummy
        if (!this.#chain.begun) return 0
        const last = numberOf(this.#heap, this.#chain.last())
        if (this.#chain.dummy === head) return (last - numberOf(this.#heap, head)) | 0
      }
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** False when the queue is full. @throws HeapFullError */
  push(value: Uint8Array): boolean {
    if (!this.#chain.begun) this.#chain.begin(() => makeNode(this.#heap, NOTHING))
    return pushNode(this.#heap, this.#chain.head, value, this.#link)
  }

  /**
   * Copies of up to `count` values that come after the node `after`, or of the first ones if that is gone. Returns the
   * last node that was copied; undefined at the end. What is pushed or popped meanwhile may be in it or not.
   */
  peek(count: number, after: QueuePosition | undefined, visit: (value: Uint8Array) => void): QueuePosition | undefined {
    const { epochs, blocks, memory } = this.#heap
    epochs.enter()
    try {
      if (!this.#chain.begun) return undefined
      let node = this.#isThere(after) ? after.reference : this.#chain.dummy
      for (let taken = 0; taken < count; taken += 1) {
        const next = nextOf(this.#heap, node)
        if (next === 0) return undefined
        if (numberOf(this.#heap, next) !== ((numberOf(this.#heap, node) + 1) | 0))
          throw new DefectError('the values of a queue are not numbered in a row')
        const at = offsetOf(next)
        visit(memory.copy(at + NodeOffset.Value, memory.peek(at + NodeOffset.Length)))
        node = next
      }
      return { reference: node, state: blocks.state(node), number: numberOf(this.#heap, node) }
    } finally {
      epochs.exit()
    }
  }

  /** Whether a node is still in the queue, or its dummy. It is not if the dummy has a higher number. */
  #isThere(position: QueuePosition | undefined): position is QueuePosition {
    if (position === undefined) return false
    const { reference, state, number } = position
    const isAhead = ((number - numberOf(this.#heap, this.#chain.dummy)) | 0) >= 0
    return isAhead && this.#heap.blocks.state(reference) === state
  }

  /** Take the first value; false when there is none. */
  pop(into: ValueCopy): boolean {
    const { epochs } = this.#heap
    epochs.enter()
    try {
      for (;;) {
        const head = this.#chain.dummy
        const first = head === 0 ? 0 : nextOf(this.#heap, head)
        if (first === 0) return false
        if (!this.#chain.tryUnlink(head, first)) continue
        readValue(this.#heap, first, into)
        return true
      }
    } finally {
      epochs.exit()
    }
  }

  get isEmpty(): boolean {
    this.#heap.epochs.enter()
    try {
      const head = this.#chain.dummy
      return head === 0 || nextOf(this.#heap, head) === 0
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** Copy the first value and leave it there. Returns its number, which grows; undefined if there is none. */
  first(into: ValueCopy): number | undefined {
    const { epochs } = this.#heap
    epochs.enter()
    try {
      const head = this.#chain.dummy
      const first = head === 0 ? 0 : nextOf(this.#heap, head)
      if (first === 0) return undefined
      readValue(this.#heap, first, into)
      return numberOf(this.#heap, first)
    } finally {
      epochs.exit()
    }
  }

  /** Take away the first value if it is the one with this number; false if it is gone. */
  dropFirst(number: number): boolean {
    const { epochs } = this.#heap
    epochs.enter()
    try {
      const head = this.#chain.dummy
      const first = head === 0 ? 0 : nextOf(this.#heap, head)
      return first !== 0 && numberOf(this.#heap, first) === number && this.#chain.tryUnlink(head, first)
    } finally {
      epochs.exit()
    }
  }

  /** The number of the last value. The queue must have begun. */
  lastNumber(): number {
    this.#heap.epochs.enter()
    try {
      return numberOf(this.#heap, this.#chain.last())
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** False when the queue is full. */
  readonly #link = (node: number): boolean => {
    const { memory } = this.#heap
    for (;;) {
      const last = this.#chain.last()
      const number = numberOf(this.#heap, last)
      const length = (number - numberOf(this.#heap, this.#chain.dummy)) | 0
      // The head only goes on, and `last` is the last one if this succeeds: the bound is exact.
      const { capacity } = this.#bounds
      if (capacity !== 0 && length >= capacity) return false
      memory.poke(offsetOf(node) + NodeOffset.Number, (number + 1) | 0)
      if (this.#chain.tryLink(last, node)) return true
    }
  }
}
