import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { NodeOffset, nextOf, noteLinked } from './node.ts'

/**
 * Nodes in the order in which they were linked: the list of Michael and Scott, with epochs in place of counted
 * pointers. Source: "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996).
 *
 * ```
 *   head ──► dummy ──► first ──► … ──► last ◄── tail (or one behind)
 * ```
 *
 * 1. A node is in the chain from the compare-and-swap of the last one's `next` on.
 * 2. It is out of the chain, and the new dummy, from the compare-and-swap of `head` on. Its contents can be read until
 *    the next node is.
 * 3. No place is reserved that might not be filled. So a killed member leaves no gap for others to wait at.
 * 4. A member that finds the tail behind moves it.
 *
 * All of it is called inside an epoch but {@link begin}.
 */
export class Chain {
  /** Where the reference of the dummy is. */
  readonly head: number
  readonly #heap: Heap
  readonly #tail: number

  constructor(heap: Heap, head: number, tail: number) {
    this.#heap = heap
    this.head = head
    this.#tail = tail
  }

  /** Whether there is a dummy. */
  get begun(): boolean {
    return this.#heap.memory.load(this.#tail) !== 0
  }

  /** The dummy; 0 before there is one. */
  get dummy(): number {
    return this.#heap.memory.load(this.head)
  }

  /**
   * Put the first dummy there, which `make` takes and fills: into the head, and from there into the tail. Call it
   * outside of every epoch.
   */
  begin(make: () => number): void {
    const { memory, intent } = this.#heap
    if (memory.load(this.head) === 0) {
      intent.begin(this.head, Reach.List)
      const dummy = make()
      intent.arm(0, 0, 0, 0, 0)
      const lost = memory.compareExchange(this.head, 0, dummy) !== 0
      if (lost) intent.disarm()
      if (lost) this.#heap.release(dummy)
      intent.end()
    }
    // Nothing is unlinked before the tail is there, for nothing was linked: the head is the first dummy still.
    memory.compareExchange(this.#tail, 0, memory.load(this.head))
  }

  /** The last node; moves the tail to it. */
  last(): number {
    const { memory } = this.#heap
    for (;;) {
      const tail = memory.load(this.#tail)
      const next = nextOf(this.#heap, tail)
      if (next === 0) return tail
      memory.compareExchange(this.#tail, tail, next)
    }
  }

  /**
   * The one access that takes effect: link `node`, which the intent names. Ends the intent. False when `last` was not
   * the last one any more.
   */
  tryLink(last: number, node: number): boolean {
    const { intent } = this.#heap
    intent.arm(0, 0, 0, 0, 0)
    const linked = this.tryLinkNamed(last, node)
    if (linked) intent.end()
    else intent.disarm()
    return linked
  }

  /** The same for a node that is named elsewhere than in the intent. */
  tryLinkNamed(last: number, node: number): boolean {
    const { memory } = this.#heap
    if (memory.compareExchange(offsetOf(last) + NodeOffset.Next, 0, node) !== 0) return false
    memory.compareExchange(this.#tail, last, node)
    return true
  }

  /**
   * Make `first`, which comes after `dummy`, the new dummy, and retire the old one. False if another member has done
   * so.
   */
  tryUnlink(dummy: number, first: number): boolean {
    const { memory, intent, epochs, blocks } = this.#heap
    // The tail must not fall behind the head.
    if (memory.load(this.#tail) === dummy) memory.compareExchange(this.#tail, dummy, first)
    const state = blocks.state(dummy)
    noteLinked(this.#heap, dummy)
    intent.begin(this.head, Reach.List)
    intent.arm(dummy, state, 0, 0, 0)
    const taken = memory.compareExchange(this.head, dummy, first) === dummy
    if (taken) epochs.retire(dummy, state)
    intent.end()
    return taken
  }
}
