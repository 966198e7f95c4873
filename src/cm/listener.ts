import { checkOptions, checkSignal, checkWhole, type OptionNames } from '../native/index.ts'
import { KeepAlive } from '../runtime/index.ts'
import { type ConnectionAddress, formatAddress } from './address.ts'
import type { ConnectionEvent, ConnectionIdentifier, PortSpace } from './carrier.ts'
import { checkPortSpace, chooseCarrier, type DeviceChoice, listenersCarriers } from './carriers.ts'
import { ConnectionRequest } from './connection-request.ts'
import { ConnectionSide } from './connection-side.ts'
import { checkTimeout, checkWait, Deadline, type WaitOptions } from './deadline.ts'
import { ConnectionError } from './errors.ts'
import { deviceNames } from './option-names.ts'
import { lookupAddress } from './resolve.ts'

export interface ListenOptions extends DeviceChoice {
  /** A numeric address, or a name. Default `::`, every address of the machine. */
  readonly address?: string
  /** Default 0: a free port, which `listener.port` reports. */
  readonly port?: number
  /** Default `tcp`. */
  readonly portSpace?: PortSpace
  /** How many requests may wait for an answer; further ones are rejected. Default 128. */
  readonly backlog?: number
  /** A request that is not answered within this many milliseconds is rejected. Default 60,000. */
  readonly answerTimeoutMs?: number
  /** Closes the listener. */
  readonly signal?: AbortSignal
}

const listenNames: OptionNames<ListenOptions> = {
  ...deviceNames,
  address: true,
  port: true,
  portSpace: true,
  backlog: true,
  answerTimeoutMs: true,
  signal: true,
}

const DEFAULT_BACKLOG = 128
const BACKLOG_MAX = 4096
const DEFAULT_ANSWER_TIMEOUT_MS = 60_000
/** How many free ports of one carrier are tried in another. */
const PORT_ATTEMPTS = 10

/**
 * Listen for connections at an address and port.
 * @throws ConnectionError if the address is not this machine's or the port is taken.
 */
export async function listen(options: ListenOptions = {}): Promise<Listener> {
  checkOptions('listen', options, listenNames)
  const { address = '::', port = 0, portSpace = 'tcp', backlog = DEFAULT_BACKLOG, signal } = options
  checkPortSpace(portSpace)
  checkWhole('backlog', backlog, 1, BACKLOG_MAX)
  if (options.answerTimeoutMs !== undefined) checkTimeout('answerTimeoutMs', options.answerTimeoutMs)
  checkSignal('signal', signal)
  chooseCarrier(options)
  const local = await lookupAddress(address, port, signal === undefined ? {} : { signal })
  for (let attempt = 1; ; attempt += 1) {
    const identifiers = listenersCarriers(options, local).map((carrier) => carrier.createIdentifier(portSpace))
    try {
      let where = local
      for (const identifier of identifiers) {
        await identifier.listen(where, backlog)
        where = identifier.local!
      }
      signal?.throwIfAborted()
      return new Listener(identifiers, options)
    } catch (error) {
      for (const identifier of identifiers) identifier.destroy()
      // A port that is free in one place may be taken in another.
      if (port !== 0 || identifiers.length === 1 || attempt >= PORT_ATTEMPTS || signal?.aborted === true) throw error
    }
  }
}

/** A waiting caller of `next`. */
type Waiter = (request: ConnectionRequest | undefined, error?: unknown) => void

/**
 * Yields connection requests one by one: `for await (const request of listener)`. Keeps the program alive until it is
 * closed; see `unref`.
 */
export class Listener implements AsyncIterable<ConnectionRequest> {
  readonly portSpace: PortSpace
  /** One for each carrier, at the same address and port. */
  readonly #identifiers: readonly ConnectionIdentifier[]
  readonly #local: ConnectionAddress
  readonly #deviceName: string | undefined
  readonly #backlog: number
  readonly #answerTimeoutMs: number
  readonly #signal: AbortSignal | undefined
  readonly #keepAlive = new KeepAlive()
  #held = false
  /** Not handed out yet. */
  readonly #queue: ConnectionRequest[] = []
  /** Not answered yet, with what ends their wait. */
  readonly #undecided = new Map<ConnectionRequest, NodeJS.Timeout>()
  readonly #waiters: Waiter[] = []
  #closed = false

