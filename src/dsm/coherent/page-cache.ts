/** How often busy pages are looked at again, and requests that wait for room are let in. */
const LOOK_AGAIN_NS = 50_000
/** A page that is to be given back after its use stays at least so long. */
const USE_NS = 20_000
/** Where something of every unit is in use, an access does not wait longer for room: the bound gives way. */
const WAIT_NS_MAX = 20_000_000
/** Nor longer than this where homes do not take back what is evicted. */
const SILENCE_NS_MAX = 5e9

/** Fewer would leave no room for an access that lies on two pages while others are under way. */
const UNITS_MIN = 4

/** What the cache asks of its region. */
export interface PageCacheOptions {
  /**
   * The most that frames of other ranks' pages may occupy; 0: a page is given back after each use; undefined: no bound.
   */
  readonly limitBytes: number | undefined
  /** Frames are given back in units of this many bytes. */
  readonly unitBytes: number
  readonly pageBytes: number
  readonly now: () => number
  readonly at: (ns: number, run: () => void) => void
  /** Whether anything may be done with the page here. */
  readonly isHere: (page: number) => boolean
  /** Pinned, or just granted. */
  readonly isBusy: (page: number) => boolean
  /** Whether an explicit call has used the page since this was asked last. */
  readonly takeUsed: (page: number) => boolean
  /** Begin to give up the copy; `evicted` follows. False where that cannot be now. */
  readonly evict: (page: number) => boolean
  /**
   * Give the memory of a unit back to the kernel once nothing is on its way out of it, then call `done`. The memory
   * stays if the unit was used again in the meantime (`isUnused`) or holds pages whose home this rank is.
   */
  readonly release: (unit: number, isUnused: () => boolean, done: () => void) => void
}

/** A unit of frames with pages of other ranks. */
interface Unit {
  readonly pages: Set<number>
  /** A page of it was granted since the hand of the clock last passed. */
  referenced: boolean
  leaving: boolean
  releasing: boolean
  /** How often a page has come into it. */
  uses: number
}

/**
 * Keeps the memory for pages of other ranks within a bound. Units of frames are counted and given back, because memory
 * is registered and returned to the kernel by units. A unit leaves as a whole: its pages are evicted, pages that were
 * written are written back, then it is deregistered.
 *
 * A clock chooses the unit that leaves. Units stand in a ring in the order in which they came. A unit that has been
 * used since the hand passed is spared once. Only grants and explicit calls count as use; loads and stores of views go
 * unseen.
 */
export class PageCache {
  readonly #options: PageCacheOptions
  readonly #limitBytes: number
  /** The ring; its start is the hand. */
  readonly #units = new Map<number, Unit>()
  readonly #waiting: { readonly sinceNs: number; readonly page: number; readonly run: () => void }[] = []
  #looking = false
  #closed = false

  constructor(options: PageCacheOptions) {
    this.#options = options
    const { limitBytes = Number.POSITIVE_INFINITY, unitBytes } = options
    this.#limitBytes = Math.max(limitBytes, UNITS_MIN * unitBytes)
  }

  /** Bytes that count. */
  get usedBytes(): number {
    return this.#units.size * this.#options.unitBytes
  }

  /** Whether the page may be asked for now. Where not, `run` is called when it may. */
  tryEnter(page: number, run: () => void): boolean {
    if (this.#isUnbounded || this.#units.has(this.#unitOf(page)) || this.#fits(1)) {
      this.enter(page)
      return true
    }
    this.#waiting.push({ sinceNs: this.#options.now(), page, run })
    this.#makeRoom()
    return false
  }

