import { type Mmu, PageRight, type PageWords } from 'aether-dsm/internal/dsm'

/** The page table of the views of one process, as userfaultfd(2) changes it. */
export class SimulatedMmu implements Mmu {
  readonly #words: PageWords
  readonly #rights: Uint8Array
  readonly #onWake: (page: number) => void

  /** `onWake`: threads that have faulted on the page go on. */
  constructor(words: PageWords, pages: number, onWake: (page: number) => void) {
    this.#words = words
    this.#rights = new Uint8Array(pages)
    this.#onWake = onWake
  }

  right(page: number): number {
    return this.#rights[page]!
  }

  mapReadOnly(page: number): void {
    this.#install(page, PageRight.Read)
  }

  /** A page that may be read already and was never touched stays out: its first touch faults. */
  mapWritable(page: number): void {
    const right = this.#words.right(page)
    if (right !== PageRight.None && this.#rights[page] === PageRight.Read) this.#rights[page] = PageRight.Write
    if (right !== PageRight.Read) this.#install(page, PageRight.Write)
    this.#onWake(page)
  }

  protect(page: number): void {
    if (this.#rights[page] === PageRight.Write) this.#rights[page] = PageRight.Read
  }

  unmap(page: number): void {
    this.#rights[page] = PageRight.None
    this.#onWake(page)
  }

  /** What is installed stays as it is. */
  #install(page: number, right: number): void {
    if (this.#rights[page] === PageRight.None) this.#rights[page] = right
    this.#onWake(page)
  }
}
