import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { copyOfValue, makeNode, NodeOffset, nextOf, noteLinked, numberOf } from './node.ts'

/** Words of a queue's body, beside its bells. */
export const QueueOffset = { Head: 0, Tail: 4 } as const

/**
 * A queue as a list: Michael and Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996), with epochs
 * in the place of counted pointers.
 *
 * ```
 *   head ──► dummy ──► first ──► … ──► last ◄── tail (or one behind)
 * ```
 *
 * A value is in the queue from the compare-and-swap of the last node's `next` on, and out of it from that of `head` on. Nobody reserves a place that he might not fill, so a producer that is
 * killed leaves no gap for others to wait at. Whoever finds the tail behind moves it.
 */
export class QueueCore {
  readonly #heap: Heap
  readonly #head: number
  readonly #tail: number
  readonly #capacity: number

  /** `capacity` 0: no bound. */
  constructor(heap: Heap, body: number, capacity: number) {
    this.#heap = heap
    this.#head = body + QueueOffset.Head
    this.#tail = body + QueueOffset.Tail
    this.#capacity = capacity
  }

  /** How many values there are. */
  length(): number {
    this.#heap.epochs.enter()
    try {
      // Head first: it may only be overtaken by what is pushed meanwhile.
      const head = this.#heap.memory.load(this.#head)
      return head === 0 ? 0 : (numberOf(this.#heap, this.#last()) - numberOf(this.#heap, head)) | 0
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** False when the queue is full. @throws HeapFullError */
  push(value: Uint8Array): boolean {
    const { intent, epochs } = this.#heap
    if (this.#heap.memory.load(this.#tail) === 0) this.#begin()
    intent.begin(this.#head, Reach.List)
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
    const { memory, intent, epochs, blocks } = this.#heap
    epochs.enter()
    try {
      for (;;) {
        const head = memory.load(this.#head)
        const first = head === 0 ? 0 : nextOf(this.#heap, head)
        if (first === 0) return undefined
        // The tail must not fall behind the head.
        if (memory.load(this.#tail) === head) memory.compareExchange(this.#tail, head, first)
        const state = blocks.state(head)
        noteLinked(this.#heap, head)
        intent.begin(this.#head, Reach.List)
        intent.arm(head, state, 0, 0, 0)
        const taken = memory.compareExchange(this.#head, head, first) === head
        const value = taken ? copyOfValue(this.#heap, first) : undefined
        if (taken) epochs.retire(head, state)
        intent.end()
        if (value !== undefined) return value
      }
    } finally {
      epochs.exit()
    }
  }

  /** The one access that takes effect; false when the queue is full. */
  #link(node: number): boolean {
    const { memory, intent } = this.#heap
    for (;;) {
      const last = this.#last()
      const number = numberOf(this.#heap, last)
      const length = (number - numberOf(this.#heap, memory.load(this.#head))) | 0
      // The head only goes on, and `last` is the last one if this succeeds: the bound is exact.
      if (this.#capacity !== 0 && length >= this.#capacity) return false
      memory.poke(offsetOf(node) + NodeOffset.Number, (number + 1) | 0)
      intent.arm(0, 0, 0, 0, 0)
      if (memory.compareExchange(offsetOf(last) + NodeOffset.Next, 0, node) === 0) {
        memory.compareExchange(this.#tail, last, node)
        intent.end()
        return true
      }
      intent.disarm()
    }
  }

  /** The last node; moves the tail to it. */
  #last(): number {
    const { memory } = this.#heap
    for (;;) {
      const tail = memory.load(this.#tail)
      const next = nextOf(this.#heap, tail)
      if (next === 0) return tail
      memory.compareExchange(this.#tail, tail, next)
    }
  }

  /** The first dummy: into the head, and from there into the tail. */
  #begin(): void {
    const { memory, intent } = this.#heap
    if (memory.load(this.#head) === 0) {
      intent.begin(this.#head, Reach.List)
      const dummy = makeNode(this.#heap, new Uint8Array(0))
      intent.arm(0, 0, 0, 0, 0)
      const lost = memory.compareExchange(this.#head, 0, dummy) !== 0
      if (lost) intent.disarm()
      if (lost) this.#heap.release(dummy)
      intent.end()
    }
    // Nobody pops before the tail is there, for nobody has pushed: the head is the dummy still.
    memory.compareExchange(this.#tail, 0, memory.load(this.#head))
  }
}
