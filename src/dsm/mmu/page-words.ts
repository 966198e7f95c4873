import { DefectError } from '../../native/index.ts'

/**
 * What the threads of one process know about each page of a region: one Int32 a page, in a SharedArrayBuffer.
 *
 *    31            8       7       6      5       4        3         2        1  0
 *   +----------------+-----------+------+-------+--------+---------+--------+-------+
 *   | pins (24 bits) | untouched | used | fresh | failed | waiting | wanted | right |
 *   +----------------+-----------+------+-------+--------+---------+--------+-------+
 *
 * - *right* (0 none, 1 read, 2 write) is written by the agent: after it has opened the page, before it closes it.
 * - *pins* are user threads that copy from or to the frame just now. The agent takes nothing away from under a pin.
 * - *wanted*: the agent is about to take the page; no new pins. The thread that takes the last pin off rings the agent.
 * - *waiting*: a user thread sleeps on this word. *fresh*: it was granted to one that has not run yet.
 * - *failed*: the page cannot be had. *used*: it was pinned since the agent took that bit off.
 * - *untouched*: this rank is the page's home, and no rank has asked for it yet: a fault on it is answered before the
 *   protocol is asked (native/fault-lane.cc, which reads and writes this word, too).
 *
 * Safety: a pin is taken by compare-and-swap on a word whose right suffices and which is not wanted; the agent sets
 * *wanted* by an atomic OR and goes on only if the OR found no pins. Both are sequentially consistent, so one of the
 * two sees the other.
 */
const RIGHT = 3
const WANTED = 1 << 2
const WAITING = 1 << 3
const FAILED = 1 << 4
const FRESH = 1 << 5
const USED = 1 << 6
const UNTOUCHED = 1 << 7
const PIN = 1 << 8
/** One more pin would reach the sign of the word. */
const PINS_MAX = 2 ** 31 - PIN

export const PageRight = { None: 0, Read: 1, Write: 2 } as const

/** What an attempt to pin gave. */
export const PinResult = { Pinned: 0, NotHere: 1, Failed: 2 } as const
export type PinResult = (typeof PinResult)[keyof typeof PinResult]

export class PageWords {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array

  /** Over `buffer` where another thread made it; else for `pages` pages. */
  constructor(source: number | SharedArrayBuffer) {
    this.buffer = typeof source === 'number' ? new SharedArrayBuffer(4 * source) : source
    this.#words = new Int32Array(this.buffer)
  }

  // ---- user threads
  // ----------------------------------------------------------------------------------------------------------

  /** Hold the page for a short copy. */
  tryPin(page: number, right: number): PinResult {
    const words = this.#words
    for (;;) {
      const word = Atomics.load(words, page)
      if ((word & FAILED) !== 0) return PinResult.Failed
      if ((word & RIGHT) < right || (word & WANTED) !== 0) return PinResult.NotHere
      if (word >= PINS_MAX) throw new DefectError(`page ${page} is pinned by as many threads as its word can count`)
      if (Atomics.compareExchange(words, page, word, ((word + PIN) & ~FRESH) | USED) === word) return PinResult.Pinned
    }
  }

  /** Let go. True where the agent waits for that and must be rung. */
  unpin(page: number): boolean {
    const left = Atomics.sub(this.#words, page, PIN) - PIN
    if (left < 0) throw new DefectError(`page ${page} is unpinned more often than it was pinned`)
    return left < PIN && (left & WANTED) !== 0
  }

  /**
   * Announce that a thread is going to wait. Returns the value to wait upon, or undefined where the page can be pinned
   * or has failed now.
   */
  announceWait(page: number, right: number): number | undefined {
    const word = Atomics.or(this.#words, page, WAITING) | WAITING
    const here = (word & RIGHT) >= right && (word & WANTED) === 0
    return here || (word & FAILED) !== 0 ? undefined : word
  }

  /** Sleep while the word is `seen`. False on time-out. */
  waitSync(page: number, seen: number, timeoutMs: number): boolean {
    return Atomics.wait(this.#words, page, seen, timeoutMs) !== 'timed-out'
  }

  async wait(page: number, seen: number, timeoutMs: number): Promise<boolean> {
    return (await Atomics.waitAsync(this.#words, page, seen, timeoutMs).value) !== 'timed-out'
  }

  /** Whether a thread has announced a wait, and was not woken since. */
  hasSleepers(page: number): boolean {
    return (Atomics.load(this.#words, page) & WAITING) !== 0
  }

  /** For native code. */
  get array(): Int32Array {
    return this.#words
  }

  /** Have every thread that sleeps on the page look again. */
  wakeAll(page: number): void {
    Atomics.notify(this.#words, page)
  }

  // ---- the agent
  // -------------------------------------------------------------------------------------------------------------

  right(page: number): number {
    return Atomics.load(this.#words, page) & RIGHT
  }

  /** Forbid new pins. True where there is none now, so that the page may be taken. */
  want(page: number): boolean {
    return Atomics.or(this.#words, page, WANTED) < PIN
  }

  /** This rank is the home, and no rank has asked for the page. */
  markUntouched(page: number): void {
    Atomics.or(this.#words, page, UNTOUCHED)
  }

  /** A rank asks for the page. */
  touch(page: number): void {
    if ((Atomics.load(this.#words, page) & UNTOUCHED) !== 0) Atomics.and(this.#words, page, ~UNTOUCHED)
  }

  isPinned(page: number): boolean {
    return Atomics.load(this.#words, page) >= PIN
  }

  /** Whether the page was pinned since this was asked last. */
  takeUsed(page: number): boolean {
    const isUsed = (Atomics.load(this.#words, page) & USED) !== 0
    if (isUsed) Atomics.and(this.#words, page, ~USED)
    return isUsed
  }

  /** True while a user thread that waited for this page has yet to run. */
  isFresh(page: number): boolean {
    return (Atomics.load(this.#words, page) & FRESH) !== 0
  }

  /** The page is open now, with `right`. Wakes who waits. */
  grant(page: number, right: number): void {
    this.#set(page, right, FRESH)
  }

  /** The page is less open than before: called before its last bytes are read. Wakes who waits, to ask again. */
  take(page: number, right: number): void {
    this.#set(page, right, 0)
  }

  /** The page cannot be had. Wakes who waits. */
  fail(page: number): void {
    Atomics.or(this.#words, page, FAILED)
    this.#set(page, PageRight.None, 0)
  }

  /** The page may be asked for again. */
  forgive(page: number): void {
    Atomics.and(this.#words, page, ~FAILED)
  }

  #set(page: number, right: number, ifAwaited: number): void {
    const words = this.#words
    for (;;) {
      const word = Atomics.load(words, page)
      const awaited = (word & WAITING) !== 0
      const next = (word & ~(RIGHT | WANTED | WAITING | FRESH)) | right | (awaited ? ifAwaited : 0)
      if (Atomics.compareExchange(words, page, word, next) !== word) continue
      if (awaited) Atomics.notify(words, page)
      return
    }
  }
}
