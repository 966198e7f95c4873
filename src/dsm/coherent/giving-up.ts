interface Range {
  /** Pages that are still here. */
  readonly pages: Set<number>
  readonly done: () => void
}

/** Ranges whose copies are being given up. */
export class GivingUp {
  readonly #evict: (page: number) => boolean
  readonly #ranges = new Set<Range>()

  /** `evict` begins to give up a copy once more, and is false where that cannot be. */
  constructor(evict: (page: number) => boolean) {
    this.#evict = evict
  }

  /** The evictions of `pages` have begun; `done` is called when all are over. */
  add(pages: Set<number>, done: () => void): void {
    const range = { pages, done }
    this.#ranges.add(range)
    this.#finish(range)
  }

  /** The eviction of a page is over, also where a thread has asked for it meanwhile and it is here again. */
  gone(page: number): void {
    for (const range of this.#ranges) if (range.pages.delete(page)) this.#finish(range)
  }

  /**
   * After a recovery it starts again. A page that can no longer be given up (this rank may be its home now) is dropped
   * from the list.
   */
  beginAgain(): void {
    for (const range of this.#ranges) {
      for (const page of [...range.pages]) if (!this.#evict(page)) range.pages.delete(page)
      this.#finish(range)
    }
  }

  #finish(range: Range): void {
    if (range.pages.size === 0 && this.#ranges.delete(range)) range.done()
  }
}
