import {
  ArgumentError,
  ClosedError,
  checkFunction,
  checkOptions,
  mustBe,
  type OptionNames,
  shown,
  TIMER_MS_MAX,
} from '../native/index.ts'
import { Random } from '../runtime/index.ts'
import { type ConnectEndpointOptions, connectEndpointNames, openEndpoint } from './connect-endpoint.ts'
import { connectSettings, isIncompatible } from './connect-link.ts'
import type { Endpoint } from './endpoint.ts'
import { checkEndpointOptions } from './endpoint.ts'
import { tellProgram } from './tell-program.ts'

export interface KeepConnectedOptions extends Omit<ConnectEndpointOptions, 'signal'> {
  /**
   * Called with each new connection. What was under way on the one before is not repeated: the program has to find out
   * its outcome. If it throws, this connection ends, which counts as a failed attempt.
   */
  readonly connected: (endpoint: Endpoint) => void
  /**
   * Called when an attempt failed. The next begins after `delayMs`, or never if that is undefined. If it throws, the
   * process emits a warning.
   */
  readonly attemptFailed?: (error: unknown, delayMs: number | undefined) => void
  /**
   * About how long to wait before the second attempt; it doubles each time. A connection that ends sooner than this
   * counts as a failed attempt. Default 50.
   */
  readonly delayMs?: number
  /** Default 5000, or `delayMs` if that is more. */
  readonly delayMsMax?: number
  /** How many attempts in a row may fail. Default: no limit. */
  readonly attemptsMax?: number
}

const { signal: _signal, ...attemptNames } = connectEndpointNames
const keepNames: OptionNames<KeepConnectedOptions> = {
  ...attemptNames,
  attemptFailed: true,
  delayMs: true,
  delayMsMax: true,
  attemptsMax: true,
}

/** A connection that is made again whenever it is lost. */
export interface KeptConnection {
  /** The present connection; undefined while there is none. */
  readonly endpoint: Endpoint | undefined
  /** Resolves when no further attempts will be made. */
  readonly stopped: Promise<void>
  /** Make no more attempts, and close the present connection. */
  close(): Promise<void>
}

/**
 * Connect, and connect again whenever the connection is lost or closed by the peer. The delay doubles and is randomized
 * each time, so that many clients do not come at once. Count and delay start again after a connection that lasted
 * `delayMs`; the next attempt is then made at once. No more attempts are made once one has found a peer of another
 * version, or options that no attempt can meet.
 * @throws ArgumentError for wrong options, as far as known before the first attempt.
 */
export function keepConnected(options: KeepConnectedOptions): KeptConnection {
  checkOptions('keepConnected', options, keepNames)
  const keeper = new ConnectionKeeper(options)
  keeper.stopped = keeper.run()
  return keeper
}

const DEFAULT_DELAY_MS = 50
const DEFAULT_DELAY_MS_MAX = 5000

interface Attempts {
  readonly delayMs: number
  readonly delayMsMax: number
  readonly attemptsMax: number
}

function attemptsOf(options: KeepConnectedOptions): Attempts {
  const { delayMs = DEFAULT_DELAY_MS, attemptsMax = Number.POSITIVE_INFINITY } = options
  checkDelay('delayMs', delayMs, 1)
  const { delayMsMax = Math.max(delayMs, DEFAULT_DELAY_MS_MAX) } = options
  checkDelay('delayMsMax', delayMsMax, delayMs)
  if (!((Number.isInteger(attemptsMax) && attemptsMax >= 1) || attemptsMax === Number.POSITIVE_INFINITY))
    throw new ArgumentError(
      'attemptsMax',
      `attemptsMax must be an integer of at least 1, or Infinity, not ${shown(attemptsMax)}`,
    )
  return { delayMs, delayMsMax, attemptsMax }
}

function checkDelay(name: string, value: number, least: number): void {
  if (typeof value === 'number' && value >= least && value <= TIMER_MS_MAX) return
  throw mustBe(name, `a number from ${least} to ${TIMER_MS_MAX}`, value)
}

class ConnectionKeeper implements KeptConnection {
  endpoint: Endpoint | undefined
  stopped: Promise<void> = Promise.resolve()
  readonly #options: KeepConnectedOptions
  readonly #attempts: Attempts
  readonly #stop = new AbortController()
  readonly #random = new Random(Math.floor(Math.random() * 2 ** 32))

  constructor(options: KeepConnectedOptions) {
    connectSettings(options)
    checkEndpointOptions(options)
    if (options.attemptFailed !== undefined)
      checkFunction('attemptFailed', options.attemptFailed, 'that takes the error')
    if (typeof options.connected !== 'function')
      throw new ArgumentError('connected', 'connected must be a function that takes each new endpoint')
    this.#attempts = attemptsOf(options)
    this.#options = options
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.endpoint?.close()
    await this.stopped
  }

  async run(): Promise<void> {
    const { delayMs: standsMs, attemptsMax } = this.#attempts
    const options = { ...this.#options, connected: this.#connected, signal: this.#stop.signal }
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        const endpoint = await openEndpoint(options)
        const sinceMs = performance.now()
        const error = await endpoint.ended
        if (performance.now() - sinceMs < standsMs) throw error ?? new ClosedError('the connection that was just made')
        failures = 0
        this.endpoint = undefined
      } catch (error) {
        const isMade = this.endpoint !== undefined
        this.endpoint = undefined
        if (this.#stop.signal.aborted) return
        failures += 1
        const isHopeless = isIncompatible(error) || (!isMade && error instanceof ArgumentError)
        const isOver = failures >= attemptsMax || isHopeless
        const delayMs = isOver ? undefined : this.#delay(failures)
        tellProgram(() => this.#options.attemptFailed?.(error, delayMs))
        if (delayMs === undefined) return
        await this.#sleep(delayMs)
      }
    }
  }

  /** The program may ask for the endpoint, or close us, from within. */
  readonly #connected = (endpoint: Endpoint): void => {
    this.endpoint = endpoint
    this.#options.connected(endpoint)
  }

  /** Between half of the doubled delay and all of it. */
  #delay(failures: number): number {
    const { delayMs, delayMsMax } = this.#attempts
    const most = Math.min(delayMsMax, delayMs * 2 ** Math.min(failures - 1, 30))
    return Math.ceil(most / 2 + this.#random.below(Math.ceil(most / 2) + 1))
  }

  #sleep(delayMs: number): Promise<void> {
    const { signal } = this.#stop
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(done, delayMs)
      function done(): void {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done)
    })
  }
}
