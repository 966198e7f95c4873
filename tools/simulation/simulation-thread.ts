import type { Access, Observation } from './access.ts'
import { PageRight } from './observer.ts'

/** What a thread asks of the node it runs at. */
export interface ThreadHost {
  right(page: number): number
  demand(page: number, write: boolean): void
  /** Make the access now; what it saw and left. */
  access(access: Access, value: number): Observation
  evictSome(): void
}

/**
 * A thread of the program: accesses one after the other, waiting for the rights that it lacks, as after a page fault.
 */
export class SimulationThread {
  readonly history: Observation[] = []
  readonly #accesses: readonly Access[]
  /** Makes what it stores unlike everything else. */
  readonly #tag: number
  #position = 0
  #thinksUntilNs = 0
  #waiting = false
  #sealed = false

  constructor(accesses: readonly Access[], tag: number) {
    this.#accesses = accesses
    this.#tag = tag
  }

  get done(): boolean {
    return this.#sealed || this.#position === this.#accesses.length
  }

  /** When it has something to do by itself; Infinity while it waits. */
  get wakeNs(): number {
    return this.done || this.#waiting ? Number.POSITIVE_INFINITY : this.#thinksUntilNs
  }

  /** It waits for this page, and has what it waits for: until it has run, the page must stay. */
  needs(page: number, right: number): boolean {
    const access = this.#accesses[this.#position]
    return this.#waiting && !this.#sealed && access !== undefined && access.page === page && right >= rightFor(access)
  }

  /** The rights on a page have changed, so a thread that waits for it looks again. */
  rightChanged(page: number): void {
    if (this.#accesses[this.#position]?.page === page) this.#waiting = false
  }

  /** The page is lost: an access that waits for it fails, and the program goes on without. */
  failed(page: number): void {
    if (!this.#waiting || this.#accesses[this.#position]?.page !== page) return
    this.#waiting = false
    this.#position += 1
  }

  /** Its node is out of the group, and its actions no longer count. */
  seal(): void {
    this.#sealed = true
  }

  /** Go on as far as possible; true where an access was made. */
  run(nowNs: number, host: ThreadHost): boolean {
    const access = this.#accesses[this.#position]
    if (access === undefined || this.#sealed || this.#waiting || nowNs < this.#thinksUntilNs) return false
    if (host.right(access.page) < rightFor(access)) {
      this.#waiting = true
      host.demand(access.page, access.kind !== 'load')
      return false
    }
    this.history.push(host.access(access, this.#tag + this.#position))
    this.#position += 1
    this.#thinksUntilNs = nowNs + access.thinkNs
    if (access.evicts) host.evictSome()
    return true
  }
}

function rightFor(access: Access): number {
  return access.kind === 'load' ? PageRight.Read : PageRight.Write
}
