import { ArgumentError, checkOptions, mustBe, type OptionNames, shown, TIMER_MS_MAX } from '../native/index.ts'

/**
 * How fast messages, and operations on the peer's memory, may leave. If both limits are given, a message needs both, an
 * operation only the bytes.
 */
export interface SendLimit {
  /**
   * Bytes of messages, without what the ring adds, and of an endpoint's READs, WRITEs and atomics. Default: no limit.
   */
  readonly bytesPerSecond?: number
  /**
   * Bytes that may leave at once after a pause. Default: those of a tenth of a second. A longer message leaves when the
   * burst is full, and what follows waits longer.
   */
  readonly burstBytes?: number
  /** Default: no limit. */
  readonly messagesPerSecond?: number
  /** Messages that may leave at once after a pause. Default: those of a tenth of a second, at least one. */
  readonly burstMessages?: number
}

const limitNames: OptionNames<SendLimit> = {
  bytesPerSecond: true,
  burstBytes: true,
  messagesPerSecond: true,
  burstMessages: true,
}

/** The clock of limits. */
export interface LimitClock {
  /** Milliseconds since some moment, never going back. */
  nowMs(): number
  /** Call back after this many milliseconds, or a little later. Call the returned function to cancel. */
  after(delayMs: number, call: () => void): () => void
}

const DEFAULT_BURST_SECONDS = 0.1
/** Of a byte or a message: sums of fractions are not exact. */
const TOLERANCE = 1e-6

const systemClock: LimitClock = {
  nowMs: () => performance.now(),
  after: (delayMs, call) => {
    const timer = setTimeout(call, Math.min(TIMER_MS_MAX, Math.ceil(delayMs)))
    return () => clearTimeout(timer)
  },
}

/**
 * A token bucket: `perMs` tokens are added each millisecond, up to `capacity`. What needs more than the capacity goes
 * when the bucket is full and leaves a debt, so the rate holds over time whatever the amounts are.
 */
class Bucket {
  readonly #perMs: number
  readonly #capacity: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, capacity: number, nowMs: number) {
    this.#perMs = perSecond / 1000
    this.#capacity = capacity
    this.#tokens = capacity
    this.#atMs = nowMs
  }

  /** Until `amount` may go; 0: now. */
  delayMs(amount: number, nowMs: number): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
    const missing = Math.min(amount, this.#capacity) - this.#tokens
    return missing <= TOLERANCE ? 0 : missing / this.#perMs
  }

  take(amount: number): void {
    this.#tokens -= amount
  }
}

/**
 * What one connection has left of its limit. It takes two numbers each for bytes and messages, and at most one timer.
 */
export class SendLimiter {
  readonly #clock: LimitClock
  readonly #bytes: Bucket | undefined
  readonly #messages: Bucket | undefined
  #cancel: (() => void) | undefined
  /** When the timer is due. */
  #dueMs = 0

  constructor(limit: SendLimit, clock: LimitClock) {
    const { bytesPerSecond, messagesPerSecond } = limit
    const nowMs = clock.nowMs()
    this.#clock = clock
    if (bytesPerSecond !== undefined)
      this.#bytes = new Bucket(bytesPerSecond, limit.burstBytes ?? defaultBurst(bytesPerSecond), nowMs)
    if (messagesPerSecond !== undefined)
      this.#messages = new Bucket(messagesPerSecond, limit.burstMessages ?? defaultBurst(messagesPerSecond), nowMs)
  }

  get limitsBytes(): boolean {
    return this.#bytes !== undefined
  }

  /** The time until this many messages with this many bytes may leave; 0: now. */
  delayMs(bytes: number, messages: number): number {
    const nowMs = this.#clock.nowMs()
    return Math.max(this.#bytes?.delayMs(bytes, nowMs) ?? 0, this.#messages?.delayMs(messages, nowMs) ?? 0)
  }

  /** Count what has left. */
  take(bytes: number, messages: number): void {
    this.#bytes?.take(bytes)
    this.#messages?.take(messages)
  }

  /** Call back after `delayMs`, unless a call is due before. */
  wakeAfter(delayMs: number, call: () => void): void {
    const dueMs = this.#clock.nowMs() + delayMs
    if (this.#cancel !== undefined && this.#dueMs <= dueMs) return
    this.#cancel?.()
    this.#dueMs = dueMs
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#cancel = undefined
      call()
    })
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}

/** Undefined if nothing is limited. */
export function sendLimiter(limit: SendLimit, clock: LimitClock = systemClock): SendLimiter | undefined {
  if (limit.bytesPerSecond === undefined && limit.messagesPerSecond === undefined) return undefined
  return new SendLimiter(limit, clock)
}

export function checkSendLimit(limit: SendLimit): void {
  checkOptions('a link', limit, limitNames, 'sendLimit')
  checkPositive('sendLimit.bytesPerSecond', limit.bytesPerSecond)
  checkPositive('sendLimit.messagesPerSecond', limit.messagesPerSecond)
  checkBurst('burstBytes', limit.burstBytes, 'bytesPerSecond', limit.bytesPerSecond)
  checkBurst('burstMessages', limit.burstMessages, 'messagesPerSecond', limit.messagesPerSecond)
}

function defaultBurst(perSecond: number): number {
  return Math.max(1, perSecond * DEFAULT_BURST_SECONDS)
}

function checkPositive(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return
  throw new ArgumentError(name, `${name} must be a number above 0, not ${shown(value)}; leave it out for no limit`)
}

function checkBurst(name: string, value: number | undefined, rateName: string, rate: number | undefined): void {
  if (value === undefined) return
  if (rate === undefined)
    throw new ArgumentError(`sendLimit.${name}`, `${name} has no effect alone; pass ${rateName}, too`)
  if (!(Number.isFinite(value) && value >= 1)) throw mustBe(`sendLimit.${name}`, 'a number of at least 1', value)
}