  /** The page's frame is going to be written. */
  enter(page: number): void {
    if (this.#isUnbounded) return
    const index = this.#unitOf(page)
    let unit = this.#units.get(index)
    if (unit === undefined) {
      unit = { pages: new Set(), referenced: false, leaving: false, releasing: false, uses: 0 }
      this.#units.set(index, unit)
      // One is kept free, so that the next one need not wait.
      if (!this.#fits(1)) this.#makeRoom()
    }
    unit.pages.add(page)
    unit.uses += 1
    unit.leaving = false
  }

  /** The page is here, for a thread's use. */
  granted(page: number): void {
    const unit = this.#units.get(this.#unitOf(page))
    if (unit !== undefined) unit.referenced = true
    if (this.#options.limitBytes === 0) this.#giveBackAt(page, this.#options.now() + USE_NS)
  }

  /** The copy is gone. */
  evicted(page: number): void {
    const index = this.#unitOf(page)
    const unit = this.#units.get(index)
    unit?.pages.delete(page)
    if (unit?.pages.size === 0 && (unit.leaving || this.#options.limitBytes === 0)) this.#release(index, unit)
  }

  /** Evictions that were under way have been forgotten. Units that are leaving are looked at again anyway. */
  recovered(): void {
    if (this.#options.limitBytes !== 0) return
    for (const { pages } of this.#units.values())
      for (const page of pages) this.#giveBackAt(page, this.#options.now() + USE_NS)
  }

  /** Nothing is evicted any more. */
  close(): void {
    this.#closed = true
  }

  get #isUnbounded(): boolean {
    return this.#limitBytes === Number.POSITIVE_INFINITY
  }

  #unitOf(page: number): number {
    return Math.floor((page * this.#options.pageBytes) / this.#options.unitBytes)
  }

  /** Room for `more` units beside those that stay. */
  #fits(more: number): boolean {
    return (this.#units.size + more) * this.#options.unitBytes <= this.#limitBytes
  }

  /** Have units leave until those that stay leave room for one more. */
  #makeRoom(): void {
    const staying = [...this.#units].filter(([, { leaving }]) => !leaving)
    let surplus = (staying.length + 1) * this.#options.unitBytes - this.#limitBytes
    // Twice around at most: the first time all may be spared.
    for (const [index, unit] of [...staying, ...staying]) {
      if (surplus <= 0) break
      if (unit.leaving) continue
      if (this.#spare(index, unit)) continue
      unit.leaving = true
      this.#empty(index, unit)
      if (unit.leaving) surplus -= this.#options.unitBytes
    }
    this.#lookAgain()
  }

  /** The hand passes: a unit that was used goes to the end of the ring. */
  #spare(index: number, unit: Unit): boolean {
    let used = unit.referenced
    for (const page of unit.pages) used = this.#options.takeUsed(page) || used
    unit.referenced = false
    if (used) this.#toEnd(index, unit)
    return used
  }

  /** Evict what can be evicted now. Where something is in use, others are to leave in its stead. */
  #empty(index: number, unit: Unit): void {
    const { isBusy, evict } = this.#options
    if (unit.pages.size === 0) this.#release(index, unit)
    for (const page of [...unit.pages]) if (!isBusy(page)) evict(page)
    if (!this.#isInUse(unit)) return
    unit.leaving = false
    this.#toEnd(index, unit)
  }

  #isInUse(unit: Unit): boolean {
    for (const page of unit.pages) if (this.#options.isBusy(page)) return true
    return false
  }

  #toEnd(index: number, unit: Unit): void {
    this.#units.delete(index)
    this.#units.set(index, unit)
  }

  #release(index: number, unit: Unit): void {
    if (unit.releasing) return
    unit.releasing = true
    // A page that has come and gone in the meantime may still be on its way out.
    const { uses } = unit
    const isUnused = (): boolean => unit.pages.size === 0 && unit.uses === uses
    this.#options.release(index, isUnused, () => {
      unit.releasing = false
      if (isUnused()) this.#units.delete(index)
      else if (unit.pages.size === 0) this.#release(index, unit)
      this.#letIn()
    })
  }

  #letIn(): void {
    while (this.#waiting.length > 0) {
      const { sinceNs, page, run } = this.#waiting[0]!
      const mayEnter = this.#units.has(this.#unitOf(page)) || this.#fits(1) || this.#givesWay(sinceNs)
      if (!mayEnter) return
      this.#waiting.shift()
      this.enter(page)
      run()
    }
  }

  #givesWay(sinceNs: number): boolean {
    const waitedNs = this.#options.now() - sinceNs
    if (waitedNs < WAIT_NS_MAX) return false
    return waitedNs >= SILENCE_NS_MAX || [...this.#units.values()].every((unit) => this.#isInUse(unit))
  }

  /** Busy pages come to rest without a word. */
  #lookAgain(): void {
    const isLeaving = [...this.#units.values()].some(({ leaving }) => leaving)
    if (this.#looking || !(isLeaving || this.#waiting.length > 0)) return
    this.#looking = true
    const { now, at } = this.#options
    at(now() + LOOK_AGAIN_NS, () => {
      this.#looking = false
      if (this.#closed) return
      for (const [index, unit] of [...this.#units]) if (unit.leaving) this.#empty(index, unit)
      this.#letIn()
      if (this.#waiting.length > 0) this.#makeRoom()
      else this.#lookAgain()
    })
  }

  #giveBackAt(page: number, ns: number): void {
    const { at, now, isBusy, isHere, evict } = this.#options
    at(ns, () => {
      if (this.#closed) return
      // It may be pinned between the question and the deed, too.
      if (isBusy(page) || (!evict(page) && isHere(page))) this.#giveBackAt(page, now() + LOOK_AGAIN_NS)
    })
  }
}
