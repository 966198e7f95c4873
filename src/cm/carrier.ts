/**
 * The seam of this room: what it needs of a carrier of connection messages. There are four: librdmacm for real
 * devices, sockets in the runtime directory for the embedded one, TCP ports for the tcp devices, and MPA between those
 * and other programs. The shape is that
 * of rdma_cm(7): identifiers, calls that return at once, and events.
 *
 * - Calls that fail at once throw; calls that take time end with an event. Events are never given from within a call.
 * - After `destroy` no event of that identifier is delivered, and all it took is released. It may be called from an
 *   event.
 * - An identifier never keeps the program alive by itself.
 */
import type { AddressVector, Gid, QueuePair, QueuePairAttributes, QueuePairState } from '../verbs/index.ts'
import type { ConnectionAddress } from './address.ts'

/** `tcp` connects (RC); `udp` finds the queue pair of a datagram service (UD). Their ports are apart. */
export type PortSpace = 'tcp' | 'udp'

/** The local end of a queue pair. */
export interface LocalEndpoint {
  readonly gid: Gid
  readonly queuePairNumber: number
  readonly psn: number
}

/** What one end announces about itself: struct rdma_conn_param. */
export interface ConnectionParameters {
  readonly privateData: Uint8Array
  /** READs and atomics of the peer that may be under way here. */
  readonly responderResources: number
  /** READs and atomics of this end that may be under way there. */
  readonly initiatorDepth: number
  readonly flowControl: boolean
  /** How often both ends retry without an acknowledgement. Ignored in an answer. */
  readonly retryCount: number
  /** How often the peer retries if no receive was posted here. */
  readonly rnrRetryCount: number
  readonly sharedReceive: boolean
  readonly endpoint: LocalEndpoint
}

/** How to reach a datagram service or a multicast group. */
export interface DatagramPeer {
  readonly addressVector: AddressVector
  readonly queuePairNumber: number
  readonly queueKey: number
}

/** What the other end announced, as seen from here: `initiatorDepth` is what this end may have under way there. */
export interface ConnectionOffer {
  readonly privateData: Uint8Array
  readonly responderResources: number
  readonly initiatorDepth: number
  readonly flowControl: boolean
  readonly retryCount: number
  readonly rnrRetryCount: number
  readonly sharedReceive: boolean
  readonly queuePairNumber: number
}

/** An event of an identifier: rdma_get_cm_event(3). `status` is a negative errno or a number of the transport. */
export type ConnectionEvent =
  | { readonly type: 'address-resolved' }
  | { readonly type: 'address-error'; readonly status: number }
  | { readonly type: 'route-resolved' }
  | { readonly type: 'route-error'; readonly status: number }
  | { readonly type: 'connect-request'; readonly identifier: ConnectionIdentifier; readonly offer: ConnectionOffer }
  | { readonly type: 'connect-response'; readonly offer: ConnectionOffer }
  | { readonly type: 'connect-error'; readonly status: number }
  | { readonly type: 'unreachable'; readonly status: number }
  | { readonly type: 'rejected'; readonly status: number; readonly privateData: Uint8Array }
  /** `offer`: what a peer announced whose answer was not told of before, because the carrier moves the queue pair. */
  | {
      readonly type: 'established'
      readonly peer: DatagramPeer | undefined
      readonly privateData: Uint8Array
      readonly offer?: ConnectionOffer
    }
  /** `lost`: it went without a word, as far as the carrier can tell. */
  | { readonly type: 'disconnected'; readonly lost: boolean }
  | { readonly type: 'device-removal' }
  | { readonly type: 'multicast-join'; readonly peer: DatagramPeer }
  | { readonly type: 'multicast-error'; readonly status: number }
  | { readonly type: 'address-change' }
  | { readonly type: 'timewait-exit' }

/** One identifier: rdma_cm_id. */
export interface ConnectionIdentifier {
  /**
   * Receives its events. Set it before the first call; for an incoming request, before the event that brought it
   * returns.
   */
  onEvent: (event: ConnectionEvent) => void
  readonly portSpace: PortSpace
  /** The device that the identifier is bound to, once the address is resolved or a request has come. */
  readonly deviceName: string | undefined
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  /**
   * @internal Told of the queue pair, in INIT, before `connect` and `accept`, by carriers that need it: its connection
   * carries their own messages first.
   */
  usePair?(pair: QueuePair): void
  /** rdma_bind_addr + rdma_listen. Port 0 takes a free one; `local` then says which. */
  listen(local: ConnectionAddress, backlog: number): Promise<void>
  resolveAddress(source: ConnectionAddress | undefined, destination: ConnectionAddress, timeoutMs: number): void
  resolveRoute(timeoutMs: number): void
  connect(parameters: ConnectionParameters): void
  accept(parameters: ConnectionParameters): void
  reject(privateData: Uint8Array): void
  /** The active end's queue pair is ready: rdma_establish. */
  establish(): void
  disconnect(): void
  /**
   * rdma_init_qp_attr: the attributes that lead the queue pair `endpoint` to `state`. On iWARP the carrier leads it
   * from INIT on, by `connect` and `accept`: those for RTR then have no address vector. Both ends get `established`.
   */
  queuePairAttributes(state: QueuePairState, endpoint: LocalEndpoint): QueuePairAttributes
  joinMulticast(group: ConnectionAddress): void
  leaveMulticast(group: ConnectionAddress): void
  destroy(): void
}

export interface Carrier {
  readonly name: 'shm' | 'rdmacm' | 'tcp' | 'iwarp'
  createIdentifier(portSpace: PortSpace): ConnectionIdentifier
}
