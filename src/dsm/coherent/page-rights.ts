import { DefectError } from '../../native/index.ts'
import type { Mmu } from '../mmu/mmu.ts'
import { PageRight, type PageWords } from '../mmu/page-words.ts'
import type { Demands } from './demands.ts'
import { Holds } from './holds.ts'
import type { RegionEvents } from './region-events.ts'
import type { RegionProcess } from './region-process.ts'

const NO_PAGE = -1

export interface PageRightsOptions {
  /** The region's name. */
  readonly region: string
  readonly process: RegionProcess
  readonly words: PageWords
  readonly mmu: Mmu
  readonly demands: Demands
  readonly events: RegionEvents
  /** Whether the page's frame has memory. */
  readonly hasMemory: (page: number) => boolean
  /** Whether the first touch of the page is to be seen. */
  readonly isMarker: (page: number) => boolean
  /** The page may be taken now. */
  readonly retry: (page: number) => void
}

/**
 * What the program of one process may do with each page: by its word for explicit calls, by the page table for views.
 * Both are changed together. A page that was just granted stays for a while (see {@link Holds}).
 */
export class PageRights {
  readonly #options: PageRightsOptions
  readonly #holds: Holds
  /** Pages that user threads have pinned and that others wait for. */
  readonly #pinned = new Set<number>()
  /** The page that the lane has opened and that the protocol is being told of. */
  #opened = NO_PAGE

  constructor(options: PageRightsOptions) {
    const { process, words, demands, retry: release } = options
    this.#options = options
    this.#holds = new Holds({
      runtime: process.runtime,
      threadTurns: (thread) => process.threadTurns(thread),
      isFresh: (page) => words.isFresh(page),
      waiterOf: (page) => demands.waiterOf(page),
      release,
    })
  }

  grant(page: number, right: number): void {
    const { words, mmu, demands, events, process, isMarker, hasMemory } = this.#options
    if (!hasMemory(page)) this.#defect(page, 'it is granted without memory')
    const isOpen = page === this.#opened
    // What the lane has opened may have been written by now.
    events.granting(page, right, isOpen ? undefined : words.right(page))
    const demand = demands.take(page)
    if (demand !== undefined) {
      this.#holds.begin(page, demand.thread, demand.turns)
      events.answered(page, right, process.clockNs() - demand.sinceNs)
    }
    // A marker is left unmapped, so that the first touch is seen.
    if (!isOpen && (demand !== undefined || !isMarker(page))) {
      if (right === PageRight.Write) mmu.mapWritable(page)
      else mmu.mapReadOnly(page)
    }
    words.grant(page, right)
  }

  /** The lane has opened the page; `ask` tells the protocol, which may not grant it at once. */
  grantOpened(page: number, right: number, ask: () => void): void {
    const { words, mmu } = this.#options
    this.#opened = page
    ask()
    this.#opened = NO_PAGE
    if (words.right(page) < right) mmu.unmap(page)
    else this.#holds.begin(page, 0, 0)
  }

  /** The page can only be read from now on. */
  protect(page: number): void {
    const { words, mmu, events } = this.#options
    this.#mustBeLoose(page)
    mmu.protect(page)
    words.take(page, PageRight.Read)
    events.protected(page)
  }

  /** No thread has the page pinned, nor can: views can only read it from now on, too. */
  protectViews(page: number): void {
    this.#options.mmu.protect(page)
  }

  /** The page can only be read from now on, for no other rank. False where a thread has it pinned: it goes on. */
  tryStill(page: number): boolean {
    const { words, mmu } = this.#options
    const isStill = !words.isPinned(page) && words.want(page)
    if (isStill) {
      mmu.protect(page)
      words.take(page, PageRight.Read)
    } else if (!this.#pinned.has(page)) words.take(page, words.right(page))
    return isStill
  }

  /** The program can no longer use the page; `givenUp`: for no other rank. */
  unmap(page: number, givenUp: boolean): void {
    const { words, mmu, events } = this.#options
    this.#mustBeLoose(page)
    mmu.unmap(page)
    const had = words.right(page)
    words.take(page, PageRight.None)
    events.unmapped(page, had, givenUp)
  }

  /** Whether the page cannot be taken just now. Then `retry` is called when it can. */
  mustHold(page: number): boolean {
    const { words, events } = this.#options
    if (this.#holds.mustStay(page)) {
      events.held()
      return true
    }
    if (words.want(page)) return false
    this.#pinned.add(page)
    return true
  }

  /** In use just now, or about to be. */
  isBusy(page: number): boolean {
    return this.#options.words.isPinned(page) || this.#holds.isHeld(page)
  }

  /** User threads may have released pages (they ring): serve requests that wait for those. */
  retryPinned(): void {
    const pages = [...this.#pinned]
    this.#pinned.clear()
    for (const page of pages) this.#options.retry(page)
  }

  /** Its bytes are going to be sent. */
  mustNotBeWritable(page: number): void {
    if (this.#options.words.right(page) === PageRight.Write)
      this.#defect(page, 'it is sent while the program may write it')
  }

  /** Its memory is going to be given back. */
  mustBeGone(page: number): void {
    if (this.#options.words.right(page) !== PageRight.None)
      this.#defect(page, 'its memory is given back while it is here')
  }

  /** What would otherwise be written behind the back of a thread that copies, or be copied half. */
  #mustBeLoose(page: number): void {
    if (this.#options.words.isPinned(page)) this.#defect(page, 'it is taken away while a thread has it pinned')
  }

  /** Going on would corrupt memory: the process ends. */
  #defect(page: number, what: string): never {
    throw new DefectError(`page ${page} of region '${this.#options.region}': ${what}`)
  }
}
