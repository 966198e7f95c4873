import { type DemandRing, type PageWords, PinResult } from 'aether-dsm/internal/dsm'
import type { Access } from './access.ts'
import { rightFor, SimulationThread, type ThreadHost } from './simulation-thread.ts'

/** What explicit calls share with the agent. */
export interface CallHost extends ThreadHost {
  readonly region: number
  readonly words: PageWords
  readonly demands: DemandRing
  /** Wake the agent. */
  ring(): void
  /** The page cannot be had. */
  refused(page: number): void
}

const NO_PAGE = -1

/** A thread that reads and writes by explicit calls: it pins a page, copies for a while, and lets go. */
export class CallThread extends SimulationThread {
  readonly #host: CallHost
  #pinned = NO_PAGE
  #waitsFor = NO_PAGE

  constructor(host: CallHost, accesses: readonly Access[], tag: number) {
    super(host, accesses, tag)
    this.#host = host
  }

  /** The agent has had its turn: a thread that it has woken goes on. */
  agentRan(): void {
    if (this.#waitsFor === NO_PAGE || this.#host.words.hasSleepers(this.#waitsFor)) return
    this.#waitsFor = NO_PAGE
    this.wake()
  }

  protected attempt(access: Access): void {
    // It sleeps, and something else has woken its process.
    if (this.#waitsFor !== NO_PAGE) return
    if (this.#pinned === NO_PAGE) this.#pin(access)
    else this.#copy(access)
  }

  #pin(access: Access): void {
    const { words, nowNs } = this.#host
    const { page, copyNs } = access
    const pinned = words.tryPin(page, rightFor(access))
    if (pinned === PinResult.Failed) this.#fail(access)
    else if (pinned === PinResult.NotHere) this.#ask(access)
    else {
      this.#pinned = page
      if (copyNs === 0) this.#copy(access)
      else this.wakeAt(nowNs + copyNs)
    }
  }

  #copy(access: Access): void {
    const { words } = this.#host
    const page = this.#pinned
    this.#pinned = NO_PAGE
    this.make(access)
    if (words.unpin(page)) this.#host.ring()
  }

  #ask(access: Access): void {
    const { words, demands, region } = this.#host
    const right = rightFor(access)
    if (words.announceWait(access.page, right) === undefined) {
      this.wake()
      return
    }
    if (!demands.tryPush(region, access.page, access.kind !== 'load')) throw new Error('the ring of demands is full')
    this.#waitsFor = access.page
    this.#host.ring()
  }

  /** The call throws, and the program goes on. */
  #fail(access: Access): void {
    this.#waitsFor = access.page
    this.#host.explainFailure(access.page, (failure) => {
      this.#waitsFor = NO_PAGE
      if (failure?.kind === 'memberDied') this.#host.refused(access.page)
      this.next(access)
    })
  }
}
