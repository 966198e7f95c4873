import type { GroupMemory } from '../memory/group-memory.ts'
import { SECTIONS_OFFSET } from '../memory/layout.ts'

/** Two words in each rank's part: see {@link ReadSections}. */
export const SectionsOffset: { readonly Begun: number; readonly Ended: number } = {
  Begun: SECTIONS_OFFSET,
  Ended: SECTIONS_OFFSET + 8,
}

/** How many sections a rank has begun, and how many of the first of them have ended, in a row. Both only rise. */
export interface SectionCounts {
  readonly begun: number
  readonly ended: number
}

/**
 * The sections of this rank, in which it reads cells. They are numbered. Two words of this rank's own part say how many
 * have begun and up to which all have ended. So to begin and to end one is a store. Endlessly overlapping sections do
 * not delay a rank that waits for an earlier one.
 */
export class ReadSections {
  readonly #group: GroupMemory
  readonly #onEnded: () => void
  /** In the order in which they began. */
  readonly #lasting = new Set<number>()
  #begun = 0
  #ended = 0
  #closed = false

  /** `onEnded` is called when it is written that a section has ended. */
  constructor(group: GroupMemory, onEnded: () => void) {
    this.#group = group
    this.#onEnded = onEnded
  }

  get counts(): SectionCounts {
    return { begun: this.#begun, ended: this.#ended }
  }

  get any(): boolean {
    return this.#lasting.size > 0
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Gives its number. What is read after this is read when all can see that it has begun. */
  begin(): number {
    this.#begun += 1
    this.#lasting.add(this.#begun)
    this.#group.storeOwn(SectionsOffset.Begun, BigInt(this.#begun))
    return this.#begun
  }

  /** Idempotent. */
  end(section: number): void {
    if (!this.#lasting.delete(section)) return
    const [oldest] = this.#lasting
    const ended = oldest === undefined ? this.#begun : oldest - 1
    if (ended === this.#ended) return
    this.#ended = ended
    this.#group.storeOwn(SectionsOffset.Ended, BigInt(ended))
    this.#onEnded()
  }

  /** All end, and none begins. */
  close(): void {
    this.#closed = true
    for (const section of [...this.#lasting].reverse()) this.end(section)
  }
}
