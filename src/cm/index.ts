/**
 * The connection manager: resolves addresses and routes, makes queue pairs and connects them, with the semantics of
 * rdma_cm(7).
 *
 * One API covers two carriers: librdmacm for real devices, and sockets private to the user for the embedded device
 * `shm0`.
 *
 * ```ts
 * import { connect, listen } from 'aether-dsm/cm'
 *
 * await using listener = await listen({ device: 'shm0', address: '127.0.0.1' })
 * const answering = listener.next().then((request) => request?.accept())
 * await using connection = await connect({ device: 'shm0', address: '127.0.0.1', port: listener.port })
 * await using accepted = await answering
 * console.log(connection.pair.type, accepted?.state) // prints rc connected
 * ```
 *
 * @module
 */
export type { ConnectionAddress } from './address.ts'
export type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionOffer,
  ConnectionParameters,
  DatagramPeer,
  LocalEndpoint,
  PortSpace,
} from './carrier.ts'
export type { DeviceChoice } from './carriers.ts'
export { type ConnectOptions, connect } from './connect.ts'
export { Connection } from './connection.ts'
export type { CloseReason } from './connection-machine.ts'
export type { PairOptions } from './connection-pair.ts'
export { ConnectionRequest, takeRequest } from './connection-request.ts'
export { DATAGRAM_QUEUE_KEY } from './datagram.ts'
export type { WaitOptions } from './deadline.ts'
export { decodeEndpoint, ENDPOINT_TEXT_LENGTH, encodeEndpoint } from './endpoint-text.ts'
export {
  ConnectionError,
  ConnectionRejectedError,
  type ConnectionStage,
  type RejectReason,
  RejectStatus,
} from './errors.ts'
export type { HandedRequest } from './handed-request.ts'
export { createIdentifier, type IdentifierOptions } from './identifier.ts'
export { type Listener, type ListenOptions, listen } from './listener.ts'
export { joinMulticast, MulticastGroup, type MulticastOptions } from './multicast-group.ts'
export { PRIVATE_DATA_BYTES_MAX, type PrivateDataUse } from './private-data.ts'
export { type ResolvedAddress, type ResolveOptions, resolve } from './resolve.ts'
export type { ConnectionOptions } from './terms.ts'
