import { type Claim, claimOn, type HolderWords, type Holding } from './claim.ts'
import type { Heap } from './heap/heap.ts'
import type { Bell } from './waiting/bell.ts'

/** In place of a holder: there will be no other. */
export const DONE = -1

/**
 * Words of a heap that name who has something: 0, the owner's word (peers.ts), or {@link DONE}.
 *
 * The word of a group has a token as well (distributed/hold-word.ts), because another word there is another round trip.
 * Here another word costs little, but one of 64 bits is a BigInt.
 */
export class HeapHolds implements HolderWords<number> {
  readonly #heap: Heap
  readonly #bell: Bell

  /** `bell`: rings when a hold has ended. */
  constructor(heap: Heap, bell: Bell) {
    this.#heap = heap
    this.#bell = bell
  }

  says(word: number): Holding {
    return word === 0 ? 'no one' : word === DONE ? 'done' : 'someone'
  }

  isThere(word: number, ask: boolean): boolean {
    return this.#heap.isHolderThere(word, ask)
  }

  next(): number {
    return this.#heap.owner
  }

  /** Whether a claim to the word at `offset` could succeed. */
  isFree(offset: number, ask: boolean): boolean {
    return claimOn(this, this.#heap.memory.load(offset), ask).word !== undefined
  }

  /** Claim the word at `offset`. */
  claim(offset: number, ask: boolean): Claim {
    this.#heap.checkOpen()
    const { memory } = this.#heap
    const seen = memory.load(offset)
    const { claim, word } = claimOn(this, seen, ask)
    return word === undefined || memory.compareExchange(offset, seen, word) === seen ? claim : 'held'
  }

  /** What was claimed is let go of by the returned function, once, or when the structures are closed. */
  hold(offset: number): () => void {
    return this.#heap.hold(() => this.end(offset, 0))
  }

  /** Replace the word of this member's hold. Has no effect if the hold has ended. */
  end(offset: number, by: number): void {
    this.#heap.memory.compareExchange(offset, this.#heap.owner, by)
    this.#bell.ring()
  }
}
