import type { RegionProcess } from './region-process.ts'

/** Since when a page is waited for, and which thread faulted on it (0: an explicit call). */
export interface Demand {
  readonly sinceNs: number
  readonly write: boolean
  readonly thread: number
  /** How often the thread had been on a processor. */
  readonly turns: number
}

/** Not looked up yet. */
const TURNS_UNKNOWN = -2

/** Pages that threads of this process wait for. */
export class Demands {
  readonly #process: RegionProcess
  readonly #demands = new Map<number, Demand>()

  constructor(process: RegionProcess) {
    this.#process = process
  }

  /** A call does not take the place of a thread that has faulted. */
  add(page: number, write: boolean, thread: number): void {
    if (thread === 0 && this.#demands.has(page)) return
    const turns = thread === 0 ? 0 : TURNS_UNKNOWN
    this.#demands.set(page, { sinceNs: this.#process.runtime.now(), write, thread, turns })
  }

  has(page: number): boolean {
    return this.#demands.has(page)
  }

  /** The thread that faulted on the page and waits for it; 0 where there is none. */
  waiterOf(page: number): number {
    return this.#demands.get(page)?.thread ?? 0
  }

  /** The request is under way: what the grant will need to know of the thread is looked up meanwhile. */
  lookUp(page: number): void {
    const demand = this.#demands.get(page)
    if (demand !== undefined) this.#demands.set(page, this.#known(demand))
  }

  /** It is waited for no longer. Undefined where it was not. */
  take(page: number): Demand | undefined {
    const demand = this.#demands.get(page)
    this.#demands.delete(page)
    return demand && this.#known(demand)
  }

  clear(): void {
    this.#demands.clear()
  }

  /** Those first that are waited for longest, more or less. */
  *[Symbol.iterator](): Iterator<Demand & { readonly page: number }> {
    for (const [page, demand] of this.#demands) yield { page, ...demand }
  }

  #known(demand: Demand): Demand {
    return demand.turns === TURNS_UNKNOWN ? { ...demand, turns: this.#process.threadTurns(demand.thread) } : demand
  }
}
