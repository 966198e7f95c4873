import { native, processStatus } from '../../native/index.ts'
import { MAX_VISITORS, VISITOR_LONGS, VISITOR_WORDS, VisitorWord } from './layout.ts'
import type { FixedViews } from './segment.ts'

/** Field 22 of proc(5)'s stat, counted from the state: when the thread started, in clock ticks since boot. */
const START_TIME = 19
/** A thread's number has at most 22 bits (PID_MAX_LIMIT of include/linux/threads.h). */
const THREAD_BITS = 22n
const THREAD_MASK: bigint = (1n << THREAD_BITS) - 1n
/** Reading /proc costs as much as a hundred operations. */
const LOOK_AGAIN_MS = 1

/** How long taking memory or requests away waits for a peer in the middle of an access. */
export const INSIDE_TIMEOUT_MS = 1000

/** This thread as one 64-bit word: its number and its start time, since numbers are reused. */
function ownIdentity(): bigint {
  const thread = native.threadId()
  return identityOf(thread, processStatus(thread)?.[START_TIME] ?? '0')
}

function identityOf(thread: number, startTime: string): bigint {
  return (BigInt(startTime) << THREAD_BITS) | BigInt(thread)
}

function isAlive(identity: bigint): boolean {
  const thread = Number(identity & THREAD_MASK)
  const fields = processStatus(thread)
  const state = fields?.[0]
  if (fields === undefined || state === 'Z' || state === 'X') return false
  return identityOf(thread, fields[START_TIME] ?? '0') === identity
}

/**
 * One device's entry in another's table (or its own). From it the owner of a ring that many send to learns which
 * visitor claimed a slot or is in the middle of an access. An entry is taken by one compare-and-swap of a word that
 * identifies the visitor, so its owner is always known.
 */
export class Visit {
  readonly index: number
  readonly #words: Int32Array
  readonly #longs: BigInt64Array
  readonly #identity: bigint
  readonly #at: number
  #inside: number

  private constructor(views: FixedViews, index: number, identity: bigint) {
    this.index = index
    this.#words = views.visitors
    this.#longs = views.visitorLongs
    this.#identity = identity
    this.#at = index * VISITOR_WORDS + VisitorWord.Inside
    this.#inside = Atomics.load(this.#words, this.#at) & ~1
  }

  /** Undefined if all entries are taken. */
  static open(views: FixedViews): Visit | undefined {
    const identity = ownIdentity()
    for (let index = 0; index < MAX_VISITORS; index += 1) {
      if (Atomics.compareExchange(views.visitorLongs, index * VISITOR_LONGS, 0n, identity) === 0n)
        return new Visit(views, index, identity)
    }
    return undefined
  }

  /** After this the owner waits for `leave()` before it takes memory or requests away. */
  enter(): void {
    this.#inside = (this.#inside + 1) | 0
    Atomics.store(this.#words, this.#at, this.#inside)
  }

  leave(): void {
    this.#inside = (this.#inside + 1) | 0
    Atomics.store(this.#words, this.#at, this.#inside)
  }

  close(): void {
    Atomics.compareExchange(this.#longs, this.index * VISITOR_LONGS, this.#identity, 0n)
  }
}

/** The owner's end of its table of visitors. */
export class Visitors {
  readonly #words: Int32Array
  readonly #longs: BigInt64Array
  readonly #lookedAt = new Map<number, number>()

  constructor(views: FixedViews) {
    this.#words = views.visitors
    this.#longs = views.visitorLongs
  }

  /**
   * Wait until all visitors that are inside now have left or died. Returns false if the deadline (ms of
   * performance.now()) passes first.
   */
  awaitOutside(deadline: number): boolean {
    for (let index = 0; index < MAX_VISITORS; index += 1) {
      if (this.#isInside(index) && !this.#awaitOne(index, deadline)) return false
    }
    return true
  }

  /** True if the visitor has ended. Looked up at most once a millisecond; in between it is taken to live. */
  hasEnded(index: number): boolean {
    const now = performance.now()
    if (now - (this.#lookedAt.get(index) ?? Number.NEGATIVE_INFINITY) < LOOK_AGAIN_MS) return false
    this.#lookedAt.set(index, now)
    const identity = Atomics.load(this.#longs, index * VISITOR_LONGS)
    return identity === 0n || !isAlive(identity)
  }

  /** True if no entry is free. */
  get full(): boolean {
    for (let index = 0; index < MAX_VISITORS; index += 1)
      if (Atomics.load(this.#longs, index * VISITOR_LONGS) === 0n) return false
    return true
  }

  /**
   * Free the entries of dead visitors. `reap` first takes back what a visitor had claimed, and returns true if nothing
   * of that is left.
   */
  sweep(reap: (index: number) => boolean): void {
    for (let index = 0; index < MAX_VISITORS; index += 1) {
      const identity = Atomics.load(this.#longs, index * VISITOR_LONGS)
      if (identity === 0n || isAlive(identity) || !reap(index)) continue
      Atomics.store(this.#words, index * VISITOR_WORDS + VisitorWord.Inside, 0)
      Atomics.store(this.#longs, index * VISITOR_LONGS, 0n)
    }
  }

  #isInside(index: number): boolean {
    return (Atomics.load(this.#words, index * VISITOR_WORDS + VisitorWord.Inside) & 1) !== 0
  }

  #awaitOne(index: number, deadline: number): boolean {
    const at = index * VISITOR_WORDS + VisitorWord.Inside
    const before = Atomics.load(this.#words, at)
    while (Atomics.load(this.#words, at) === before && !this.hasEnded(index)) {
      if (performance.now() > deadline) return false
    }
    return true
  }
}
