import { native, TimeoutError } from '../../native/index.ts'
import { type WaitDescription, WatchedWait } from '../../profiling/index.ts'
import { LookBudget } from '../../runtime/index.ts'
import type { Meter } from '../figures/meter.ts'
import type { WordMemory } from '../memory/word-memory.ts'
import type { Peers } from '../peers.ts'
import { Ring } from './ring.ts'
import type { BlockOptions, WaitOptions } from './wait-options.ts'

/** Bytes that a bell takes in a structure's body. */
export const BELL_BYTES = 64

const Offset = { Sequence: 0, Wanted: 4, Members: 8 } as const
const MEMBER_WORDS = 8
const ALL = 0x7fffffff

/**
 * The longest sleep without a look. Being woken is the rule. This is for a change without a ring: the holder was
 * killed, or the process that should have rung.
 */
const LOOK_MS = 50

/** Tries once; undefined if it is not available yet. `ask`: take the time to find out whether the holder is alive. */
export type Attempt<T> = (ask: boolean) => T | undefined

/** Where a bell hangs: a heap, or other memory that members of a space share. */
export interface BellHome {
  readonly memory: WordMemory
  readonly peers: Peers
  /** @throws ClosedError */
  checkOpen(): void
}

/** Decides how long a waiter looks before it sleeps. */
type Budget = Pick<LookBudget, 'isLooking' | 'looksOn' | 'found' | 'leave'>

/** How a waiter with an ear of its own waits. */
interface EarOptions {
  readonly signal: AbortSignal | undefined
  readonly spinMs?: number
}

/** What is told of waits at a bell. */
export interface BellUse {
  /** Counts those who wait. */
  readonly meter?: Meter
  /**
   * Reports a wait that lasts, if a process holds what is waited for. No wait is reported for a consumer that waits for
   * work.
   */
  readonly describe?: () => WaitDescription
  /** Milliseconds until something changes without a ring: a waiter looks again by then. */
  readonly nextMs?: (withinMs: number) => number
}

/**
 * Waiting until something changes, and waking sleepers: threads by futex, event loops by their member's doorbell.
 *
 * ```
 *   0  sequence: futex word, raised with each ring
 *   4  wanted: 1 when a waiter may sleep
 *   8  a bit for each member whose event loop waits
 * ```
 *
 * 1. A waiter says that it wants to be woken, then tries once more, then sleeps.
 * 2. A process that changes something looks afterwards whether a waiter wants to be woken.
 *
 * In whatever order these steps come, the waiter sees the change or is seen. Without waiters a ring is one load.
 *
 * An event loop looks for a while before it sleeps, if that has paid recently: see {@link LookBudget}.
 */
export class Bell {
  readonly #heap: BellHome
  readonly #offset: number
  readonly #use: BellUse
  /** For what comes soon after the last, and for what comes soon after a ring: those who ring may do so in advance. */
  readonly #budgets = { atFirst: new LookBudget(), afterRing: new LookBudget() }

  constructor(heap: BellHome, offset: number, use: BellUse = {}) {
    this.#heap = heap
    this.#offset = offset
    this.#use = use
  }

