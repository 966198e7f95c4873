import { ArgumentError, ClosedError } from '../native/index.ts'
import { Random } from '../runtime/index.ts'
import { type ConnectEndpointOptions, connectEndpoint } from './connect-endpoint.ts'
import { connectSettings, isIncompatible } from './connect-link.ts'
import type { Endpoint } from './endpoint.ts'
import { checkedHandlers } from './endpoint-handlers.ts'
import { tellProgram } from './tell-program.ts'

export interface KeepConnectedOptions extends Omit<ConnectEndpointOptions, 'signal'> {
  /**
   * Called with each new connection. What was under way on the one before is not repeated: its outcome is for the
   * program to find out. What it throws ends this connection, and counts as a failed attempt.
   */
  readonly connected: (endpoint: Endpoint) => void
  /**
   * An attempt failed; the next begins after `delayMs`, or never where that is undefined. What it throws becomes a
   * warning of the process.
   */
  readonly attemptFailed?: (error: unknown, delayMs: number | undefined) => void
  /**
   * Before the second attempt, about; it doubles each time. A connection that ends before it has stood for so long
   * counts as a failed attempt. Default 50.
   */
  readonly delayMs?: number
  /** Default 5000, or `delayMs` where that is more. */
  readonly delayMsMax?: number
  /** Attempts in a row that may fail; default: as many as it takes. */
  readonly attemptsMax?: number
}

/** What keeps a connection. */
export interface KeptConnection {
  /** The present one; undefined while there is none. */
  readonly endpoint: Endpoint | undefined
  /** Resolves when no more attempts are made. */
  readonly stopped: Promise<void>
  /** Make no more attempts, and close the present connection. */
  close(): Promise<void>
}

/**
 * Connect, and again whenever the connection is lost or closed by the peer, with a delay that doubles and is drawn anew
 * each time, so that many clients do not come at once. Count and delay begin anew after a connection that stood for
 * `delayMs`; the first attempt after that is made at once. No more attempts are made once one has found a peer of
 * another version, or options that no attempt can meet.
 * @throws ArgumentError for options that cannot be, as far as that is known before the first attempt.
 */
export function keepConnected(options: KeepConnectedOptions): KeptConnection {
  const keeper = new ConnectionKeeper(options)
  keeper.stopped = keeper.run()
  return keeper
}

const TIMER_MS_MAX = 2 ** 31 - 1
const DEFAULT_DELAY_MS = 50
const DEFAULT_DELAY_MS_MAX = 5000

interface Attempts {
  readonly delayMs: number
  readonly delayMsMax: number
  readonly attemptsMax: number
}

function attemptsOf(options: KeepConnectedOptions): Attempts {
  const { delayMs = DEFAULT_DELAY_MS, attemptsMax = Number.POSITIVE_INFINITY } = options
  const { delayMsMax = Math.max(delayMs, DEFAULT_DELAY_MS_MAX) } = options
  checkDelay('delayMs', delayMs, 1)
  checkDelay('delayMsMax', delayMsMax, delayMs)
  if (!((Number.isInteger(attemptsMax) && attemptsMax >= 1) || attemptsMax === Number.POSITIVE_INFINITY))
    throw new ArgumentError('attemptsMax', `attempts are an integer from 1 on, or Infinity, not ${attemptsMax}`)
  return { delayMs, delayMsMax, attemptsMax }
}

function checkDelay(name: string, value: number, least: number): void {
  if (value >= least && value <= TIMER_MS_MAX) return
  throw new ArgumentError(name, `${name} is a number from ${least} to ${TIMER_MS_MAX}, not ${value}`)
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
    checkedHandlers(options.handlers)
    if (typeof options.connected !== 'function')
      throw new ArgumentError('connected', 'connected is a function: it is given each new endpoint')
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
        const endpoint = await connectEndpoint(options)
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
