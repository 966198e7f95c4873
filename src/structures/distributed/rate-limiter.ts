import { checkAbort } from '../../native/index.ts'
import { CellRate, type RateLimiterOptions, type RateVerdict } from '../cell-rate.ts'
import type { RateLimiter } from '../rate-limiter.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { HomeMemory } from './heap/home-memory.ts'
import type { Promised } from './memory/promised.ts'

/** Bytes of a rate limiter's body. */
export const RATE_LIMITER_BYTES = 8

/**
 * Limits a rate, counted over the ranks of a group; as {@link RateLimiter} on one machine, by the same algorithm
 * (cell-rate.ts), whose state is one word. `take` is a READ and a compare-and-swap, two round trips, and one more
 * compare-and-swap for each other caller that came in between. It takes effect in the last compare-and-swap, or in the
 * look that refuses.
 *
 * Each rank asks its own clock, and machines' clocks differ. The word never goes back, so no more is let through than
 * the clock that is furthest ahead allows, at any rank. A rank whose clock is a second behind that one is refused for a
 * second longer.
 */
export class GroupRateLimiter implements Promised<RateLimiter> {
  readonly name: string
  readonly limit: number
  readonly intervalMs: number
  readonly #memory: HomeMemory
  readonly #offset: number
  readonly #rate: CellRate

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number, options: RateLimiterOptions) {
    this.name = name
    this.limit = options.limit
    this.intervalMs = options.intervalMs
    this.#memory = memory
    this.#offset = offset
    this.#rate = new CellRate(options)
  }

  /** Request `count` permissions at once; all or none are granted. @throws HomeLostError, of all methods. */
  async take(count: number = 1, options?: WaitOptions): Promise<RateVerdict> {
    this.#rate.check(count)
    checkAbort('take', options)
    for (let seen = await this.#memory.load64(this.#offset); ; ) {
      options?.signal?.throwIfAborted()
      const { verdict, word } = this.#rate.ask(seen, this.#memory.group.nowMs() * 1000, count)
      if (word === undefined) return verdict
      const before = await this.#memory.compareExchange64(this.#offset, seen, word)
      if (before === seen) return verdict
      seen = before
    }
  }

  /** Resolves when `count` permissions have been granted. */
  async wait(count: number = 1, options: WaitOptions = {}): Promise<void> {
    checkAbort('wait', options)
    for (;;) {
      const { allowed, retryAfterMs } = await this.take(count, options)
      if (allowed) return
      await sleepUnlessAborted(this.#memory.group.sleep(retryAfterMs), options.signal)
    }
  }

  /** Forget what was granted before. */
  async reset(options?: WaitOptions): Promise<void> {
    checkAbort('reset', options)
    for (let word = await this.#memory.load64(this.#offset); ; ) {
      options?.signal?.throwIfAborted()
      const before = await this.#memory.compareExchange64(this.#offset, word, 0n)
      if (before === word) return
      word = before
    }
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
