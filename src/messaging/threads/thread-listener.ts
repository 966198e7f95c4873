import type { ConnectionRequest, Listener } from '../../cm/index.ts'
import {
  AetherError,
  checkFunction,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  type OptionNames,
} from '../../native/index.ts'
import { admissionNames, admissionOf } from '../link-admission.ts'
import { type ListenPlace, listenAt, placeNames } from '../link-listener.ts'
import { IoThreadHandle, type IoThreadStatistics } from './io-thread.ts'
import type { ThreadLinkOptions } from './thread-contract.ts'
import { type IoThreadOptions, threadSettings } from './thread-options.ts'

/** Where to listen, how connections behave, and the threads that serve them. */
export interface ListenOnThreadsOptions extends ThreadLinkOptions, ListenPlace {
  readonly threads: IoThreadOptions
  /** A client was turned away, or went away while it was let in. Called in the listener's thread. */
  readonly clientError?: (error: unknown) => void
}

/** The names of these options. */
export const listenOnThreadsNames: OptionNames<ListenOnThreadsOptions> = {
  threads: true,
  clientError: true,
  ...placeNames,
  ...admissionNames,
}

export interface CloseThreadsOptions {
  /** How long connections may take to end gracefully, up to 24 days; default 5000. */
  readonly timeoutMs?: number
}

const closeNames: OptionNames<CloseThreadsOptions> = { timeoutMs: true }

const DEFAULT_CLOSE_TIMEOUT_MS = 5000
/** What a timer counts, less what threads are given beyond it. */
const CLOSE_TIMEOUT_MS_MAX = 2 ** 31 - 10_000

/**
 * Start the threads, and listen for connections for them. `call` has checked the names of the options. `roleUrl` names
 * a module of this package that says what they do with them.
 * @internal
 */
export async function listenOnThreads(
  call: string,
  options: ListenOnThreadsOptions,
  roleUrl: URL,
): Promise<ThreadListener> {
  const {
    threads: threadOptions,
    clientError = () => undefined,
    signal,
    address,
    port,
    backlog,
    device,
    ...link
  } = options
  checkSignal('signal', signal)
  checkFunction('clientError', clientError, 'that takes the error')
  admissionOf(link)
  const settings = threadSettings(call, threadOptions)
  const threads = Array.from(
    { length: settings.count },
    (_, index) => new IoThreadHandle({ index, settings, roleUrl: roleUrl.href, options: link, clientError }),
  )
  const closeAll = (): Promise<unknown> => Promise.all(threads.map((thread) => thread.close(DEFAULT_CLOSE_TIMEOUT_MS)))
  try {
    await Promise.all(threads.map((thread) => thread.start()))
    signal?.throwIfAborted()
    return new ThreadListener(await listenAt(options), threads, clientError, signal)
  } catch (error) {
    await closeAll()
    throw error
  }
}

/**
 * Lets peers in, and gives each to one of its threads: the one with the fewest connections. Keeps the program alive
 * until it is closed.
 */
export class ThreadListener implements AsyncDisposable {
  readonly #listener: Listener
  readonly #threads: readonly IoThreadHandle[]
  readonly #clientError: (error: unknown) => void
  readonly #signal: AbortSignal | undefined
  /** Where to begin to look among threads with the same load. */
  #turn = 0
  #closed: Promise<void> | undefined

  /** @internal Made by `listenEndpointsOnThreads` and `serveOnThreads`. */
  constructor(
    listener: Listener,
    threads: readonly IoThreadHandle[],
    clientError: (error: unknown) => void,
    signal: AbortSignal | undefined,
  ) {
    this.#listener = listener
    this.#threads = threads
    this.#clientError = clientError
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort)
    this.#serve().catch(clientError)
  }

  get address(): string {
    return this.#listener.address
  }

  get port(): number {
    return this.#listener.port
  }

  get closed(): boolean {
    return this.#listener.closed
  }

  /** The present figures of each thread. */
  get threads(): readonly IoThreadStatistics[] {
    return this.#threads.map((thread) => thread.statistics)
  }

  /**
   * Let no more peers in, have each thread end its connections gracefully, and end the threads. A thread that has not
   * ended a second after `timeoutMs` is ended by force, and its connections with it. Idempotent; the first call's
   * options count.
   */
  close(options: CloseThreadsOptions = {}): Promise<void> {
    checkOptions('close', options, closeNames)
    if (options.timeoutMs !== undefined) checkMilliseconds('options.timeoutMs', options.timeoutMs)
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  ref(): this {
    this.#listener.ref()
    for (const thread of this.#threads) thread.hold(true)
    return this
  }

  /** Let the program end while the listener and its connections are open. */
  unref(): this {
    this.#listener.unref()
    for (const thread of this.#threads) thread.hold(false)
    return this
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  readonly #onAbort = (): void => void this.close()

  async #close({ timeoutMs = DEFAULT_CLOSE_TIMEOUT_MS }: CloseThreadsOptions): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#listener.close()
    await Promise.all(this.#threads.map((thread) => thread.close(Math.min(timeoutMs, CLOSE_TIMEOUT_MS_MAX))))
  }

  async #serve(): Promise<void> {
    for await (const request of this.#listener) {
      try {
        this.#give(request)
      } catch (error) {
        request.reject()
        this.#clientError(error)
      }
    }
  }

  #give(request: ConnectionRequest): void {
    const thread = this.#leastLoaded()
    if (thread === undefined)
      throw new AetherError(
        'ERR_AETHER_IO_THREAD',
        "a client was turned away because no IO thread is running; the listener's `threads` shows which will be restarted",
      )
    thread.give(request)
  }

  #leastLoaded(): IoThreadHandle | undefined {
    const { length } = this.#threads
    let least: IoThreadHandle | undefined
    for (let offset = 0; offset < length; offset += 1) {
      const thread = this.#threads[(this.#turn + offset) % length]!
      if (thread.running && (least === undefined || thread.load < least.load)) least = thread
    }
    this.#turn = least === undefined ? 0 : (least.index + 1) % length
    return least
  }
}
