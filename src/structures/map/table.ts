import { type Heap, offsetOf } from '../heap/heap.ts'
import type { WordMemory } from '../memory/word-memory.ts'
import type { Key } from './key.ts'
import { DELETED, EntryOffset, FROZEN, mayHold, REFERENCE_MASK, slotsOffset, TableOffset } from './layout.ts'

/**
 * One table of slots, looked through from the place that the hash says, which are its upper bits, to the first slot that was never used. A key that is not found on the way
 * is put there; slots never become empty again. So two who put the same key meet at the same slot, and a key is in a table once.
 */
export class Table {
  /** Of the block. */
  reference: number = 0
  log2: number = 0
  /** Where the slots begin. */
  slots: number = 0
  /** What {@link find} found: where the slot is, and its word. */
  slot: number = 0
  word: number = 0
  readonly #memory: WordMemory

  constructor(memory: WordMemory) {
    this.#memory = memory
  }

  /** Look at the table `reference`. */
  use(reference: number): this {
    this.reference = reference
    this.log2 = this.#memory.peek(offsetOf(reference) + TableOffset.Log2)
    this.slots = offsetOf(reference) + slotsOffset(this.log2)
    return this
  }

  get offset(): number {
    return offsetOf(this.reference)
  }

  /** The table that takes its place; 0 when there is none. */
  get next(): number {
    return this.#memory.load(this.offset + TableOffset.Next)
  }

  /** Find the slot of `key`, or the empty one (`word` without a reference) where it would be put. False when there is neither. */
  find(key: Key): boolean {
    const mask = 2 ** this.log2 - 1
    const { hash } = key
    let index = hash >>> (32 - this.log2)
    for (let probe = 0; probe <= mask; probe += 1) {
      const slot = this.slots + index * 4
      const word = this.#memory.load(slot)
      const reference = word & REFERENCE_MASK
      if (reference === 0 || (mayHold(word, hash) && key.isOf(this.#memory, offsetOf(reference)))) {
        this.slot = slot
        this.word = word
        return true
      }
      index = (index + 1) & mask
    }
    return false
  }

  /** Whether the slot was frozen when it was found. */
  get frozen(): boolean {
    return (this.word & FROZEN) !== 0
  }

  /** The entry in the slot; 0 when it was empty. */
  get entry(): number {
    return this.word & REFERENCE_MASK
  }

  /** Freeze slot `index`; gives its word, which does not change any more. */
  freeze(index: number): number {
    const slot = this.slots + index * 4
    for (;;) {
      const word = this.#memory.load(slot)
      if ((word & FROZEN) !== 0) return word
      if (this.#memory.compareExchange(slot, word, word | FROZEN) === word) return word | FROZEN
    }
  }
}

/** Whether an entry is only the mark of a key that was deleted. */
export function isDeleted(heap: Heap, reference: number): boolean {
  return heap.memory.peek(offsetOf(reference) + EntryOffset.ValueLength) === DELETED
}
