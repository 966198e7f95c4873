/**
 * Messages between programs over verbs, and access to each other's memory. Two programs use endpoints, with callbacks,
 * promises and iterations; many use peers and collectives.
 *
 * ```ts
 * import { connectEndpoint, listenEndpoints } from 'aether-dsm/messaging'
 *
 * const listener = await listenEndpoints({
 *   device: 'shm0',
 *   address: '127.0.0.1',
 *   accept: (endpoint) => {
 *     endpoint.handlers = { receive: (data, immediate) => endpoint.trySend(data, immediate) }
 *   },
 * })
 * await using client = await connectEndpoint({ device: 'shm0', address: '127.0.0.1', port: listener.port })
 * await client.sendWithImmediate(new TextEncoder().encode('hello'), 7)
 * for await (const { data, immediate } of client.messages()) {
 *   console.log(new TextDecoder().decode(data), immediate) // prints hello 7
 *   break
 * }
 * listener.close()
 * ```
 *
 * @module aether-dsm/messaging
 */
export type { Collectives, CustomOperation, ElementArray, Operation } from '../collectives/index.ts'
export {
  AffinityError,
  AgreementError,
  CollectiveError,
  type CompletionMode,
  type ConnectEndpointOptions,
  connectEndpoint,
  connectLink,
  Endpoint,
  type EndpointHandlers,
  type EndpointOptions,
  EndpointPhysicalPeer,
  type EndpointThreadModule,
  type IoThread,
  IoThreadError,
  type IoThreadOptions,
  type IoThreadStatistics,
  type KeepConnectedOptions,
  type KeptConnection,
  keepConnected,
  LinkError,
  type LinkErrorReason,
  LinkListener,
  type LinkOptions,
  type ListenEndpointsOptions,
  type ListenLinksOptions,
  type LocalRange,
  listenEndpoints,
  listenEndpointsOnThreads,
  listenLinks,
  type Message,
  type MessageLink,
  openPeers,
  Peer,
  type PeerAddress,
  PeerError,
  PeerGroup,
  type PeerLimits,
  Peers,
  type PeersOptions,
  type RegisteredBuffer,
  type RemoteAddress,
  type SendLimit,
  type SendOptions,
  type SharedReceiveOptions,
  type ShrinkOptions,
  ThreadListener,
  VerbsLink,
} from '../messaging/index.ts'
