import type { Mesh } from '../../cluster/index.ts'
import { PageRight, type PageWords } from '../mmu/page-words.ts'
import type { FrameMemory } from './frame-memory.ts'
import type { FrameUnits } from './frame-units.ts'
import { GivingUp } from './giving-up.ts'
import { PageCache } from './page-cache.ts'
import type { PageRights } from './page-rights.ts'
import type { PageRange } from './readahead.ts'
import type { RegionEvents } from './region-events.ts'
import { pageCount, type RegionPlan } from './region-plan.ts'
import type { RegionProcess } from './region-process.ts'

const NO_PAGE = -1

export interface PageEvictionsOptions {
  readonly plan: RegionPlan
  readonly process: RegionProcess
  readonly mesh: Mesh
  readonly words: PageWords
  readonly rights: PageRights
  readonly units: FrameUnits
  readonly memory: FrameMemory
  readonly events: RegionEvents
  /** Whether this rank is the page's home by now. */
  readonly isHome: (page: number) => boolean
  /** Begin to give up the copy; false where that cannot be. */
  readonly evict: (page: number) => boolean
}

/**
 * Copies of other ranks' pages that leave: those for which there is no room, and those that the program gives up. A
 * node tells home, and answers for the page until home agrees. Home fetches written bytes itself: a late push could
 * overwrite a newer owner's stores.
 */
export class PageEvictions {
  readonly #options: PageEvictionsOptions
  readonly #cache: PageCache
  readonly #givingUp = new GivingUp((page) => this.#begin(page))
  /** The page that is being given up: it is not taken away meanwhile. */
  #evicting = NO_PAGE
  #isClosed = false

  constructor(options: PageEvictionsOptions) {
    const { plan, process, units, words, rights } = options
    const { runtime } = process
    this.#options = options
    this.#cache = new PageCache({
      limitBytes: plan.cacheBytes,
      unitBytes: units.unitBytes,
      pageBytes: plan.pageSize,
      now: () => runtime.now(),
      at: (ns, run) => runtime.timers.at(ns, run),
      isHere: (page) => words.right(page) !== PageRight.None,
      isBusy: (page) => rights.isBusy(page),
      takeUsed: (page) => words.takeUsed(page),
      evict: (page) => this.#evict(page),
      release: (unit, isUnused, done) => this.#releaseUnit(unit, isUnused, done),
    })
  }

  /** Bytes of copies. */
  get cachedBytes(): number {
    return this.#cache.usedBytes
  }

  /** Whether the page may be asked for now. Where not, `run` is called when it may. */
  tryEnter(page: number, run: () => void): boolean {
    return this.#options.isHome(page) || this.#cache.tryEnter(page, run)
  }

  /** The page's frame is going to be written. */
  enter(page: number): void {
    if (!this.#options.isHome(page)) this.#cache.enter(page)
  }

  /** The page is here, for a thread's use. */
  granted(page: number): void {
    if (!this.#options.isHome(page)) this.#cache.granted(page)
    this.#givingUp.gone(page)
  }

  /** The copy is gone. */
  evicted(page: number): void {
    this.#cache.evicted(page)
    this.#givingUp.gone(page)
  }

  /** Whether the page is being given up just now, and not taken away. */
  isEvicting(page: number): boolean {
    return page === this.#evicting
  }

  /** Give up the copies of a range that can be given up now; `done` is called when they are gone. */
  giveUp({ from, to }: PageRange, done: () => void): void {
    const { words, rights } = this.#options
    const pages = new Set<number>()
    for (let page = from; page < to; page += 1)
      if (words.right(page) !== PageRight.None && !rights.isBusy(page) && this.#evict(page)) pages.add(page)
    this.#givingUp.add(pages, done)
  }

  /** After a death: what was being given up has been forgotten. */
  recovered(): void {
    this.#givingUp.beginAgain()
    this.#cache.recovered()
  }

  /** Nothing is evicted any more. */
  close(): void {
    this.#isClosed = true
    this.#cache.close()
  }

  #evict(page: number): boolean {
    const { events } = this.#options
    const begun = this.#begin(page)
    if (begun) events.evicting()
    events.changed(page)
    return begun
  }

  #begin(page: number): boolean {
    if (this.#isClosed) return false
    this.#evicting = page
    const begun = this.#options.evict(page)
    this.#evicting = NO_PAGE
    return begun
  }

  /** What leaves may still be on its way: it is read until the peers have acknowledged it. */
  #releaseUnit(unit: number, isUnused: () => boolean, done: () => void): void {
    this.#options.mesh.afterWrites(() => {
      if (isUnused() && !this.#hasInherited(unit)) this.#release(unit)
      done()
    })
  }

  #release(unit: number): void {
    const { rights, memory } = this.#options
    for (const page of this.#pagesOf(unit)) rights.mustBeGone(page)
    memory.release(unit)
  }

  /** A dead home's pages may have become ours: then the unit is their memory. */
  #hasInherited(unit: number): boolean {
    for (const page of this.#pagesOf(unit)) if (this.#options.isHome(page)) return true
    return false
  }

  *#pagesOf(unit: number): Generator<number> {
    const { plan, units } = this.#options
    const end = Math.min(pageCount(plan.size, plan.pageSize), Math.ceil(((unit + 1) * units.unitBytes) / plan.pageSize))
    for (let page = Math.floor((unit * units.unitBytes) / plan.pageSize); page < end; page += 1) yield page
  }
}
