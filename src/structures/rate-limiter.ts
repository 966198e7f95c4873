import { setTimeout as sleep } from 'node:timers/promises'
import { checkAbort } from '../native/index.ts'
import { CellRate, type RateLimiterOptions, type RateVerdict } from './cell-rate.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import type { WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a rate limiter's body. */
export const RATE_LIMITER_BYTES = 64

/**
 * Limits a rate, counted over all processes: by the generic cell rate algorithm (cell-rate.ts), in one word and by the
 * machine's monotonic clock.
 */
export class RateLimiter {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #offset: number
  readonly #options: RateLimiterOptions
  #rate: CellRate

  /** @internal `options` are read at each use. */
  constructor(name: string, heap: Heap, offset: number, options: RateLimiterOptions) {
    this.name = name
    this.#heap = heap
    this.#meter = heap.meters.of('rate limiter', name)
    this.#offset = offset
    this.#options = options
    this.#rate = new CellRate(options)
  }

  get limit(): number {
    return this.#options.limit
  }

  get intervalMs(): number {
    return this.#options.intervalMs
  }

  /** Request `count` permissions at once; all or none are granted. */
  async take(count: number = 1, options?: WaitOptions): Promise<RateVerdict> {
    checkAbort('take', options)
    return this.takeSync(count)
  }

  takeSync(count: number = 1): RateVerdict {
    this.#meter.wrote()
    return this.#take(count)
  }

  /** Resolves when `count` permissions have been granted. */
  async wait(count: number = 1, options: WaitOptions = {}): Promise<void> {
    checkAbort('wait', options)
    const { signal } = options
    this.#meter.wrote()
    for (;;) {
      signal?.throwIfAborted()
      const { allowed, retryAfterMs } = this.#take(count)
      if (allowed) return
      using _counted = this.#meter.waits()
      await sleep(retryAfterMs, undefined, signal === undefined ? {} : { signal }).catch(() => {})
    }
  }

  /** Forget what was granted before. */
  async reset(options?: WaitOptions): Promise<void> {
    checkAbort('reset', options)
    this.#heap.checkOpen()
    this.#meter.wrote()
    this.#heap.memory.store64(this.#offset, 0n)
  }

  #take(count: number): RateVerdict {
    this.#heap.checkOpen()
    const rate = this.#currentRate()
    rate.check(count)
    const { memory } = this.#heap
    for (;;) {
      const seen = memory.load64(this.#offset)
      const { verdict, word } = rate.ask(seen, this.#heap.nowMs() * 1000, count)
      if (word === undefined || memory.compareExchange64(this.#offset, seen, word) === seen) return verdict
    }
  }

  /** Another process may have opened the limiter with other options. */
  #currentRate(): CellRate {
    const { limit, intervalMs } = this.#options
    if (limit !== this.#rate.limit || intervalMs !== this.#rate.intervalMs) this.#rate = new CellRate(this.#options)
    return this.#rate
  }
}
