import { messageOfThrown } from '../native/index.ts'
import { Random } from '../runtime/index.ts'
import { type ConnectEndpointOptions, connectEndpoint } from './connect-endpoint.ts'
import { isIncompatible } from './connect-link.ts'
import type { Endpoint } from './endpoint.ts'

export interface KeepConnectedOptions extends Omit<ConnectEndpointOptions, 'signal'> {
  /**
   * Called with each new connection. What was under way on the one before is not repeated: its outcome is for the program to find out. What it throws ends this connection, and counts as a
   * failed attempt.
   */
  readonly connected: (endpoint: Endpoint) => void
  /** An attempt failed; the next begins after `delayMs`, or never where that is undefined. What it throws becomes a warning of the process. */
  readonly attemptFailed?: (error: unknown, delayMs: number | undefined) => void
  /** Before the second attempt, about; it doubles each time. Default 50. */
  readonly delayMs?: number
  /** Default 5000. */
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

/** Connect, and again whenever the connection is lost or closed by the peer, with a delay that doubles and is drawn anew each time, so that many clients do not come at once. */
export function keepConnected(options: KeepConnectedOptions): KeptConnection {
  const keeper = new ConnectionKeeper(options)
  keeper.stopped = keeper.run()
  return keeper
}

class ConnectionKeeper implements KeptConnection {
  endpoint: Endpoint | undefined
  stopped: Promise<void> = Promise.resolve()
  readonly #options: KeepConnectedOptions
  readonly #stop = new AbortController()
  readonly #random = new Random(Math.floor(Math.random() * 2 ** 32))

  constructor(options: KeepConnectedOptions) {
    this.#options = options
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.endpoint?.close()
    await this.stopped
  }

  async run(): Promise<void> {
    const { attemptsMax = Number.POSITIVE_INFINITY } = this.#options
    const options = { ...this.#options, connected: this.#connected, signal: this.#stop.signal }
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        const endpoint = await connectEndpoint(options)
        failures = 0
        await endpoint.ended
        this.endpoint = undefined
      } catch (error) {
        this.endpoint = undefined
        if (this.#stop.signal.aborted) return
        failures += 1
        const isOver = failures >= attemptsMax || isIncompatible(error)
        const delayMs = isOver ? undefined : this.#delay(failures)
        this.#tellFailed(error, delayMs)
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

  /** Whoever listens to failures may not end the attempts by a failure of its own. */
  #tellFailed(error: unknown, delayMs: number | undefined): void {
    try {
      this.#options.attemptFailed?.(error, delayMs)
    } catch (thrown) {
      process.emitWarning(thrown instanceof Error ? thrown : messageOfThrown(thrown))
    }
  }

  /** Between half of the doubled delay and all of it. */
  #delay(failures: number): number {
    const { delayMs = 50, delayMsMax = 5000 } = this.#options
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
