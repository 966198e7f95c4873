import { type ConnectionRequest, type Listener, listen } from '../cm/index.ts'
import {
  connectionOptions,
  type LinkConnectionOptions,
  linkOver,
  PRIVATE_DATA_BYTES,
  withHello,
} from './connect-link.ts'
import { DeviceContext } from './device-context.ts'
import { decodeHello, HELLO_BYTES } from './hello.ts'
import { LinkEnd } from './link-end.ts'
import { type LinkSettings, linkSettings } from './link-options.ts'
import type { VerbsLink } from './verbs-link.ts'

/** Who has connected. */
export interface LinkPeer {
  /** `address:port`, or undefined where the connection manager does not say. */
  readonly remote: string | undefined
  /** What it gave to `connect`, filled up with zeros. */
  readonly privateData: Uint8Array
}

export interface ListenLinksOptions extends LinkConnectionOptions {
  /** Default `::`, every address of the machine. */
  readonly address?: string
  /** Default 0: a free one. */
  readonly port?: number
  readonly device?: string
  /** How many requests may wait for an answer; default 128. */
  readonly backlog?: number
  /** Until a peer that was accepted is connected, too; default 10,000. */
  readonly connectTimeoutMs?: number
  readonly signal?: AbortSignal
  /** A connection was made. Messages wait until the link's `onMessage` is set. */
  readonly onLink: (link: VerbsLink, peer: LinkPeer) => void
  /** A client was turned away, or went away while it was let in. Others are not concerned. */
  readonly onClientError?: (error: unknown) => void
}

/** Wait for links. Keeps the program alive until it is closed. */
export async function listenLinks(options: ListenLinksOptions): Promise<LinkListener> {
  const settings = linkSettings(options)
  const { address, port, backlog, signal } = options
  const device = options.device ?? options.domain?.device.name
  const listener = await listen({
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
    ...(device === undefined ? {} : { device }),
    ...(backlog === undefined ? {} : { backlog }),
    ...(signal === undefined ? {} : { signal }),
  })
  return new LinkListener(listener, options, settings)
}

/** Lets peers in, each by itself: one that means harm, or goes away, is its own affair. */
export class LinkListener {
  readonly #listener: Listener
  readonly #options: ListenLinksOptions
  readonly #settings: LinkSettings

  /** @internal Made by {@link listenLinks}. */
  constructor(listener: Listener, options: ListenLinksOptions, settings: LinkSettings) {
    this.#listener = listener
    this.#options = options
    this.#settings = settings
    this.#serve().catch((error) => this.#options.onClientError?.(error))
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

  /** Let nobody in any more. Links that were made stay. Idempotent. */
  close(): void {
    this.#listener.close()
  }

  ref(): this {
    this.#listener.ref()
    return this
  }

  unref(): this {
    this.#listener.unref()
    return this
  }

  async #serve(): Promise<void> {
    for await (const request of this.#listener)
      this.#letIn(request).catch((error) => this.#options.onClientError?.(error))
  }

  async #letIn(request: ConnectionRequest): Promise<void> {
    try {
      decodeHello(request.privateData, this.#settings.peerRingBytesMax)
    } catch (error) {
      request.reject()
      throw error
    }
    const link = await this.#accept(request)
    const peer = { remote: textOf(request), privateData: request.privateData.subarray(HELLO_BYTES) }
    try {
      this.#options.onLink(link, peer)
    } catch (error) {
      link.destroy()
      throw error
    }
  }

  async #accept(request: ConnectionRequest): Promise<VerbsLink> {
    const { connectTimeoutMs = 10_000, privateData } = this.#options
    const context = DeviceContext.acquire(this.#options.domain ?? request.deviceName)
    let end: LinkEnd | undefined
    try {
      end = new LinkEnd(context, this.#settings)
      const own = withHello(end, privateData ?? new Uint8Array(0), PRIVATE_DATA_BYTES.accept)
      const connection = await request.accept({
        ...connectionOptions(this.#options, end, own),
        timeoutMs: connectTimeoutMs,
      })
      return linkOver(connection, end, context)
    } catch (error) {
      request.reject()
      end?.close()
      context.release()
      throw error
    }
  }
}

function textOf({ remote }: ConnectionRequest): string | undefined {
  return remote === undefined ? undefined : `${remote.address}:${remote.port}`
}
