/**
 * The connection manager's part of the addon: calls of librdmacm, no policy. It exists only if the addon was compiled
 * with `<rdma/rdma_cma.h>`. {@link RdmacmAddon.load} opens the library itself.
 *
 * Identifiers (`struct rdma_cm_id`) are named by tokens that are never reused, so a stale one throws ArgumentError. All
 * identifiers of an environment share one event channel. Failing calls throw SystemError. Nothing blocks.
 */
import { VECTOR_WORDS } from './verbs-addon.ts'

export type RdmacmToken = number

/**
 * Where each field of a `struct rdma_conn_param` or `rdma_ud_param` lies in its words; native/rdmacm-identifiers.h has
 * the same list.
 */
export const ParameterWord = {
  responderResources: 0,
  initiatorDepth: 1,
  flowControl: 2,
  retryCount: 3,
  rnrRetryCount: 4,
  sharedReceive: 5,
  queuePairNumber: 6,
  queueKey: 7,
  addressVector: 8,
} as const
export const PARAMETER_WORDS: number = ParameterWord.addressVector + VECTOR_WORDS

/** Where each field of an event lies in its words. `type` is `enum rdma_cm_event_type`. */
export const EventWord = { type: 0, status: 1, identifier: 2, request: 3, dataBytes: 4, parameters: 5 } as const
export const EVENT_WORDS: number = EventWord.parameters + PARAMETER_WORDS

/** The most private data in an event, in bytes. */
export const EVENT_DATA_BYTES = 256

export interface RdmacmAddress {
  /** Empty if there is none yet. */
  readonly address: string
  readonly port: number
}

export interface RdmacmFacts {
  /** Empty if it is not bound to a device. */
  readonly device: string
  /** The port of the device, from 1; 0 if it is not bound to a device. */
  readonly port: number
  readonly local: RdmacmAddress
  readonly remote: RdmacmAddress
}

export interface RdmacmAddon {
  /** The numbers by which the addon knows the words, under the names used here. */
  layout(): Readonly<Record<string, number>>
  /** Open librdmacm, once for each process. Returns an empty text, or why it cannot be opened. */
  load(): string
  /** Open the environment's event channel, unless it is open. Returns its descriptor, readable while an event waits. */
  open(): number
  /** rdma_create_id(3), in port space UDP if `datagram`, else TCP. */
  createIdentifier(datagram: boolean): RdmacmToken
  /** rdma_destroy_id(3). Idempotent. */
  destroyIdentifier(identifier: RdmacmToken): void
  /** rdma_bind_addr(3). Addresses are numeric. */
  bind(identifier: RdmacmToken, address: string, port: number): void
  listen(identifier: RdmacmToken, backlog: number): void
  /** rdma_resolve_addr(3). The source is the address that the identifier is bound to, if any. */
  resolveAddress(identifier: RdmacmToken, address: string, port: number, timeoutMs: number): void
  resolveRoute(identifier: RdmacmToken, timeoutMs: number): void
  describe(identifier: RdmacmToken): RdmacmFacts
  /** rdma_connect(3) for a queue pair that the library does not know; `parameters` are laid out as in ParameterWord. */
  connect(identifier: RdmacmToken, parameters: Float64Array, privateData: Uint8Array): void
  accept(identifier: RdmacmToken, parameters: Float64Array, privateData: Uint8Array): void
  reject(identifier: RdmacmToken, privateData: Uint8Array): void
  establish(identifier: RdmacmToken): void
  disconnect(identifier: RdmacmToken): void
  /** rdma_init_qp_attr(3) into words laid out as in AttributeWord. Returns the mask of the valid ones. */
  queuePairAttributes(identifier: RdmacmToken, state: number, attributes: Float64Array): number
  joinMulticast(identifier: RdmacmToken, group: string, port: number): void
  leaveMulticast(identifier: RdmacmToken, group: string, port: number): void
  /** rdma_get_cm_event(3), copied and acknowledged. Returns false if no event waits. */
  nextEvent(words: Float64Array, privateData: Uint8Array): boolean
}
