import type { FrameReference } from './message.ts'

/** One that asks persistently for a page. */
export interface Starver {
  readonly rank: number
  readonly write: boolean
  readonly frame: FrameReference
  /**
   * It was there when this node last ended a persistent request of its own: it is served before this node may start
   * another.
   */
  readonly marked: boolean
}

/**
 * Which nodes starve for which page, as far as this node has heard. Every node keeps such a table, and gives the tokens
 * that it has or gets to the starver of the lowest rank. Marks prevent low ranks from starving high ones.
 *
 * Source: Martin, Token Coherence, PhD thesis (2003), 3.2.5: distributed activation; gem5, structures/PersistentTable.
 */
export class Starvers {
  readonly #pages = new Map<number, readonly Starver[]>()

  get size(): number {
    return this.#pages.size
  }

  add(page: number, rank: number, write: boolean, frame: FrameReference): void {
    const others = this.of(page).filter((each) => each.rank !== rank)
    const all = [...others, { rank, write, frame, marked: false }]
    this.#set(
      page,
      all.sort((one, other) => one.rank - other.rank),
    )
  }

  /** False where it was not there. */
  remove(page: number, rank: number): boolean {
    const before = this.of(page)
    const after = before.filter((each) => each.rank !== rank)
    this.#set(page, after)
    return after.length < before.length
  }

  /** Who comes first. */
  first(page: number): Starver | undefined {
    return this.#pages.get(page)?.[0]
  }

  /** All who are here now are to be served before this node starves again. */
  mark(page: number): void {
    this.#set(
      page,
      this.of(page).map((each) => ({ ...each, marked: true })),
    )
  }

  hasMarked(page: number): boolean {
    return this.of(page).some(({ marked }) => marked)
  }

  clear(): void {
    this.#pages.clear()
  }

  of(page: number): readonly Starver[] {
    return this.#pages.get(page) ?? nobody
  }

  save(): [page: number, starvers: readonly Starver[]][] {
    return [...this.#pages]
  }

  restore(saved: Iterable<readonly [page: number, starvers: readonly Starver[]]>): void {
    for (const [page, all] of saved) this.#pages.set(page, all)
  }

  fingerprint(page: number): string {
    let text = ''
    for (const { rank, write, marked } of this.of(page))
      text += String.fromCharCode(rank + 1, (write ? 1 : 0) | (marked ? 2 : 0))
    return text
  }

  #set(page: number, all: readonly Starver[]): void {
    if (all.length === 0) this.#pages.delete(page)
    else this.#pages.set(page, all)
  }
}

const nobody: readonly Starver[] = []
