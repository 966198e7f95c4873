import { ArgumentError, ClosedError, checkFunction, checkOptions } from '../native/index.ts'
import type { ConnectionAddress } from './address.ts'
import type { PortSpace } from './carrier.ts'
import { Connection } from './connection.ts'
import { ConnectionSide } from './connection-side.ts'
import { checkHanded, HandedIdentifier, HandedOver, type HandedRequest } from './handed-request.ts'
import { connectionNames } from './option-names.ts'
import { checkedPrivateData } from './private-data.ts'
import { type ConnectionOptions, checkConnectionOptions } from './terms.ts'

/** A peer's request for a connection: accept or reject it. */
export class ConnectionRequest {
  readonly portSpace: PortSpace
  /** The device through which the request came. */
  readonly deviceName: string
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  /** What the peer sent along. It may be longer than what the peer passed, padded with zeros. */
  readonly privateData: Uint8Array
  /** READs and atomics that the peer lets this end have under way at once. */
  readonly maxReadAtomic: number
  /** READs and atomics that the peer asks to have under way here at once. */
  readonly maxDestinationReadAtomic: number
  readonly retryCount: number
  readonly rnrRetry: number
  readonly flowControl: boolean
  readonly #link: ConnectionSide
  readonly #settled: () => void
  #handedOver: HandedOver | undefined

  /** @internal `settled` is called once it was answered or withdrawn. */
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

  /** False once it was answered, or the peer withdrew it. */
  get pending(): boolean {
    return this.#handedOver?.pending ?? this.#link.machine.state === 'requested'
  }

  /**
   * Make the queue pair, answer, and wait until the peer is connected too.
   * @throws ConnectionError if the peer went away in the meantime; TimeoutError; the signal's reason. On failure
   * nothing is left behind.
   */
  async accept(options: ConnectionOptions = {}): Promise<Connection> {
    this.#assertPending()
    checkOptions('accept', options, connectionNames)
    const privateData = checkConnectionOptions(options, this.portSpace, 'accept')
    options.signal?.throwIfAborted()
    this.#settled()
    await this.#link.answer(options, privateData)
    return new Connection(this.#link)
  }

  /**
   * Reject the request. `privateData` (at most 148 bytes, 136 in port space `udp`) arrives in the peer's
   * ConnectionRejectedError.
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
   * Hand the request to another thread of this process. Post the result with its `port` in the transfer list, and call
   * `takeRequest` there. The connection then belongs to that thread, with its queue pair and completions; only
   * connection manager events pass through this one. The connection ends when that thread ends. `ended` is called once
   * it is over, or if it was never made.
   */
  handOver(ended?: () => void): HandedRequest {
    this.#assertPending()
    if (ended !== undefined) checkFunction('ended', ended, 'without parameters')
    const { identifier, offer } = this.#link
    if (offer === undefined || this.portSpace === 'udp')
      throw new ArgumentError(
        'portSpace',
        'a request in port space udp cannot be handed over; answer it in the thread of its listener',
      )
    if (identifier.usePair !== undefined)
      throw new ArgumentError(
        'iwarpPeer',
        'a request of an iWARP peer cannot be handed over; answer it in the thread of its listener',
      )
    this.#handedOver = new HandedOver(identifier, offer, this.#settled, ended)
    return this.#handedOver.handed
  }

  #assertPending(): void {
    if (this.pending && this.#handedOver === undefined) return
    throw this.#link.withdrawn ?? new ClosedError('a request that was answered')
  }
}

/** Take a request that another thread handed over, and answer it as if it had come here. */
export function takeRequest(handed: HandedRequest): ConnectionRequest {
  checkHanded(handed)
  return new ConnectionRequest(new ConnectionSide(new HandedIdentifier(handed), handed.offer), () => undefined)
}