  /** @internal Made by {@link listen}. */
  constructor(identifiers: readonly ConnectionIdentifier[], options: ListenOptions) {
    const [first] = identifiers as readonly [ConnectionIdentifier]
    this.#identifiers = identifiers
    this.#local = first.local!
    this.#deviceName = chooseCarrier(options).deviceName
    this.#backlog = options.backlog ?? DEFAULT_BACKLOG
    this.#answerTimeoutMs = options.answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS
    this.#signal = options.signal
    this.portSpace = first.portSpace
    for (const identifier of identifiers) identifier.onEvent = (event) => this.#carried(event)
    options.signal?.addEventListener('abort', this.#onAbort)
    this.ref()
  }

  get address(): string {
    return this.#local.address
  }

  get port(): number {
    return this.#local.port
  }

  get family(): 4 | 6 {
    return this.#local.family
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Return the next request, or undefined once the listener is closed. Without `timeoutMs` it waits indefinitely. */
  async next(options: WaitOptions = {}): Promise<ConnectionRequest | undefined> {
    checkWait('next', options)
    const ready = this.#takeQueued()
    if (ready !== undefined || this.#closed) return ready
    return new Promise((done, reject) => {
      const waiter: Waiter = (request, error) => {
        deadline?.clear()
        if (error === undefined) done(request)
        else reject(error)
      }
      const give = (error: unknown): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        waiter(undefined, error)
      }
      const { timeoutMs, signal } = options
      const bounded = timeoutMs !== undefined || signal !== undefined
      const what = `a request for ${formatAddress(this.#local)}`
      const deadline = bounded
        ? new Deadline({ ...options, timeoutMs: timeoutMs ?? 2 ** 31 - 1 }, what, give)
        : undefined
      this.#waiters.push(waiter)
    })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ConnectionRequest, void, void> {
    for (let request = await this.next(); request !== undefined; request = await this.next()) yield request
  }

  /** Stop listening and reject unanswered requests. Existing connections stay. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    for (const request of [...this.#undecided.keys()]) request.reject()
    this.#queue.length = 0
    for (const identifier of this.#identifiers) identifier.destroy()
    this.unref()
    for (const waiter of this.#waiters.splice(0)) waiter(undefined)
  }

  ref(): this {
    if (this.#held || this.#closed) return this
    this.#held = true
    this.#keepAlive.hold()
    return this
  }

  /** Let the program end while the listener is open. */
  unref(): this {
    if (this.#held) this.#keepAlive.release()
    this.#held = false
    return this
  }

  [Symbol.dispose](): void {
    this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close()
    return Promise.resolve()
  }

  readonly #onAbort = (): void => this.close()

  /** The first that its peer has not taken back meanwhile. */
  #takeQueued(): ConnectionRequest | undefined {
    for (let request = this.#queue.shift(); request !== undefined; request = this.#queue.shift()) {
      if (request.pending) return request
      this.#settle(request)
    }
    return undefined
  }

  #carried(event: ConnectionEvent): void {
    if (event.type === 'connect-request') this.#arrived(event)
    else if (event.type === 'device-removal')
      this.#fail(new ConnectionError('listen', 0, `the device of ${formatAddress(this.#local)} was removed`))
  }

  #arrived({ identifier, offer }: Extract<ConnectionEvent, { type: 'connect-request' }>): void {
    const request = new ConnectionRequest(new ConnectionSide(identifier, offer), () => this.#settle(request))
    for (const [other] of this.#undecided) if (!other.pending) this.#settle(other)
    const wrongDevice = this.#deviceName !== undefined && identifier.deviceName !== this.#deviceName
    if (wrongDevice || this.#undecided.size >= this.#backlog) {
      request.reject()
      return
    }
    const timer = setTimeout(() => request.reject(), this.#answerTimeoutMs).unref()
    this.#undecided.set(request, timer)
    const waiter = this.#waiters.shift()
    if (waiter === undefined) this.#queue.push(request)
    else waiter(request)
  }

  #settle(request: ConnectionRequest): void {
    clearTimeout(this.#undecided.get(request))
    this.#undecided.delete(request)
  }

  #fail(error: ConnectionError): void {
    const waiters = this.#waiters.splice(0)
    this.close()
    for (const waiter of waiters) waiter(undefined, error)
  }
}
