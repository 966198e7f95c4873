import type { MessageLink } from '../messaging/index.ts'
import { ArgumentError, ClosedError, checkMilliseconds } from '../native/index.ts'
import { timerDelay } from '../runtime/index.ts'
import { BoundedWait } from './bounded-wait.ts'
import { ClientSession, type ClientSessionOptions, type SessionOwner } from './client-session.ts'
import { RpcError } from './errors.ts'

/** How a channel reconnects. */
export interface ReconnectOptions {
  /** Delay after a first failure, in ms; doubled with each further one. Default 10. */
  readonly backOffMsMin?: number
  /** The longest delay, in ms. Default 1,000. */
  readonly backOffMsMax?: number
  /** A server that has not said hello by then is given up, in ms. Default 10,000. */
  readonly helloMsMax?: number
}

/** A caller that needs a session. */
interface Waiter {
  readonly method: string
  readonly wait: BoundedWait<ClientSession>
}

/** The current session of a channel, and how it gets the next one. */
export class Reconnection implements SessionOwner {
  /** The session for calls: undefined while there is no connection, or its server drains. */
  current: ClientSession | undefined
  readonly #source: () => Promise<MessageLink>
  /** True if there may be another session after this one. */
  readonly renews: boolean
  readonly #options: ClientSessionOptions
  readonly #backOffMs: readonly [number, number]
  readonly #helloMsMax: number
  readonly #sessions = new Set<ClientSession>()
  readonly #waiters = new Set<Waiter>()
  #closed: Promise<void> | undefined
  #connecting = false
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #lastError: unknown

  constructor(
    source: () => Promise<MessageLink>,
    renews: boolean,
    options: ClientSessionOptions,
    { backOffMsMin = 10, backOffMsMax = 1000, helloMsMax = 10_000 }: ReconnectOptions,
  ) {
    for (const [name, ms] of Object.entries({ backOffMsMin, backOffMsMax, helloMsMax }))
      checkMilliseconds(`options.${name}`, ms)
    this.renews = renews
    this.#source = source
    this.#options = options
    this.#backOffMs = [backOffMsMin, backOffMsMax]
    this.#helloMsMax = helloMsMax
    void this.#connect()
  }

  /** A session for calls, as soon as there is one. */
  session(method: string, deadline: number, signal?: AbortSignal): Promise<ClientSession> {
    if (this.current !== undefined) return Promise.resolve(this.current)
    if (this.#closed !== undefined) return Promise.reject(new ClosedError('the channel'))
    if (this.#isOver) return Promise.reject(this.#unavailable(method, 'the connection has ended'))
    const late = (): RpcError => this.#unavailable(method, 'there was no connection in time')
    const wait = new BoundedWait<ClientSession>({ deadline, signal, late, ended: () => this.#waiters.delete(waiter) })
    const waiter: Waiter = { method, wait }
    this.#waiters.add(waiter)
    return wait.promise
  }

  /** A session whose server drains, if there is no other: it can still be queried. */
  get drainingSession(): ClientSession | undefined {
    if (this.current !== undefined || this.#closed !== undefined) return undefined
    return [...this.#sessions].find(({ draining, session }) => draining && session.open)
  }

  #turnAway(what: string): void {
    for (const { method, wait } of [...this.#waiters]) wait.reject(this.#unavailable(method, what))
  }

  get #isOver(): boolean {
    return !this.renews && !this.#connecting && this.current === undefined
  }

  #unavailable(method: string, what: string): RpcError {
    const cause = this.#lastError
    const why = cause instanceof Error ? `; last: ${cause.message}` : ''
    return new RpcError('ERR_AETHER_RPC_UNAVAILABLE', 'not-sent', method, `the call did not leave: ${what}${why}`, {
      cause,
    })
  }

  async #connect(): Promise<void> {
    if (this.#connecting || this.#closed !== undefined) return
    this.#connecting = true
    try {
      const session = await this.#greeted(await this.#source())
      // It may have ended since then.
      if (session?.session.open === true && !session.draining) {
        this.#failures = 0
        this.current = session
        for (const { wait } of [...this.#waiters]) wait.resolve(session)
      }
    } catch (error) {
      this.#lastError = error
      // A mistake of the program is not mended by time, so its callers hear of it now.
      if (error instanceof ArgumentError) for (const { wait } of [...this.#waiters]) wait.reject(error)
    }
    this.#connecting = false
    if (this.current === undefined) this.#again()
  }

  /** A session whose server has said hello; undefined if the channel was closed. */
  async #greeted(link: MessageLink): Promise<ClientSession | undefined> {
    if (this.#closed !== undefined) {
      await link.close()
      return undefined
    }
    const session = new ClientSession(link, this, this.#options)
    this.#sessions.add(session)
    const timer = setTimeout(() => {
      link.destroy(
        new RpcError(
          'ERR_AETHER_RPC_UNAVAILABLE',
          'not-sent',
          '',
          `the server did not say hello within ${this.#helloMsMax} ms; check that an RPC server listens there`,
        ),
      )
    }, timerDelay(this.#helloMsMax))
    try {
      session.start()
      await session.ready
    } finally {
      clearTimeout(timer)
    }
    return session
  }

  /** Another try after a wait, which is drawn, so that the clients of a server that comes back do not come at once. */
  #again(): void {
    if (this.#closed !== undefined) return
    if (!this.renews) {
      this.#turnAway('the connection has ended')
      return
    }
    if (this.#retry !== undefined) return
    const [least, most] = this.#backOffMs
    const delay = Math.min(most, least * 2 ** Math.min(20, this.#failures)) * (0.5 + Math.random() / 2)
    this.#failures += 1
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      void this.#connect()
    }, timerDelay(delay))
  }

  draining(): void {
    if (this.current?.draining === true) this.current = undefined
    if (this.current === undefined) this.#again()
  }

  ended(session: ClientSession, error: Error | undefined): void {
    this.#sessions.delete(session)
    if (error !== undefined) this.#lastError = error
    if (this.current === session) this.current = undefined
    if (this.current === undefined && !this.#connecting) this.#again()
  }

  poll(): number {
    const link = this.current?.session.link
    return link === undefined ? 0 : link.poll()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearTimeout(this.#retry)
    this.current = undefined
    this.#turnAway('the channel was closed')
    await Promise.all([...this.#sessions].map((session) => session.close()))
  }
}
