import { AetherError, ClosedError, TimeoutError } from '../../native/index.ts'
import type { Agent } from '../../runtime/index.ts'
import { KeepAlive } from '../../runtime/index.ts'
import { MemoryExhaustedError } from '../errors.ts'
import { PageRight, type PageWords, PinResult } from '../mmu/page-words.ts'
import type { DemandRing } from './demand-ring.ts'
import { NO_HOME } from './placement.ts'
import type { PageFailure } from './region-plan.ts'

/** A page is lost: its only copy, or its home, was at a member that died. */
export class PageLostError extends AetherError {
  override readonly name = 'PageLostError'
  readonly region: string
  readonly page: number
  /** The rank whose end lost the page. */
  readonly rank: number

  constructor(region: string, page: number, rank: number) {
    super(
      'ERR_AETHER_PAGE_LOST',
      `page ${page} of region '${region}' is lost: its only copy or its home was at rank ${rank}, which has died`,
    )
    this.region = region
    this.page = page
    this.rank = rank
  }
}

export interface PageAccessOptions {
  readonly region: string
  readonly id: number
  readonly pageSize: number
  readonly words: PageWords
  readonly demands: DemandRing
  readonly agent: Agent
  readonly homeOf: (page: number) => number
}

/** How long an explicit call waits for one page. */
const PAGE_MS_MAX = 30_000
/** How long to wait for the agent to say why a page failed. */
const FAILURE_MS = 5000
/** How often a full ring is tried again. */
const RING_FULL_MS = 1

/** The user's thread asking for pages: it pins those that are here, and has the agent fetch the others. */
export class PageAccess {
  readonly #options: PageAccessOptions
  readonly #keepAlive = new KeepAlive()
  /** Pages that asynchronous calls wait for. */
  readonly #awaited = new Set<number>()
  #closed = false

  constructor(options: PageAccessOptions) {
    this.#options = options
  }

  /** Calls that wait for a page throw ClosedError. */
  close(): void {
    this.#closed = true
    for (const page of this.#awaited) this.#options.words.wakeAll(page)
  }

  /** Pin `page` with `right` if it is here now. */
  tryPin(page: number, right: number): boolean {
    if (this.#closed) throw new ClosedError(`region '${this.#options.region}'`)
    const result = this.#options.words.tryPin(page, right)
    if (result === PinResult.Failed) throw this.#lost(page)
    return result === PinResult.Pinned
  }

  unpin(page: number): void {
    if (this.#options.words.unpin(page)) this.#options.agent.ring()
  }

  /** Pin `page`, waiting for it without blocking. */
  async pin(page: number, right: number, signal: AbortSignal | undefined): Promise<void> {
    const deadline = performance.now() + PAGE_MS_MAX
    while (!this.tryPin(page, right)) {
      signal?.throwIfAborted()
      const seen = this.#options.words.announceWait(page, right)
      if (seen === undefined) continue
      while (!this.ask(page, right)) await new Promise((resolve) => setTimeout(resolve, RING_FULL_MS))
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw this.#late(page)
      await this.#keepAlive.during(this.#change(page, seen, leftMs, signal))
    }
  }

  /** Pin `page`, blocking the thread until it is here. */
  pinSync(page: number, right: number): void {
    const { words } = this.#options
    const deadline = performance.now() + PAGE_MS_MAX
    while (!this.tryPin(page, right)) {
      const seen = words.announceWait(page, right)
      if (seen === undefined) continue
      while (!this.ask(page, right)) words.waitSync(page, seen, RING_FULL_MS)
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw this.#late(page)
      words.waitSync(page, seen, leftMs)
    }
  }

  /** Whether `page` is here with `right` just now. */
  isHere(page: number, right: number): boolean {
    return this.#options.words.right(page) >= right
  }

  /** Have the agent fetch `page`, without waiting. False if it is overloaded just now. */
  ask(page: number, right: number): boolean {
    const { demands, agent, id } = this.#options
    const pushed = demands.tryPush(id, page, right === PageRight.Write)
    agent.ring()
    return pushed
  }

  async #change(page: number, seen: number, leftMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { words } = this.#options
    this.#awaited.add(page)
    if (signal === undefined) {
      await words.wait(page, seen, leftMs)
      return
    }
    let onAbort = (): void => {}
    const aborted = new Promise<void>((resolve) => {
      onAbort = resolve
      signal.addEventListener('abort', onAbort, { once: true })
    })
    await Promise.race([words.wait(page, seen, leftMs), aborted])
    signal.removeEventListener('abort', onAbort)
  }

  #lost(page: number): AetherError {
    const { region, pageSize, agent, id } = this.#options
    const failure = agent.commandSync('failure', { id, page }, FAILURE_MS) as PageFailure
    if (failure.kind === 'memberDied') return new PageLostError(region, page, failure.rank)
    const why = `rank ${failure.rank} has no memory left`
    return new MemoryExhaustedError(`page ${page} of region '${region}'`, pageSize, undefined, why)
  }

  #late(page: number): TimeoutError {
    const { region, homeOf } = this.#options
    const known = homeOf(page)
    const home = known === NO_HOME ? 'not decided' : `rank ${known}`
    return new TimeoutError(
      `page ${page} of region '${region}' did not arrive within ${PAGE_MS_MAX} ms. Its home is ${home}. Check whether a rank is stopped or has not opened the region`,
    )
  }
}
