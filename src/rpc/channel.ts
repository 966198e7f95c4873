import {
  type ConnectLinkOptions,
  connectLink,
  connectLinkNames,
  type MemoryLending,
  type MessageLink,
} from '../messaging/index.ts'
import { checkBytes, checkMilliseconds, checkOptions, checkSignal, mustBe, type OptionNames } from '../native/index.ts'
import type { WaitBounds } from './bounded-wait.ts'
import { Caller, type ClientInterceptor } from './caller.ts'
import type { ClientSessionOptions } from './client-session.ts'
import type { Client } from './contract-types.ts'
import { ASSEMBLY_BYTES_MAX, BODY_BYTES_MAX, FENCE_MS, KEEP_ALIVE_MS, STREAM_WINDOW } from './defaults.ts'
import { checkInterceptors, checkLimits, checkLink } from './end-options.ts'
import type { ServerHealth } from './pings.ts'
import { lendingOf, RdmaBuffer } from './rdma-buffer.ts'
import { Reconnection, type ReconnectOptions } from './reconnection.ts'
import type { Service } from './service.ts'

/**
 * The source of links: the address of a server, a function that makes a link, or an existing link. The first two are
 * used again when a link has ended.
 */
export type LinkSource = ConnectLinkOptions | (() => Promise<MessageLink>) | MessageLink

/** Options of a channel. */
export interface ChannelOptions extends Partial<ClientSessionOptions>, ReconnectOptions {
  /** Time limit of unary calls that set none. Default 30,000; `Infinity`: no limit. Streams have no time limit. */
  readonly timeoutMs?: number
  /** Wrapped around each call, the first one outermost. */
  readonly interceptors?: readonly ClientInterceptor[]
}

const channelNames: OptionNames<ChannelOptions> = {
  timeoutMs: true,
  interceptors: true,
  callsMax: true,
  fenceMs: true,
  streamWindow: true,
  keepAliveMs: true,
  bodyBytesMax: true,
  assemblyBytesMax: true,
  backOffMsMin: true,
  backOffMsMax: true,
  helloMsMax: true,
}

/** How long to wait for a connection if there is none; for `health`, also for the answer. */
export interface WaitForConnection {
  /** Default 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const waitNames: OptionNames<WaitForConnection> = { timeoutMs: true, signal: true }

/** Calls that a channel has under way at a time, unless told otherwise. */
const CALLS_MAX = 16_384
const TIMEOUT_MS = 30_000
/** What errors of asking for health are about. */
const HEALTH = 'channel.health'

/**
 * A client's connection to a server, shared by the clients of its services. {@link ChannelOptions} lists its limits and
 * defaults.
 */
export class Channel implements AsyncDisposable {
  readonly #reconnection: Reconnection
  readonly #caller: Caller

  /** @internal Use {@link openChannel}. */
  constructor(source: LinkSource, options: ChannelOptions) {
    const { callsMax = CALLS_MAX, streamWindow = STREAM_WINDOW, keepAliveMs = KEEP_ALIVE_MS } = options
    const { bodyBytesMax = BODY_BYTES_MAX, assemblyBytesMax = ASSEMBLY_BYTES_MAX, fenceMs = FENCE_MS } = options
    const session = { callsMax, streamWindow, keepAliveMs, bodyBytesMax, assemblyBytesMax, fenceMs }
    const { timeoutMs = TIMEOUT_MS, interceptors = [] } = options
    checkLimits(session)
    checkMilliseconds('options.timeoutMs', timeoutMs)
    checkInterceptors(interceptors)
    checkSource(source)
    if (typeof source === 'object' && isAddress(source)) checkOptions('openChannel', source, connectLinkNames, 'source')
    this.#reconnection = new Reconnection(
      connector(source),
      typeof source === 'function' || isAddress(source),
      session,
      options,
    )
    this.#caller = new Caller(this.#reconnection, timeoutMs, interceptors)
  }

