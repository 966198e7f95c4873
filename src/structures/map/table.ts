import { type Heap, offsetOf } from '../heap/heap.ts'
import type { WordMemory } from '../memory/word-memory.ts'
import type { Key } from './key.ts'
import {
  DELETED,
  EntryOffset,
  FROZEN,
  MOVED,
  mayHold,
  movedFrom,
  REFERENCE_MASK,
  slotsOffset,
  TableOffset,
} from './layout.ts'

/**
 * One table of slots, looked through from the place given by the upper bits of the hash to the first slot that was
 * never used. A key that is not found on the way is put there; slots never become empty again. So if two members put
 * the same key they meet at the same slot, and a key is in a table once.
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
  /** Whether the key may be one of those that were moved to the next table. */
  passedMoved: boolean = false
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

  /**
   * Find the slot of `key`, or the empty one (`word` without a reference) where it would be put. False when there is
   * neither.
   */
  find(key: Key): boolean {
    const mask = (1 << this.log2) - 1
    const { hash } = key
    let index = hash >>> (32 - this.log2)
    this.passedMoved = false
    for (let probe = 0; probe <= mask; probe += 1) {
      const slot = this.slots + index * 4
      const word = this.#memory.load(slot)
      const reference = word & REFERENCE_MASK
      if (reference === MOVED) this.passedMoved ||= mayHold(word, hash)
      else if (reference === 0 || (mayHold(word, hash) && key.isOf(this.#memory, offsetOf(reference)))) {
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

  /** Whether what was found is all that there is of the key: the slot is not frozen, and the key was not moved. */
  get isFinal(): boolean {
    return !this.frozen && (this.entry !== 0 || !this.passedMoved)
  }

  /** The entry in the slot; 0 when it was empty. */
  get entry(): number {
    return this.word & REFERENCE_MASK
  }

  /** Freeze the slot that was found if it is still what it was, so that nothing is put there any more. */
  freezeFound(): void {
    this.#memory.compareExchange(this.slot, this.word, this.word | FROZEN)
  }

  /** Say that the entry of a frozen slot is in the next table. */
  leaveMoved(slot: number, word: number): void {
    this.#memory.compareExchange(slot, word, movedFrom(word))
  }
}

/** Whether an entry is only the mark of a key that was deleted. */
export function isDeleted(heap: Heap, reference: number): boolean {
  return heap.memory.peek(offsetOf(reference) + EntryOffset.ValueLength) === DELETED
}
