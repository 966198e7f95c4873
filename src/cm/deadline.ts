import { checkOptions, checkSignalKind, mustBe, type OptionNames, TimeoutError } from '../native/index.ts'

/** How long to wait, and a signal that ends the wait. */
export interface WaitOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const DEFAULT_TIMEOUT_MS = 10_000
const TIMEOUT_MS_MAX = 2 ** 31 - 1

export const waitNames: OptionNames<WaitOptions> = { timeoutMs: true, signal: true }

/** @throws ArgumentError unless it is a time that a timer can wait. */
export function checkTimeout(argument: string, timeoutMs: unknown): void {
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return
  throw mustBe(argument, `a number of milliseconds above 0 and at most ${TIMEOUT_MS_MAX}`, timeoutMs)
}

/** Check how long to wait, among other options whose names are checked. */
export function checkWaitValues({ timeoutMs, signal }: WaitOptions): void {
  if (timeoutMs !== undefined) checkTimeout('timeoutMs', timeoutMs)
  checkSignalKind('signal', signal)
}

/** Check the options of a call that takes no others. */
export function checkWait(call: string, options: WaitOptions): void {
  checkOptions(call, options, waitNames)
  checkWaitValues(options)
}

/** Ends a wait once: when the time is up or the caller's signal aborts. */
export class Deadline {
  readonly timeoutMs: number
  readonly #atMs: number
  readonly #signal: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout
  readonly #expired: (error: unknown) => void

  /** Throws the signal's reason if it was aborted before. `what` completes "… did not happen within 5 ms". */
  constructor(options: WaitOptions, what: string, expired: (error: unknown) => void) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options
    checkWaitValues(options)
    signal?.throwIfAborted()
    this.timeoutMs = timeoutMs
    this.#atMs = performance.now() + timeoutMs
    this.#signal = signal
    this.#expired = expired
    this.#timer = setTimeout(
      () => this.#end(new TimeoutError(`${what} did not happen within ${timeoutMs} ms`)),
      timeoutMs,
    )
    signal?.addEventListener('abort', this.#onAbort)
  }

  /** The remaining time, at least 1, as the timeout of a call. */
  get remainingMs(): number {
    return Math.max(1, Math.ceil(this.#atMs - performance.now()))
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => this.#end(this.#signal?.reason)

  #end(error: unknown): void {
    this.clear()
    this.#expired(error)
  }
}
