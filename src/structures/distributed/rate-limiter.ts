import { checkCount, type RateLimiter, type RateLimiterOptions, type RateVerdict } from '../rate-limiter.ts'
import type { WaitOptions } from '../waiting/bell.ts'
import type { HomeWords } from './home-words.ts'
import type { Promised } from './promised.ts'

/** Bytes of a rate limiter's body. */
export const RATE_LIMITER_BYTES = 8

/**
 * Lets through so many in each interval, counted over the ranks of a group; as {@link RateLimiter} on one machine, by the same algorithm (ITU-T I.371). One word: the time at which all that was let through is paid for, in microseconds. `take` is a
 * READ and a compare-and-swap, two round trips, and a compare-and-swap more for each other that came in between; it takes effect in the last one, or in the look that refuses.
 *
 * Each rank asks its own clock, and machines' clocks differ. The word never goes back, so no more is let through than the clock that is furthest ahead allows, at whatever rank; a rank whose clock
 * is behind that by a second is refused for a second longer.
 */
export class GroupRateLimiter implements Promised<RateLimiter> {
  readonly name: string
  readonly limit: number
  readonly intervalMs: number
  readonly #home: HomeWords
  readonly #offset: number
  /** Microseconds that one costs. */
  readonly #cost: number

  /** @internal */
  constructor(name: string, home: HomeWords, offset: number, { limit, intervalMs }: RateLimiterOptions) {
    this.name = name
    this.limit = limit
    this.intervalMs = intervalMs
    this.#home = home
    this.#offset = offset
    this.#cost = (intervalMs * 1000) / limit
  }

  /** Ask for `count` at once; all or none. @throws HomeLostError, of all methods. */
  async take(count: number = 1, options?: WaitOptions): Promise<RateVerdict> {
    checkCount(count, this.limit)
    for (let word = await this.#home.load64(this.#offset); ; ) {
      options?.signal?.throwIfAborted()
      const now = Math.floor(this.#home.words.nowMs() * 1000)
      const paid = Math.max(now, Number(word))
      const after = paid + count * this.#cost
      const over = after - now - this.limit * this.#cost
      // Microseconds are whole: the last of an interval must not be refused for a fraction.
      if (over >= 1)
        return { allowed: false, remaining: this.#remaining(paid - now), retryAfterMs: Math.ceil(over / 1000) }
      const before = await this.#home.compareExchange64(this.#offset, word, BigInt(Math.round(after)))
      if (before === word) return { allowed: true, remaining: this.#remaining(after - now), retryAfterMs: 0 }
      word = before
    }
  }

  /** Resolves when `count` have been let through. */
  async wait(count: number = 1, options: WaitOptions = {}): Promise<void> {
    for (;;) {
      const { allowed, retryAfterMs } = await this.take(count, options)
      if (allowed) return
      await sleepUnlessAborted(this.#home.words.sleep(retryAfterMs), options.signal)
    }
  }

  /** Forget what was let through. */
  async reset(options?: WaitOptions): Promise<void> {
    for (let word = await this.#home.load64(this.#offset); ; ) {
      options?.signal?.throwIfAborted()
      const before = await this.#home.compareExchange64(this.#offset, word, 0n)
      if (before === word) return
      word = before
    }
  }

  #remaining(owed: number): number {
    return Math.max(0, Math.floor(this.limit - owed / this.#cost + 1e-6))
  }
}

async function sleepUnlessAborted(sleep: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await sleep
  const stop = new AbortController()
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true, signal: stop.signal }),
  )
  await Promise.race([sleep, aborted])
  stop.abort()
}
