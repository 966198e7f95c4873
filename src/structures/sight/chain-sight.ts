import { NodeOffset } from '../list/node.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'

/** How far a tail may be behind the last node: one step for each process that was stopped before it moved the tail. */
const BEHIND_MAX = 256

/** Both ends of a chain, at one moment. */
export interface ChainEnds {
  /** The node before the first. */
  readonly dummy: BlockSight
  readonly last: BlockSight
}

/** The node after this one; undefined if this one was taken away meanwhile, with whatever `visit` saw of it. */
export function nextOf(heap: HeapSight, node: BlockSight): BlockSight | 'end' | undefined {
  const place = node.offset + NodeOffset.Next
  const next = heap.word(place) === 0 ? 'end' : heap.through(place, (found) => found)
  return heap.isStill(node) ? next : undefined
}

/** A chain of nodes (../list/chain.ts), read from outside. */
export class ChainSight {
  readonly #heap: HeapSight
  readonly #head: number
  readonly #tail: number

  /** Places of the words that name the dummy and the last node. */
  constructor(heap: HeapSight, head: number, tail: number) {
    this.#heap = heap
    this.#head = head
    this.#tail = tail
  }

  /** Whether anything was ever put into it. */
  get begun(): boolean {
    return this.#heap.word(this.#tail) !== 0
  }

  /**
   * What `read` finds at both ends. The head was the same before and after, so this is how it was at one moment.
   * Undefined if it changes all the time.
   */
  atEnds<T>(read: (ends: ChainEnds) => T | undefined): T | undefined {
    const heap = this.#heap
    return heap.settled(() =>
      heap.through(this.#head, (dummy) => {
        const last = this.#last()
        const found = last && read({ dummy, last })
        return found !== undefined && heap.word(this.#head) === dummy.reference && heap.isStill(last!)
          ? found
          : undefined
      }),
    )
  }

  /**
   * Call `visit` with the dummy and up to `most` nodes after it. Ends early where the next one was taken away
   * meanwhile. Returns whether the end was reached.
   */
  walk(most: number, visit: (node: BlockSight) => void): boolean {
    const heap = this.#heap
    let node = heap.settled(() => heap.through(this.#head, (dummy) => dummy))
    for (let count = 0; node !== undefined; count += 1) {
      visit(node)
      const next: BlockSight | 'end' | undefined = nextOf(heap, node)
      if (next === 'end') return true
      if (count === most) return false
      node = next
    }
    return false
  }

  #last(): BlockSight | undefined {
    const heap = this.#heap
    let last = heap.through(this.#tail, (node) => node)
    for (let step = 0; last !== undefined && step < BEHIND_MAX; step += 1) {
      const next: BlockSight | 'end' | undefined = nextOf(heap, last)
      if (next === 'end') return last
      last = next
    }
    return undefined
  }
}
