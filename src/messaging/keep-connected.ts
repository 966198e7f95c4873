import { Random } from '../runtime/index.ts'
import { type ConnectEndpointOptions, connectEndpoint } from './connect-endpoint.ts'
import { isIncompatible } from './connect-link.ts'
import type { Endpoint } from './endpoint.ts'

export interface KeepConnectedOptions extends Omit<ConnectEndpointOptions, 'signal'> {
  /** Called with each new connection. What was under way on the one before is not repeated: its outcome is for the program to find out. */
  readonly connected: (endpoint: Endpoint) => void
  /** An attempt failed; the next begins after `delayMs`, or never where that is undefined. */
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
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        const endpoint = await connectEndpoint({ ...this.#options, signal: this.#stop.signal })
        this.endpoint = endpoint
        failures = 0
        await endpoint.ended
        this.endpoint = undefined
      } catch (error) {
        if (this.#stop.signal.aborted) return
        failures += 1
        const isOver = failures >= attemptsMax || isIncompatible(error)
        const delayMs = isOver ? undefined : this.#delay(failures)
        this.#options.attemptFailed?.(error, delayMs)
        if (delayMs === undefined) return
        await this.#sleep(delayMs)
      }
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
