import { setTimeout as sleep } from 'node:timers/promises'
import { ArgumentError, native } from '../native/index.ts'
import type { Heap } from './heap/heap.ts'
import type { WaitOptions } from './waiting/bell.ts'

/** Bytes of a rate limiter's body. */
export const RATE_LIMITER_BYTES = 64

/** What a limiter lets through. */
export interface RateLimiterOptions {
  /** So many in each interval, and so many at once after a pause. */
  readonly limit: number
  readonly intervalMs: number
}

/** What a limiter says. */
export interface RateVerdict {
  readonly allowed: boolean
  /** How many more would be let through now. */
  readonly remaining: number
  /** When to come again; 0 when it was allowed. */
  readonly retryAfterMs: number
}

/**
 * Lets through so many in each interval, counted over all processes: the generic cell rate algorithm (ITU-T I.371), whose whole state is one word: the time
 * at which all that was let through is paid for, in microseconds of the machine's monotonic clock.
 */
export class RateLimiter {
  readonly name: string
  readonly limit: number
  readonly intervalMs: number
  readonly #heap: Heap
  readonly #offset: number
  /** Microseconds that one costs. */
  readonly #cost: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, { limit, intervalMs }: RateLimiterOptions) {
    this.name = name
    this.limit = limit
    this.intervalMs = intervalMs
    this.#heap = heap
    this.#offset = offset
    this.#cost = (intervalMs * 1000) / limit
  }

  /** Ask for `count` at once; all or none. */
  async take(count: number = 1, options?: WaitOptions): Promise<RateVerdict> {
    options?.signal?.throwIfAborted()
    return this.takeSync(count)
  }

  takeSync(count: number = 1): RateVerdict {
    this.#heap.checkOpen()
    checkCount(count, this.limit)
    const { memory } = this.#heap
    for (;;) {
      const now = Math.floor(native.monotonicNs() / 1000)
      const word = memory.load64(this.#offset)
      const paid = Math.max(now, Number(word))
      const after = paid + count * this.#cost
      const over = after - now - this.limit * this.#cost
      // Microseconds are whole: the last of an interval must not be refused for a fraction.
      if (over >= 1)
        return { allowed: false, remaining: this.#remaining(paid - now), retryAfterMs: Math.ceil(over / 1000) }
      if (memory.compareExchange64(this.#offset, word, BigInt(Math.round(after))) === word)
        return { allowed: true, remaining: this.#remaining(after - now), retryAfterMs: 0 }
    }
  }

  /** Resolves when `count` have been let through. */
  async wait(count: number = 1, { signal }: WaitOptions = {}): Promise<void> {
    for (;;) {
      signal?.throwIfAborted()
      const { allowed, retryAfterMs } = this.takeSync(count)
      if (allowed) return
      await sleep(retryAfterMs, undefined, signal === undefined ? {} : { signal }).catch(() => {})
    }
  }

  /** Forget what was let through. */
  async reset(options?: WaitOptions): Promise<void> {
    options?.signal?.throwIfAborted()
    this.#heap.checkOpen()
    this.#heap.memory.store64(this.#offset, 0n)
  }

  #remaining(owed: number): number {
    return Math.max(0, Math.floor(this.limit - owed / this.#cost + 1e-6))
  }
}

/** @throws ArgumentError unless `count` can be asked for at once. */
export function checkCount(count: number, limit: number): void {
  if (Number.isSafeInteger(count) && count >= 1 && count <= limit) return
  throw new ArgumentError('count', `count must be a whole number from 1 to the limit of ${limit}, not ${count}`)
}
