import { linkTimeout, type QueuePair, type RemoteEndpoint } from '../verbs/index.ts'
import { DeviceContext } from './device-context.ts'
import { LinkEnd } from './link-end.ts'
import { type LinkOptions, linkSettings } from './link-options.ts'
import { linkOverPair } from './link-over-pair.ts'
import type { VerbsLink } from './verbs-link.ts'

/** What one end of a link needs to know of the other. */
export interface LinkCard {
  readonly endpoint: RemoteEndpoint
  /** See `hello.ts`. */
  readonly hello: Uint8Array
}

/** The way to the peer. */
export interface LinkWay {
  /** Default: the name of the queue pair. */
  readonly peerText?: string
  /** The longest packet, in bytes; default: the port's. */
  readonly pathMtu?: number | undefined
}

/**
 * One end of a link whose two ends have another way to tell each other their cards than the connection manager. Each
 * end calls {@link connect} with the other's card, and then tells the other that it has. On a network, what is sent
 * before that would be repeated after a timeout.
 */
export class UnconnectedLink {
  readonly #context: DeviceContext
  readonly #end: LinkEnd
  readonly #pair: QueuePair

  /** `device` is the name of one. @throws ArgumentError for wrong options. */
  constructor(device: string, options: LinkOptions = {}) {
    const settings = linkSettings(options)
    this.#context = DeviceContext.acquire(device)
    let end: LinkEnd | undefined
    try {
      end = new LinkEnd(this.#context, settings)
      this.#pair = end.domain.createQueuePair({ type: 'rc', ...end.pairOptions })
      this.#end = end
    } catch (error) {
      end?.close()
      this.#context.release()
      throw error
    }
  }

  get card(): LinkCard {
    return { endpoint: this.#pair.endpoint, hello: this.#end.hello }
  }

  /** Connect, and make the link, to which everything belongs from now on. If that fails, everything is closed. */
  connect({ endpoint, hello }: LinkCard, { peerText, pathMtu }: LinkWay = {}): VerbsLink {
    const pair = this.#pair
    try {
      const timeout = linkTimeout(pair.domain.device.attributes.linkLayer)
      pair.connect(endpoint, { timeout, ...(pathMtu === undefined ? {} : { pathMtu }) })
      this.#end.prepare(pair)
      return linkOverPair({ pair, said: hello, peerText, close: () => pair.close() }, this.#end, this.#context)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Only if it was not connected. */
  close(): void {
    this.#pair.close()
    this.#end.close()
    this.#context.release()
  }
}
