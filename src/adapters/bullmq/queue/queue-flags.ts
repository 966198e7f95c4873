import type { Store } from '../store/store.ts'
import { type Flag, QueueOffset } from './layout.ts'

/** What is so of a queue, or is not: a bit for each {@link Flag}. */
export class QueueFlags {
  readonly #store: Store
  readonly #at: number

  /** `at`: where the record of the queue begins. */
  constructor(store: Store, at: number) {
    this.#store = store
    this.#at = at + QueueOffset.Flags
  }

  has(flag: number): boolean {
    return (this.#store.memory.word(this.#at) & flag) !== 0
  }

  set(flag: (typeof Flag)[keyof typeof Flag], on: boolean): void {
    const before = this.#store.memory.word(this.#at)
    const after = on ? before | flag : before & ~flag
    if (after !== before) this.#store.memory.setWord(this.#at, after)
  }
}