  /** Something changed: wake all waiters. */
  ring(): void {
    if (this.#heap.memory.load(this.#offset + Offset.Wanted) !== 0) this.#wake()
  }

  /** Try until it succeeds. Keeps the process alive while it waits. */
  async wait<T>(attempt: Attempt<T>, { signal }: WaitOptions = {}): Promise<T> {
    signal?.throwIfAborted()
    const first = attempt(false)
    if (first !== undefined) return first
    using ring = this.listen(signal)
    return await this.waitOn(ring, attempt, { signal })
  }

  /** For a caller who waits again and again: an ear for {@link waitOn}. */
  listen(signal: AbortSignal | undefined): Ring {
    return new Ring(this.#heap.peers, signal)
  }

  /**
   * {@link wait} with an ear that was made for the same signal. The caller has just tried in vain. With `spinMs` it
   * looks that long before it sleeps, whether that pays or not.
   */
  async waitOn<T>(ring: Ring, attempt: Attempt<T>, { signal, spinMs = 0 }: EarOptions): Promise<T> {
    using _counted = this.#use.meter?.waits()
    using watched = this.#use.describe && new WatchedWait(this.#use.describe)
    const budget = spinMs === 0 ? this.#budgets.atFirst : new FixedBudget(spinMs)
    const found = await this.#look(budget, attempt, signal)
    if (found !== undefined) return found
    for (let ask = false; ; ask = true) {
      signal?.throwIfAborted()
      this.#heap.checkOpen()
      ring.forget()
      this.#wantRing()
      const outcome = attempt(ask)
      if (outcome !== undefined) return outcome
      const sinceMs = performance.now()
      await ring.next(this.#lookMs())
      watched?.look()
      signal?.throwIfAborted()
      if (!ring.rung || this.#isRingWanted()) continue
      this.#heap.checkOpen()
      this.#budgets.atFirst.slept(performance.now() - sinceMs)
      const soon = attempt(false) ?? (await this.#look(this.#budgets.afterRing, attempt, signal))
      if (soon !== undefined) return soon
    }
  }

  /** As {@link wait}, but this thread blocks. @throws TimeoutError naming `what` it waited for. */
  waitSync<T>(attempt: Attempt<T>, what: string, { timeoutMs = Number.POSITIVE_INFINITY }: BlockOptions = {}): T {
    const { memory } = this.#heap
    const first = attempt(false)
    if (first !== undefined) return first
    const deadlineNs = native.monotonicNs() + timeoutMs * 1e6
    using _counted = this.#use.meter?.waits()
    using watched = this.#use.describe && new WatchedWait(this.#use.describe)
    for (let ask = false; ; ask = true) {
      memory.store(this.#offset + Offset.Wanted, 1)
      const sequence = memory.load(this.#offset + Offset.Sequence)
      const outcome = attempt(ask)
      if (outcome !== undefined) return outcome
      const leftMs = (deadlineNs - native.monotonicNs()) / 1e6
      if (leftMs <= 0) throw new TimeoutError(`timed out after ${timeoutMs} ms waiting for ${what}`)
      memory.wait(this.#offset + Offset.Sequence, sequence, Math.min(leftMs, this.#lookMs()))
      watched?.look()
    }
  }

  /** Try in each turn of the event loop, for as long as that is quicker than to sleep. */
  async #look<T>(budget: Budget, attempt: Attempt<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
    // Of several waiters one is enough.
    if (budget.isLooking) return undefined
    try {
      while (budget.looksOn(performance.now())) {
        await turn()
        signal?.throwIfAborted()
        this.#heap.checkOpen()
        const outcome = attempt(false)
        if (outcome === undefined) continue
        budget.found(performance.now())
        return outcome
      }
      return undefined
    } finally {
      budget.leave()
    }
  }

  #lookMs(): number {
    return this.#use.nextMs?.(LOOK_MS) ?? LOOK_MS
  }

  #wantRing(): void {
    const { memory, peers } = this.#heap
    const word = this.#memberWord
    for (;;) {
      const bits = memory.load(word)
      if (memory.compareExchange(word, bits, bits | (1 << (peers.slot & 31))) === bits) break
    }
    memory.store(this.#offset + Offset.Wanted, 1)
  }

  /** This bell has not rung since: what woke this member was another one, or the end of a member. */
  #isRingWanted(): boolean {
    const { memory, peers } = this.#heap
    return (memory.load(this.#memberWord) & (1 << (peers.slot & 31))) !== 0
  }

  /** Where this member's bit is. */
  get #memberWord(): number {
    return this.#offset + Offset.Members + (this.#heap.peers.slot >>> 5) * 4
  }

  #wake(): void {
    const { memory } = this.#heap
    memory.store(this.#offset + Offset.Wanted, 0)
    memory.fetchAdd(this.#offset + Offset.Sequence, 1)
    memory.wake(this.#offset + Offset.Sequence, ALL)
    for (let at = 0; at < MEMBER_WORDS; at += 1) this.#ringMembers(at)
  }

  #ringMembers(at: number): void {
    const { memory, peers } = this.#heap
    const word = this.#offset + Offset.Members + at * 4
    if (memory.load(word) === 0) return
    const bits = memory.exchange(word, 0)
    for (let bit = 0; bit < 32; bit += 1) if ((bits & (1 << bit)) !== 0) peers.ring(at * 32 + bit)
  }
}

/** Looks for as long as it is told. */
class FixedBudget implements Budget {
  readonly isLooking = false
  readonly #untilMs: number

  constructor(spinMs: number) {
    this.#untilMs = performance.now() + spinMs
  }

  looksOn(nowMs: number): boolean {
    return nowMs < this.#untilMs
  }

  found(): void {}

  leave(): void {}
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
