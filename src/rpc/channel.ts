import { type ConnectLinkOptions, connectLink, type MemoryLending, type MessageLink } from '../messaging/index.ts'
import { ArgumentError } from '../native/index.ts'
import { Caller, type ClientInterceptor } from './caller.ts'
import type { ClientSessionOptions } from './client-session.ts'
import type { Client } from './contract-types.ts'
import { ASSEMBLY_BYTES_MAX, BODY_BYTES_MAX, FENCE_MS, KEEP_ALIVE_MS, STREAM_WINDOW } from './defaults.ts'
import type { ServerHealth } from './pings.ts'
import { lendingOf, RdmaBuffer } from './rdma-buffer.ts'
import { Reconnection, type ReconnectOptions } from './reconnection.ts'
import type { Service } from './service.ts'
import { TIMER_MS_MAX } from './timer-delay.ts'

/**
 * Where links come from: where a server listens, a function that makes a link, or one that is there. The first two are
 * used again when a link has ended.
 */
export type LinkSource = ConnectLinkOptions | (() => Promise<MessageLink>) | MessageLink

/** How a channel behaves. */
export interface ChannelOptions extends Partial<ClientSessionOptions>, ReconnectOptions {
  /**
   * Of unary calls, where they say nothing else. Default 30,000; `Infinity`: without end. Streams have no end of their
   * own.
   */
  readonly timeoutMs?: number
  /** Around each call, the first outermost. */
  readonly interceptors?: readonly ClientInterceptor[]
}

/** How long to wait for a connection, where there is none; of `health`, for the answer, too. */
export interface WaitForConnection {
  /** Default 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Calls that a channel has under way at a time, unless told otherwise. */
const CALLS_MAX = 16_384
const TIMEOUT_MS = 30_000
/** What errors of asking for health are about. */
const HEALTH = 'channel.health'

/**
 * A client's way to a server: clients of its services share it. Bounds and their defaults are in
 * {@link ChannelOptions}.
 */
export class Channel implements AsyncDisposable {
  readonly #reconnection: Reconnection
  readonly #caller: Caller

  /** @internal Use {@link openChannel}. */
  constructor(source: LinkSource, options: ChannelOptions) {
    const { callsMax = CALLS_MAX, streamWindow = STREAM_WINDOW, keepAliveMs = KEEP_ALIVE_MS } = options
    const { bodyBytesMax = BODY_BYTES_MAX, assemblyBytesMax = ASSEMBLY_BYTES_MAX, fenceMs = FENCE_MS } = options
    const session = { callsMax, streamWindow, keepAliveMs, bodyBytesMax, assemblyBytesMax, fenceMs }
    for (const [name, value] of Object.entries(session))
      if (!(value >= 1)) throw new ArgumentError(`options.${name}`, `it is at least 1, not ${value}`)
    if (fenceMs > TIMER_MS_MAX)
      throw new ArgumentError('options.fenceMs', `it is at most ${TIMER_MS_MAX}, not ${fenceMs}`)
    checkSource(source)
    this.#reconnection = new Reconnection(
      connector(source),
      typeof source === 'function' || isAddress(source),
      session,
      options,
    )
    this.#caller = new Caller(this.#reconnection, options.timeoutMs ?? TIMEOUT_MS, options.interceptors ?? [])
  }

  /** The methods of a service, as functions. */
  client<S extends Service>(service: S): Client<S> {
    return this.#caller.client(service) as Client<S>
  }

  /**
   * Resolves when there is a connection, and the server has said hello. @throws RpcError when there is none in time.
   */
  async ready(options: WaitForConnection = {}): Promise<void> {
    const { timeoutMs = TIMEOUT_MS, signal } = options
    await this.#reconnection.session('channel.ready', performance.now() + timeoutMs, signal)
  }

  /**
   * Asks the server how it is; where the channel has left one that drains and found no other yet, that one. The time
   * and the signal bound the wait for a connection and for the answer. @throws RpcError where there is none in time.
   */
  async health(options: WaitForConnection = {}): Promise<ServerHealth> {
    const { timeoutMs = TIMEOUT_MS, signal } = options
    const deadline = performance.now() + timeoutMs
    const session = this.#reconnection.drainingSession ?? (await this.#reconnection.session(HEALTH, deadline, signal))
    return session.health(HEALTH, deadline, signal)
  }

  /**
   * New zeroed memory for calls with buffers, over the device of the present connection. Servers reach it without a
   * copy between, in calls that name it. It stays until it is released.
   * @throws RpcError when there is no connection in time; UnsupportedError where the link has no such memory;
   * VerbsError ENOMEM.
   */
  async allocate(lengthBytes: number, options: WaitForConnection = {}): Promise<RdmaBuffer> {
    return new RdmaBuffer((await this.#lending('channel.allocate', options)).allocate(lengthBytes))
  }

  /**
   * The same for memory that exists. `shm` reaches it by copies between processes, which the machine may forbid: prefer
   * `allocate` there.
   */
  async register(bytes: Uint8Array, options: WaitForConnection = {}): Promise<RdmaBuffer> {
    return new RdmaBuffer((await this.#lending('channel.register', options)).register(bytes))
  }

  async #lending(what: string, { timeoutMs = TIMEOUT_MS, signal }: WaitForConnection): Promise<MemoryLending> {
    const session = await this.#reconnection.session(what, performance.now() + timeoutMs, signal)
    return lendingOf(session.session.link)
  }

  /** Takes what has come, without the event loop; how many messages. For a thread that spins. */
  poll(): number {
    return this.#reconnection.poll()
  }

  /** Calls under way end with an error that says whether they had left. Idempotent. */
  close(): Promise<void> {
    return this.#reconnection.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function isAddress(source: LinkSource): source is ConnectLinkOptions {
  return 'port' in source
}

/** @throws ArgumentError for what leads nowhere. */
function checkSource(source: LinkSource): void {
  const isOne = typeof source === 'function' || (typeof source === 'object' && source !== null)
  if (isOne && (typeof source === 'function' || isAddress(source) || typeof source.reserve === 'function')) return
  throw new ArgumentError(
    'source',
    'a channel takes { address, port, … } of a server, a link, or a function that makes one',
  )
}

function connector(source: LinkSource): () => Promise<MessageLink> {
  if (typeof source === 'function') return source
  return isAddress(source) ? () => connectLink(source) : () => Promise.resolve(source)
}

/** A way to a server. It is connected at once, and again when the connection is lost, unless `source` is a link. */
export function openChannel(source: LinkSource, options: ChannelOptions = {}): Channel {
  return new Channel(source, options)
}
