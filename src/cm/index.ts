/** The door of this room for other rooms: the connection manager. Users import `src/public/cm.ts`. */

export type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionParameters,
} from './carrier.ts'

export { type ConnectOptions, connect } from './connect.ts'
export { Connection } from './connection.ts'
export type { CloseReason } from './connection-machine.ts'

export { ConnectionRequest, takeRequest } from './connection-request.ts'
export { DATAGRAM_QUEUE_KEY } from './datagram.ts'

export { decodeEndpoint, ENDPOINT_TEXT_LENGTH, encodeEndpoint } from './endpoint-text.ts'
export {
  ConnectionError,
  ConnectionRejectedError,
  type RejectReason,
  RejectStatus,
} from './errors.ts'
export type { HandedRequest } from './handed-request.ts'
export { createIdentifier, type IdentifierOptions } from './identifier.ts'
export { type Listener, type ListenOptions, listen } from './listener.ts'
export { joinMulticast, MulticastGroup, type MulticastOptions } from './multicast-group.ts'
export { PRIVATE_DATA_BYTES_MAX } from './private-data.ts'
export { type ResolvedAddress, type ResolveOptions, resolve } from './resolve.ts'
export type { ConnectionOptions } from './terms.ts'
