import { checkAbort, checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import { claimOn, type HolderWords } from './claim.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { nowMs } from './now.ts'
import { lowOf, termOf, termWord } from './term-word.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import type { WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a lease's body: its bell, then two 64-bit words. */
export const LEADER_BYTES: number = BELL_BYTES + 64
/** The note of who leads, from the word: a term, and its leader. */
export const HOLDER_OFFSET = 8

/** Options of `leader()`. */
export interface LeaderOptions {
  /**
   * How long a leader that does not renew its lease stays the leader, in milliseconds. Default: that of the election;
   * 5000 if it is new.
   */
  readonly leaseMs?: number
}

const names: OptionNames<LeaderOptions> = { leaseMs: true }
/** The default lease. */
export const LEASE_MS = 5000
const LEASE_MS_MAX = 2 ** 30

/** @throws ArgumentError */
export function checkLease(options: LeaderOptions | undefined): number | undefined {
  checkOptions('leader', options, names)
  const leaseMs = options?.leaseMs
  if (leaseMs !== undefined) checkWhole('options.leaseMs', leaseMs, 1, LEASE_MS_MAX)
  return leaseMs
}

/**
 * One term of leadership. The lease is renewed automatically while the event loop runs. The leadership is lost if that
 * does not happen in time.
 */
export class Leadership implements AsyncDisposable {
  /**
   * A fencing token, raised with each leader: what you guard with it can refuse a leader older than one it has seen.
   */
  readonly term: number
  /** Aborted when the leadership is lost or given up. */
  readonly signal: AbortSignal
  readonly #lease: Lease
  readonly #lost = new AbortController()
  readonly #timer: NodeJS.Timeout

  /** @internal */
  constructor(lease: Lease) {
    this.#lease = lease
    this.term = lease.term
    this.signal = this.#lost.signal
    this.#timer = setInterval(() => this.#renew(), lease.leaseMs / 3).unref()
  }

  /** Whether the leadership still holds by the clock, even if the event loop was blocked. */
  get isLeader(): boolean {
    if (!this.signal.aborted && !this.#lease.isCurrent()) this.#lose()
    return !this.signal.aborted
  }

  /** Give it up; another process may lead at once. Idempotent. */
  async resign(): Promise<void> {
    if (this.signal.aborted) return
    this.#lose()
    this.#lease.end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign()
  }

  #renew(): void {
    if (!this.#lease.renew()) this.#lose()
  }

  #lose(): void {
    clearInterval(this.#timer)
    this.#lost.abort(new Error(`term ${this.term} of leadership has ended`))
  }
}

/** What a leadership asks of its word. */
interface Lease {
  readonly term: number
  readonly leaseMs: number
  isCurrent(): boolean
  renew(): boolean
  end(): void
}

/**
 * One leader at a time, among all processes, for as long as it renews its lease.
 *
 * The word is a term and when its lease ends: milliseconds of the monotonic clock, modulo 2^32. A machine has one
 * clock, so one look tells that a lease is over. Every change is a compare-and-swap of both, so a leader that has been
 * overtaken finds out. A leader that is killed is followed at once; one that is stopped, when its lease is over. Leases
 * of a space in a directory that are older than a restart of the machine need no care: those leaders are dead for
 * certain.
 */
export class Leader {
  readonly name: string
  readonly leaseMs: number
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #word: number
  readonly #terms: HolderWords<bigint> = {
    says: (word) => (isUnderLease(word, this.leaseMs) ? 'someone' : 'no one'),
    isThere: (word, ask) => this.#isLeaderThere(termOf(word), ask),
    next: (word) => this.#wordOf(termOf(word) + 1),
  }

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, leaseMs: number) {
    this.name = name
    this.leaseMs = leaseMs
    this.#heap = heap
    this.#meter = heap.meters.of('leader', name)
    this.#bell = new Bell(heap, offset, { meter: this.#meter })
    this.#word = offset + BELL_BYTES
  }

  /** Resolves when this process leads. */
  async campaign(options?: WaitOptions): Promise<Leadership> {
    checkAbort('campaign', options)
    this.#meter.wrote()
    return await this.#bell.wait((ask) => this.#attempt(ask), options)
  }

  /** Resolves with undefined if another process leads. */
  async tryCampaign(options?: WaitOptions): Promise<Leadership | undefined> {
    checkAbort('tryCampaign', options)
    this.#meter.wrote()
    return this.#attempt(true)
  }

  /** The present term, 0 before the first. The term does not tell whether there is a leader now. */
  termSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    return termOf(this.#heap.memory.load64(this.#word))
  }

  #attempt(ask: boolean): Leadership | undefined {
    this.#heap.checkOpen()
    const { memory } = this.#heap
    const seen = memory.load64(this.#word)
    const { word } = claimOn(this.#terms, seen, ask)
    if (word === undefined || memory.compareExchange64(this.#word, seen, word) !== seen) return undefined
    const term = termOf(word)
    this.#noteHolder(term)
    const leadership = new Leadership(this.#leaseOf(term))
    const letGo = this.#heap.hold(() => void leadership.resign())
    leadership.signal.addEventListener('abort', letGo, { once: true })
    return leadership
  }

  #leaseOf(term: number): Lease {
    return {
      term,
      leaseMs: this.leaseMs,
      isCurrent: () => this.#isCurrent(term),
      renew: () => this.#replace(term, this.#wordOf(term)),
      end: () => {
        this.#replace(term, endedWord(term))
        if (!this.#heap.closed) this.#bell.ring()
      },
    }
  }

  #isCurrent(term: number): boolean {
    if (this.#heap.closed) return false
    const word = this.#heap.memory.load64(this.#word)
    return termOf(word) === term && isUnderLease(word, this.leaseMs)
  }

  #replace(term: number, by: bigint): boolean {
    if (!this.#isCurrent(term)) return false
    const word = this.#heap.memory.load64(this.#word)
    return termOf(word) === term && this.#heap.memory.compareExchange64(this.#word, word, by) === word
  }

  #wordOf(term: number): bigint {
    return termWord(term, wholeMs() + this.leaseMs)
  }

  /**
   * The leader of each term, to report that it is dead. Written after the term began, so it may be missing, but it is
   * never of an older term than it says.
   */
  #noteHolder(term: number): void {
    const { memory, owner } = this.#heap
    const note = termWord(term, owner)
    for (;;) {
      const there = memory.load64(this.#word + HOLDER_OFFSET)
      if (termOf(there) >= term) return
      if (memory.compareExchange64(this.#word + HOLDER_OFFSET, there, note) === there) return
    }
  }

  #isLeaderThere(term: number, ask: boolean): boolean {
    const note = this.#heap.memory.load64(this.#word + HOLDER_OFFSET)
    return termOf(note) !== term || this.#heap.isHolderThere(lowOf(note), ask)
  }
}

function wholeMs(): number {
  return Math.floor(nowMs())
}

/** The word of a term that is over. */
export function endedWord(term: number): bigint {
  return termWord(term, wholeMs() - 1)
}

/** What looks longer than a lease is over for weeks: the clock is kept modulo 2^32 milliseconds. */
export function isUnderLease(word: bigint, leaseMs: number): boolean {
  const left = leftMs(word)
  return left > 0 && left <= leaseMs
}

/**
 * Of the lease; negative when it is over. Clocks are compared modulo 2^32, so what has been over for 25 days looks as
 * if it were to last as long.
 */
function leftMs(word: bigint): number {
  return (lowOf(word) - wholeMs()) | 0
}
