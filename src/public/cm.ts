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
 * @module aether-dsm/cm
 */
export {
  type CloseReason,
  Connection,
  ConnectionError,
  type ConnectionEvent,
  type ConnectionIdentifier,
  type ConnectionOptions,
  type ConnectionParameters,
  ConnectionRejectedError,
  ConnectionRequest,
  type ConnectOptions,
  connect,
  createIdentifier,
  DATAGRAM_QUEUE_KEY,
  decodeEndpoint,
  encodeEndpoint,
  type HandedRequest,
  type IdentifierOptions,
  joinMulticast,
  type Listener,
  type ListenOptions,
  listen,
  MulticastGroup,
  type MulticastOptions,
  PRIVATE_DATA_BYTES_MAX,
  type RejectReason,
  RejectStatus,
  type ResolvedAddress,
  type ResolveOptions,
  resolve,
  takeRequest,
} from '../cm/index.ts'
