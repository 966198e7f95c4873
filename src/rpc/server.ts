import { randomBytes } from 'node:crypto'
import {
  type LinkListener,
  type ListenLinksOptions,
  listenLinks,
  listenNames,
  type MessageLink,
} from '../messaging/index.ts'
import { ArgumentError, ClosedError, checkFunction, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { DeadlineTimer, timerDelay } from '../runtime/index.ts'
import { AnswerTable } from './answer-table.ts'
import type { CallContext } from './call-context.ts'
import type { Handlers } from './contract-types.ts'
import { ASSEMBLY_BYTES_MAX, BODY_BYTES_MAX, FENCE_MS, KEEP_ALIVE_MS, STREAM_WINDOW } from './defaults.ts'
import { checkInterceptors, checkLimits, checkLink } from './end-options.ts'
import { methodsOf } from './method-info.ts'
import type { ServerCall } from './server-call.ts'
import type { CallOwner, ServedMethod, ServerCore, ServerLimits } from './server-core.ts'
import { ServerSession } from './server-session.ts'
import type { Service } from './service.ts'
import { within } from './within.ts'

/**
 * Wraps each handler. `next` continues, with this request or another, and returns what the handler returns: an answer,
 * a promise of one, or a stream.
 */
export type ServerInterceptor = (request: unknown, context: CallContext, next: (request: unknown) => unknown) => unknown

/** Options of a server. */
export interface ServerOptions extends Partial<ServerLimits> {
  /** Wrapped around each handler, the first one outermost. */
  readonly interceptors?: readonly ServerInterceptor[]
  /** Called with errors of handlers, except the service's own errors. */
  readonly onHandlerError?: (error: unknown, context: CallContext) => void
}

const serverNames: OptionNames<ServerOptions> = {
  interceptors: true,
  onHandlerError: true,
  callsMax: true,
  callsPerSessionMax: true,
  streamWindow: true,
  keepAliveMs: true,
  fenceMs: true,
  bodyBytesMax: true,
  assemblyBytesMax: true,
  answersKept: true,
  answerBytesKept: true,
  answerKeptMs: true,
}

const drainNames: OptionNames<{ readonly timeoutMs?: number }> = { timeoutMs: true }

const DEFAULTS: Required<ServerLimits> = {
  callsMax: 1024,
  callsPerSessionMax: 1024,
  streamWindow: STREAM_WINDOW,
  keepAliveMs: KEEP_ALIVE_MS,
  bodyBytesMax: BODY_BYTES_MAX,
  assemblyBytesMax: ASSEMBLY_BYTES_MAX,
  fenceMs: FENCE_MS,
  answersKept: 10_000,
  answerBytesKept: 16 << 20,
  answerKeptMs: 300_000,
}

/** Services behind any number of links. */
export class Server implements AsyncDisposable {
  readonly #core: Core
  readonly #options: ServerOptions
  readonly #sessions = new Set<ServerSession>()
  readonly #listeners = new Set<LinkListener>()
  #sessionNumber = 0
  #keepAlive: NodeJS.Timeout | undefined
  #closed: Promise<void> | undefined

  /** @internal Use {@link createServer}. */
  constructor(options: ServerOptions) {
    this.#options = options
    this.#core = new Core(limitsOf(options), options.onHandlerError)
  }

  /**
   * Serve a service. Existing links may call it from now on. @throws ArgumentError if its methods have the same number
   * as another's.
   */
  serve<S extends Service>(service: S, handlers: Handlers<S>): this {
    const { methods } = this.#core
    // A class with static methods is a function.
    if ((typeof handlers !== 'object' && typeof handlers !== 'function') || handlers === null)
      throw new ArgumentError('handlers', 'handlers must be an object with a function for each method of the service')
    const handlersByName = handlers as Readonly<Record<string, ServedMethod['handler'] | undefined>>
    for (const [name, info] of methodsOf(service, 'server')) {
      const handler = handlersByName[name]
      if (typeof handler !== 'function')
        throw new ArgumentError(
          `handlers.${name}`,
          `'${name}' of service '${service.name}' has no handler; pass a function for it`,
        )
      const other = methods.get(info.number)
      if (other !== undefined)
        throw new ArgumentError('service', `'${info.name}' and '${other.info.name}' have the same number; rename one`)
      const interceptors = this.#options.interceptors ?? []
      methods.set(info.number, {
        info,
        handler: intercepted(handler.bind(handlers), interceptors),
        looksAtTime: info.kind !== 'unary' || interceptors.length > 0 || handler.length !== 1,
      })
    }
    return this
  }

  /**
   * Listen for callers and answer their calls. The listener ends with the server, or before it by its own `close`.
   * @throws ClosedError if the server is closed, or drains, before it listens.
   */
  async listen(options: Omit<ListenLinksOptions, 'onLink'> = {}): Promise<LinkListener> {
    checkOptions('listen', options, listenNames)
    this.#checkListens()
    const listener = await listenLinks({ ...options, onLink: (link) => this.accept(link) })
    if (this.#core.draining) listener.close()
    this.#checkListens()
    this.#listeners.add(listener)
    return listener
  }

  #checkListens(): void {
    if (this.#core.draining) throw new ClosedError('the server')
  }

  /** Answer the calls that come over this link, until it ends. */
  accept(link: MessageLink): void {
    checkLink('link', link)
    if (this.#closed !== undefined) {
      void link.close()
      return
    }
    this.#sessionNumber += 1
    const session = new ServerSession(link, this.#sessionNumber, this.#core, () => {
      this.#sessions.delete(session)
    })
    this.#sessions.add(session)
    session.start()
    const { keepAliveMs } = this.#core.options
    if (keepAliveMs === Infinity || this.#keepAlive !== undefined) return
    this.#keepAlive = setInterval(() => {
      for (const each of this.#sessions) each.keepAliveTurn()
    }, timerDelay(keepAliveMs))
    this.#keepAlive.unref()
  }

  /** The number of links that have not ended. */
  get sessions(): number {
    return this.#sessions.size
  }

  /** The number of running handlers. */
  get active(): number {
    return this.#core.active
  }

  /**
   * Process what has come over all links, without the event loop, and return how many messages. For a thread that
   * spins.
   */
  poll(): number {
    let count = 0
    for (const { session } of this.#sessions) {
      count += session.link.poll()
      // What waits for room has only us.
      session.push()
    }
    return count
  }

  /**
   * Refuse new calls, wait for running ones until their answers have left, then close. After `timeoutMs` in all
   * (default 30,000) it closes anyway, and the signals of running handlers are aborted.
   */
  async drain(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    checkOptions('drain', options, drainNames)
    const { timeoutMs = 30_000 } = options
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0))
      throw mustBe('options.timeoutMs', 'a number of milliseconds of at least 0', timeoutMs)
    for (const listener of this.#listeners) listener.close()
    this.#core.draining = true
    await within(this.#drained(), timeoutMs)
    await this.close()
  }

  /** End all links; the signals of running handlers are aborted. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** What clients sent before they knew of it is refused, and not lost with the link. */
  async #drained(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.drain()))
    await this.#settled()
  }

  /** When no handler runs, and no answer waits. */
  async #settled(): Promise<void> {
    await this.#core.idle()
    await Promise.all([...this.#sessions].map(({ session }) => session.settled()))
  }

  async #close(): Promise<void> {
    clearInterval(this.#keepAlive)
    for (const listener of this.#listeners) listener.close()
    this.#core.draining = true
    await Promise.all([...this.#sessions].map(({ session }) => session.close()))
    this.#core.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Make a server without services: `createServer().serve(contract, handlers)`, then `listen` or `accept` links. */
export function createServer(options: ServerOptions = {}): Server {
  checkOptions('createServer', options, serverNames)
  const { interceptors, onHandlerError } = options
  checkInterceptors(interceptors)
  if (onHandlerError !== undefined)
    checkFunction('options.onHandlerError', onHandlerError, 'which takes the error and the context of its call')
  return new Server(options)
}

/** What the sessions share. */
class Core implements ServerCore {
  readonly options: ServerLimits
  readonly methods = new Map<number, ServedMethod>()
  readonly answers: AnswerTable
  /** Drawn, so that no two starts have the same; whole and below 2^48. */
  readonly incarnation: number = randomBytes(6).readUIntLE(0, 6) + 1
  draining = false
  active = 0
  readonly #onError: ServerOptions['onHandlerError']
  readonly #timed = new Map<ServerCall, CallOwner>()
  readonly #timer = new DeadlineTimer((now) => this.#expire(now))
  #idle: (() => void)[] = []

  constructor(options: ServerLimits, onError: ServerOptions['onHandlerError']) {
    this.options = options
    this.answers = new AnswerTable(options)
    this.#onError = onError
  }

  enter(call: ServerCall, owner: CallOwner): void {
    this.active += 1
    if (call.deadline === Infinity) return
    this.#timed.set(call, owner)
    this.#timer.due(call.deadline)
  }

  leave(call: ServerCall): void {
    this.active -= 1
    if (call.deadline !== Infinity) this.#timed.delete(call)
    if (this.active > 0 || this.#idle.length === 0) return
    for (const each of this.#idle.splice(0)) each()
  }

  /** When no handler runs. */
  async idle(): Promise<void> {
    // Another may have begun meanwhile: that of a call whose request was looked at before.
    while (this.active > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  failed(error: unknown, call: ServerCall): void {
    try {
      this.#onError?.(error, call)
    } catch {
      // A listener for errors must not cause more of them here.
    }
  }

  #expire(now: number): number {
    let next = Infinity
    for (const [call, owner] of this.#timed) {
      if (call.deadline > now) next = Math.min(next, call.deadline)
      else {
        this.#timed.delete(call)
        owner.expire(call)
      }
    }
    return next
  }

  /** The last connection has ended, and there will be no other: no caller can come for the answers of keys. */
  close(): void {
    this.answers.abandon(new ClosedError('the server'))
    this.#timer.clear()
  }
}

function limitsOf(options: ServerOptions): ServerLimits {
  const limits: { -readonly [K in keyof ServerLimits]: number } = { ...DEFAULTS }
  for (const name of Object.keys(DEFAULTS) as (keyof ServerLimits)[]) {
    const value = options[name]
    if (value !== undefined) limits[name] = value
  }
  checkLimits(limits)
  return limits
}

function intercepted(
  handler: (...args: never[]) => unknown,
  interceptors: readonly ServerInterceptor[],
): ServedMethod['handler'] {
  const innermost = handler as ServedMethod['handler']
  return interceptors.reduceRight<ServedMethod['handler']>(
    (next, interceptor) => (request, call) => interceptor(request, call, (changed) => next(changed, call)),
    innermost,
  )
}
