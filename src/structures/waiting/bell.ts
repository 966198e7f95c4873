import { native, TimeoutError } from '../../native/index.ts'
import { type WaitDescription, WatchedWait } from '../../profiling/index.ts'
import type { Meter } from '../figures/meter.ts'
import type { Heap } from '../heap/heap.ts'
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
export type BellHome = Pick<Heap, 'memory' | 'peers' | 'checkOpen'>

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
 * Sleeping until something changes, and waking sleepers: threads by futex, event loops by their member's doorbell.
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
 */
export class Bell {
  readonly #heap: BellHome
  readonly #offset: number
  readonly #use: BellUse

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
    using ring = new Ring(this.#heap.peers, signal)
    using _counted = this.#use.meter?.waits()
    using watched = this.#use.describe && new WatchedWait(this.#use.describe)
    for (let ask = false; ; ask = true) {
      this.#heap.checkOpen()
      this.#wantRing()
      const outcome = attempt(ask)
      if (outcome !== undefined) return outcome
      await ring.next(this.#lookMs())
      watched?.look()
      signal?.throwIfAborted()
    }
  }

  /** The same, on this thread. @throws TimeoutError naming `what` it waited for. */
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

  #lookMs(): number {
    return this.#use.nextMs?.(LOOK_MS) ?? LOOK_MS
  }

  #wantRing(): void {
    const { memory, peers } = this.#heap
    const word = this.#offset + Offset.Members + (peers.slot >>> 5) * 4
    for (;;) {
      const bits = memory.load(word)
      if (memory.compareExchange(word, bits, bits | (1 << (peers.slot & 31))) === bits) break
    }
    memory.store(this.#offset + Offset.Wanted, 1)
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
