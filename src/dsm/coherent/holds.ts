import type { Runtime } from '../../runtime/index.ts'

/** A page that was just granted stays so long at least. */
const HOLD_NS = 20_000
/**
 * Then until the thread that asked for it has run, looked at so often (the agent sleeps in between: it must not take
 * that thread's processor).
 */
const LOOK_AGAIN_NS = 50_000
/** But never longer. */
const HOLD_NS_MAX = 20_000_000

interface Hold {
  readonly sinceNs: number
  /** The thread that faulted and how often it had been on a processor then; 0 where the wait was not a fault. */
  readonly thread: number
  readonly turns: number
}

export interface HoldsOptions {
  readonly runtime: Runtime
  /** How often a thread has been on a processor. */
  readonly threadTurns: (thread: number) => number
  /** True while a thread that waited through an explicit call has yet to run. */
  readonly isFresh: (page: number) => boolean
  /** The thread that faulted on the page and waits for it; 0 where there is none. */
  readonly waiterOf: (page: number) => number
  /** The page may be taken now. */
  readonly release: (page: number) => void
}

/**
 * Keeps granted pages long enough to be of use. Otherwise, if two nodes want one page, nearly every grant would be
 * taken away before the thread that asked for it runs. Neither would make progress.
 */
export class Holds {
  readonly #options: HoldsOptions
  readonly #holds = new Map<number, Hold>()
  /** Pages for which a timer is set: one for each, however often it is asked whether the page must stay. */
  readonly #looks = new Set<number>()

  constructor(options: HoldsOptions) {
    this.#options = options
  }

  /**
   * A page is about to be granted to `thread` (0: not a fault). The thread sleeps; it had been on a processor `turns`
   * times when it faulted.
   */
  begin(page: number, thread: number, turns: number): void {
    this.#holds.set(page, { sinceNs: this.#options.runtime.now(), thread, turns })
  }

  /** Whether the page has to stay just now. Nothing is called later. */
  isHeld(page: number): boolean {
    const hold = this.#holds.get(page)
    return hold !== undefined && this.#stays(page, hold)
  }

  /** Whether the page must stay. Where it must, `release` is called in bounded time. */
  mustStay(page: number): boolean {
    const hold = this.#holds.get(page)
    if (hold === undefined) return false
    const nowNs = this.#options.runtime.now()
    const stays = this.#stays(page, hold)
    if (stays) this.#lookAgain(page, nowNs - hold.sinceNs < HOLD_NS ? hold.sinceNs + HOLD_NS : nowNs + LOOK_AGAIN_NS)
    else this.#holds.delete(page)
    return stays
  }

  #lookAgain(page: number, atNs: number): void {
    if (this.#looks.has(page)) return
    this.#looks.add(page)
    this.#options.runtime.timers.at(atNs, () => {
      this.#looks.delete(page)
      this.#options.release(page)
    })
  }

  #stays(page: number, hold: Hold): boolean {
    const heldNs = this.#options.runtime.now() - hold.sinceNs
    return heldNs < HOLD_NS || (heldNs < HOLD_NS_MAX && this.#isNeeded(page, hold))
  }

  #isNeeded(page: number, hold: Hold): boolean {
    return !this.#hasRun(page, hold) || this.#needsNext(page, hold.thread)
  }

  /**
   * An access that lies on two pages needs both at once: while its thread waits for the second, and until it has run
   * with it, the first stays. The lower page waits for the higher one and never the other way round, so two that have
   * one each do not wait for each other.
   */
  #needsNext(page: number, thread: number): boolean {
    if (thread === 0) return false
    const next = this.#holds.get(page + 1)
    return this.#options.waiterOf(page + 1) === thread || (next?.thread === thread && !this.#hasRun(page + 1, next))
  }

  #hasRun(page: number, hold: Hold): boolean {
    if (hold.thread !== 0) return this.#options.threadTurns(hold.thread) !== hold.turns
    return !this.#options.isFresh(page)
  }
}
