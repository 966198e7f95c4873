import { EVENT_DATA_BYTES, EVENT_WORDS, EventWord, ParameterWord, type RdmacmToken } from '../../native/index.ts'
import { decodeAddressVector, Errno } from '../../providers/index.ts'
import type { ConnectionEvent, ConnectionOffer, DatagramPeer, PortSpace } from '../carrier.ts'
import { RejectStatus } from '../errors.ts'

/** `enum rdma_cm_event_type`, in its order. */
export const eventTypes = [
  'address-resolved',
  'address-error',
  'route-resolved',
  'route-error',
  'connect-request',
  'connect-response',
  'connect-error',
  'unreachable',
  'rejected',
  'established',
  'disconnected',
  'device-removal',
  'multicast-join',
  'multicast-error',
  'address-change',
  'timewait-exit',
] as const

/**
 * Answers to the lookup of a datagram service (IBA specification 12.11.2.2, SIDR_REP status), as the reasons they are
 * for connections.
 */
const datagramRejections: ReadonlyMap<number, number> = new Map([
  [1, RejectStatus.InvalidServiceId],
  [2, RejectStatus.Consumer],
  [3, RejectStatus.NoQueuePair],
])

/** Over iWARP a rejection is an errno, which depends on the driver: the peer's program has refused. */
const refusals: ReadonlyMap<number, number> = new Map([
  [-Errno.ECONNREFUSED, RejectStatus.Consumer],
  [-Errno.ECONNRESET, RejectStatus.Consumer],
])

/** The words of one event, and their meaning. */
export class EventWords {
  readonly words: Float64Array = new Float64Array(EVENT_WORDS)
  readonly data: Uint8Array = new Uint8Array(EVENT_DATA_BYTES)

  /** The identifier that the event is for. */
  get identifier(): RdmacmToken {
    return this.#word(EventWord.identifier)
  }

  /** The identifier that a request brought. */
  get request(): RdmacmToken | undefined {
    const token = this.#word(EventWord.request)
    return token === 0 ? undefined : token
  }

  offer(): ConnectionOffer {
    return {
      privateData: this.#privateData(),
      responderResources: this.#parameter('responderResources'),
      initiatorDepth: this.#parameter('initiatorDepth'),
      flowControl: this.#parameter('flowControl') !== 0,
      retryCount: this.#parameter('retryCount'),
      rnrRetryCount: this.#parameter('rnrRetryCount'),
      sharedReceive: this.#parameter('sharedReceive') !== 0,
      queuePairNumber: this.#parameter('queuePairNumber'),
    }
  }

  /** Undefined for types that this version does not know, and for requests, which the channel takes. */
  event(portSpace: PortSpace): ConnectionEvent | undefined {
    const type = eventTypes[this.#word(EventWord.type)]
    const status = this.#word(EventWord.status)
    switch (type) {
      case undefined:
      case 'connect-request':
        return undefined
      case 'unreachable':
        return portSpace === 'udp' ? this.#datagramRefusal(status) : { type, status }
      case 'address-error':
      case 'route-error':
      case 'connect-error':
      case 'multicast-error':
        return { type, status }
      case 'connect-response':
        return { type, offer: this.offer() }
      case 'rejected':
        return { type, status: refusals.get(status) ?? status, privateData: this.#privateData() }
      case 'established':
        return portSpace === 'udp'
          ? { type, peer: this.#peer(), privateData: this.#privateData() }
          : { type, peer: undefined, privateData: this.#privateData(), offer: this.offer() }
      case 'disconnected':
        return { type, lost: false }
      case 'multicast-join':
        return { type, peer: this.#peer() }
      default:
        return { type }
    }
  }

  #datagramRefusal(status: number): ConnectionEvent {
    const reason = datagramRejections.get(status)
    if (reason === undefined) return { type: 'unreachable', status }
    return { type: 'rejected', status: reason, privateData: this.#privateData() }
  }

  #peer(): DatagramPeer {
    return {
      addressVector: decodeAddressVector(this.words, EventWord.parameters + ParameterWord.addressVector),
      queuePairNumber: this.#parameter('queuePairNumber'),
      queueKey: this.#parameter('queueKey'),
    }
  }

  #privateData(): Uint8Array {
    return this.data.slice(0, this.#word(EventWord.dataBytes))
  }

  #parameter(name: keyof typeof ParameterWord): number {
    return this.#word(EventWord.parameters + ParameterWord[name])
  }

  #word(at: number): number {
    return this.words[at]!
  }
}
