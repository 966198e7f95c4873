import { checkOptions, checkWhole, type OptionNames } from '../native/index.ts'

/** Options of `rateLimiter()`: how much is allowed in which time. */
export interface RateLimiterOptions {
  /** How many are allowed in each interval, and how many at once after a pause. */
  readonly limit: number
  readonly intervalMs: number
}

const names: OptionNames<RateLimiterOptions> = { limit: true, intervalMs: true }
const LIMIT_MAX = 1e9
const INTERVAL_MS_MAX = 2 ** 30

/** @throws ArgumentError */
export function checkRate(options: RateLimiterOptions): void {
  checkOptions('rateLimiter', options, names)
  checkWhole('options.limit', options?.limit, 1, LIMIT_MAX)
  checkWhole('options.intervalMs', options?.intervalMs, 1, INTERVAL_MS_MAX)
}

/** The answer of a rate limiter. */
export interface RateVerdict {
  readonly allowed: boolean
  /** How many more are allowed now. */
  readonly remaining: number
  /** Milliseconds until a retry can succeed; 0 if it was allowed. */
  readonly retryAfterMs: number
}

/**
 * The outcome of a request: the verdict, and the word to replace the one that was looked at; undefined if it was
 * refused.
 */
export interface CellRateOutcome {
  readonly verdict: RateVerdict
  readonly word: bigint | undefined
}

/**
 * The generic cell rate algorithm (ITU-T I.371). Its whole state is one word: the time at which all that was let
 * through is paid for. It is in microseconds of a clock that the callers share. The owner of the word replaces it by
 * compare-and-swap, and asks again if another caller was faster.
 */
export class CellRate {
  readonly limit: number
  readonly intervalMs: number
  /** Microseconds that one permission costs. */
  readonly #cost: number

  constructor({ limit, intervalMs }: RateLimiterOptions) {
    this.limit = limit
    this.intervalMs = intervalMs
    this.#cost = (intervalMs * 1000) / limit
  }

  /** @throws ArgumentError unless `count` can be asked for at once. */
  check(count: number): void {
    checkWhole('count', count, 1, this.limit)
  }

  /** Ask for `count` when the word is `word` and the clock says `nowUs`. */
  ask(word: bigint, nowUs: number, count: number): CellRateOutcome {
    const now = Math.floor(nowUs)
    const paid = Math.max(now, Number(word))
    const after = paid + count * this.#cost
    const over = after - now - this.limit * this.#cost
    // Microseconds are whole: the last of an interval must not be refused for a fraction.
    if (over >= 1) {
      const retryAfterMs = Math.ceil(over / 1000)
      return { verdict: { allowed: false, remaining: this.#remaining(paid - now), retryAfterMs }, word: undefined }
    }
    const verdict = { allowed: true, remaining: this.#remaining(after - now), retryAfterMs: 0 }
    return { verdict, word: BigInt(Math.round(after)) }
  }

  #remaining(owed: number): number {
    return Math.max(0, Math.floor(this.limit - owed / this.#cost + 1e-6))
  }
}
