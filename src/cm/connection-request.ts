import { ArgumentError, ClosedError } from '../native/index.ts'
import type { ConnectionAddress } from './address.ts'
import type { PortSpace } from './carrier.ts'
import { Connection } from './connection.ts'
import { ConnectionSide } from './connection-side.ts'
import { HandedIdentifier, HandedOver, type HandedRequest } from './handed-request.ts'
import { checkedPrivateData } from './private-data.ts'
import { type ConnectionOptions, checkConnectionOptions } from './terms.ts'

/** Somebody wants to connect: accept or reject. */
export class ConnectionRequest {
  readonly portSpace: PortSpace
  /** The device that the request came in by. */
  readonly deviceName: string
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  /** What the peer sent along; it may be longer than what was given there, filled up with zeros. */
  readonly privateData: Uint8Array
  /** READs and atomics that the peer lets this end have under way at once. */
  readonly maxReadAtomic: number
  /** READs and atomics that the peer would like to have under way here. */
  readonly maxDestinationReadAtomic: number
  readonly retryCount: number
  readonly rnrRetry: number
  readonly flowControl: boolean
  readonly #link: ConnectionSide
  readonly #settled: () => void
  #handedOver: HandedOver | undefined

  /** @internal `settled` is called once it was answered or taken back. */
  constructor(link: ConnectionSide, settled: () => void) {
    const { identifier, offer } = link
    this.#link = link
    this.#settled = settled
    this.portSpace = identifier.portSpace
    this.deviceName = identifier.deviceName ?? ''
    this.local = identifier.local
    this.remote = identifier.remote
    this.privateData = link.privateData
    this.maxReadAtomic = offer?.initiatorDepth ?? 0
    this.maxDestinationReadAtomic = offer?.responderResources ?? 0
    this.retryCount = offer?.retryCount ?? 0
    this.rnrRetry = offer?.rnrRetryCount ?? 0
    this.flowControl = offer?.flowControl ?? false
  }

  /** False once it was answered, or the peer took it back. */
  get pending(): boolean {
    return this.#handedOver?.pending ?? this.#link.machine.state === 'requested'
  }

  /**
   * Make the queue pair, answer, and wait until the peer is connected too.
   * @throws ConnectionError when the peer went away meanwhile; TimeoutError; the signal's reason. Then nothing is left
   * behind.
   */
  async accept(options: ConnectionOptions = {}): Promise<Connection> {
    this.#assertPending()
    checkConnectionOptions(options, this.portSpace, 'accept')
    options.signal?.throwIfAborted()
    this.#settled()
    await this.#link.answer(options)
    return new Connection(this.#link)
  }

  /**
   * Say no. `privateData` (at most 148 bytes, 136 in port space `udp`) arrives in the peer's ConnectionRejectedError.
   */
  reject(privateData?: Uint8Array): void {
    const data = checkedPrivateData(privateData, this.portSpace, 'reject')
    if (!this.pending) return
    if (this.#handedOver !== undefined) {
      this.#handedOver.end(data)
      return
    }
    this.#settled()
    this.#link.refuse(data)
  }

  /**
   * Have another thread of this process answer: post what this gives with its `port` in the transfer list, and call
   * `takeRequest` there. The connection then belongs to that thread, its queue pair and its completions are there; only
   * what the connection manager says of it comes by way of this one. It ends when that thread ends. `ended` is called
   * once it is over, or was never made.
   */
  handOver(ended?: () => void): HandedRequest {
    this.#assertPending()
    const { identifier, offer } = this.#link
    if (offer === undefined || this.portSpace === 'udp')
      throw new ArgumentError('portSpace', 'a datagram service answers in the thread that it belongs to')
    this.#handedOver = new HandedOver(identifier, offer, this.#settled, ended)
    return this.#handedOver.handed
  }

  #assertPending(): void {
    if (this.pending && this.#handedOver === undefined) return
    throw this.#link.withdrawn ?? new ClosedError('a request that was answered')
  }
}

/** A request that another thread handed over, to be answered here as if it had come here. */
export function takeRequest(handed: HandedRequest): ConnectionRequest {
  return new ConnectionRequest(new ConnectionSide(new HandedIdentifier(handed), handed.offer), () => undefined)
}