  /** Return the methods of a service as functions. */
  client<S extends Service>(service: S): Client<S> {
    return this.#caller.client(service) as Client<S>
  }

  /** Resolves when there is a connection and the server has said hello. @throws RpcError if there is none in time. */
  async ready(options: WaitForConnection = {}): Promise<void> {
    const { deadline, signal } = boundsOf('ready', options)
    await this.#reconnection.session('channel.ready', deadline, signal)
  }

  /**
   * Ask the server for its health. If the channel has left a draining server and found no other yet, that server is
   * asked. The time and the signal limit the wait for a connection and for the answer. @throws RpcError if there is
   * none in time.
   */
  async health(options: WaitForConnection = {}): Promise<ServerHealth> {
    const { deadline, signal } = boundsOf('health', options)
    const session = this.#reconnection.drainingSession ?? (await this.#reconnection.session(HEALTH, deadline, signal))
    return session.health(HEALTH, deadline, signal)
  }

  /**
   * Allocate zeroed memory for calls with buffers, over the device of the present connection. Servers reach it without
   * an intermediate copy, in calls that name it. It stays until it is released.
   * @throws RpcError if there is no connection in time; UnsupportedError if the link has no such memory; VerbsError
   * ENOMEM.
   */
  async allocate(lengthBytes: number, options: WaitForConnection = {}): Promise<RdmaBuffer> {
    return new RdmaBuffer((await this.#lending('allocate', options)).allocate(lengthBytes))
  }

  /**
   * Register existing memory for the same use. `shm` reaches it by copies between processes, which the machine may
   * forbid: prefer `allocate` there.
   */
  async register(bytes: Uint8Array, options: WaitForConnection = {}): Promise<RdmaBuffer> {
    checkBytes('bytes', bytes)
    return new RdmaBuffer((await this.#lending('register', options)).register(bytes))
  }

  async #lending(call: string, options: WaitForConnection): Promise<MemoryLending> {
    const { deadline, signal } = boundsOf(call, options)
    const session = await this.#reconnection.session(`channel.${call}`, deadline, signal)
    return lendingOf(session.session.link)
  }

  /** Process what has come, without the event loop, and return how many messages. For a thread that spins. */
  poll(): number {
    return this.#reconnection.poll()
  }

  /** Close the channel. Calls under way end with an error that says whether they had left. Idempotent. */
  close(): Promise<void> {
    return this.#reconnection.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** @throws ArgumentError; the reason of the signal if it is aborted. */
function boundsOf(call: string, options: WaitForConnection): Pick<WaitBounds, 'deadline' | 'signal'> {
  checkOptions(call, options, waitNames)
  const { timeoutMs = TIMEOUT_MS, signal } = options
  checkMilliseconds('options.timeoutMs', timeoutMs)
  checkSignal('options.signal', signal)
  return { deadline: performance.now() + timeoutMs, signal }
}

function isAddress(source: LinkSource): source is ConnectLinkOptions {
  return 'port' in source
}

/** @throws ArgumentError for what leads nowhere. */
function checkSource(source: LinkSource): void {
  const isOne = typeof source === 'function' || (typeof source === 'object' && source !== null)
  if (isOne && (typeof source === 'function' || isAddress(source) || typeof source.reserve === 'function')) return
  throw mustBe('source', '{ address, port, … } of a server, a link, or a function that makes one', source)
}

function connector(source: LinkSource): () => Promise<MessageLink> {
  if (typeof source === 'function') return () => linkOf(source)
  return isAddress(source) ? () => connectLink(source) : () => Promise.resolve(source)
}

async function linkOf(source: () => Promise<MessageLink>): Promise<MessageLink> {
  const link = await source()
  checkLink('the result of source', link)
  return link
}

/**
 * Open a channel to a server. It connects at once, and again when the connection is lost, unless `source` is a link.
 */
export function openChannel(source: LinkSource, options: ChannelOptions = {}): Channel {
  checkOptions('openChannel', options, channelNames)
  return new Channel(source, options)
}
