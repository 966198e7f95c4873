import { FaultAnswer } from '../../native/index.ts'
import { PageRight, type PageWords } from '../mmu/page-words.ts'
import type { Demands } from './demands.ts'
import type { ReadFault } from './fault-lane.ts'
import type { HomeClaims } from './home-claims.ts'
import type { PageEvictions } from './page-evictions.ts'
import type { PageFailures } from './page-failures.ts'
import type { PageRights } from './page-rights.ts'
import type { PageRange, Readahead } from './readahead.ts'
import type { RegionEvents } from './region-events.ts'

export interface PageRequestsOptions {
  readonly words: PageWords
  readonly rights: PageRights
  readonly demands: Demands
  readonly claims: HomeClaims
  readonly readahead: Readahead
  readonly evictions: PageEvictions
  readonly failures: PageFailures
  readonly events: RegionEvents
  /** Whether the page is asked for later: it has yet to be kept elsewhere. */
  readonly defers: (page: number, write: boolean) => boolean
  /** A peer is going to write into its frame. False where there is no memory left for it. */
  readonly reserve: (page: number) => boolean
  /** Have the node ask for it. */
  readonly ask: (page: number, write: boolean) => void
}

/**
 * What this rank asks for: pages that its threads wait for, and pages ahead of them. A page is asked for once its home
 * is known, there is room for it, and there is memory.
 */
export class PageRequests {
  readonly #options: PageRequestsOptions
  #isClosed = false

  constructor(options: PageRequestsOptions) {
    this.#options = options
  }

  /** A thread of this process wants `page`; `thread` is its id where it faulted, else 0. */
  demand(page: number, write: boolean, thread: number): void {
    const { demands, events, readahead, claims } = this.#options
    demands.add(page, write, thread)
    events.demanded(page, write, thread === 0 ? 'call' : 'touch')
    const ahead = thread === 0 ? undefined : readahead.faulted(page)
    if (claims.isKnown(page)) this.ask(page, write)
    else claims.claim(page, write)
    if (ahead !== undefined) this.#fetchAhead(ahead, write)
  }

  /** A thread has faulted on `page`, and that was answered where it was read. */
  answered(page: number, { write, answer, tookNs }: ReadFault): void {
    const { events, rights, readahead } = this.#options
    if (answer === FaultAnswer.Opened) {
      events.opened(page, write, tookNs)
      // It is a page of ours that no rank had: now the protocol is told.
      rights.grantOpened(page, write ? PageRight.Write : PageRight.Read, () => this.#fetch(page, write))
    }
    this.#fetchAhead(readahead.faulted(page), write)
  }

  /** The page's home is known. */
  ask(page: number, write: boolean): void {
    if (this.#options.evictions.tryEnter(page, () => this.#fetch(page, write))) this.#fetch(page, write)
  }

  /** Nothing is asked for any more. */
  close(): void {
    this.#isClosed = true
  }

  /** Pages that no thread waits for yet. A page without a home is left alone: its first user is to become its home. */
  #fetchAhead({ from, to }: PageRange, write: boolean): void {
    const { demands, words, claims, failures, events } = this.#options
    const right = write ? PageRight.Write : PageRight.Read
    for (let page = from; page < to; page += 1) {
      const isWanted = demands.has(page) || words.right(page) >= right
      if (isWanted || !claims.isKnown(page) || failures.get(page) !== undefined) continue
      events.demanded(page, write, 'prefetch')
      this.ask(page, write)
    }
  }

  #fetch(page: number, write: boolean): void {
    const { words, demands, events, defers, reserve, ask } = this.#options
    if (this.#isClosed || defers(page, write) || !reserve(page)) return
    words.touch(page)
    events.wanted(page, write)
    ask(page, write)
    events.changed(page)
    demands.lookUp(page)
  }
}
