/**
 * The door of this room for other rooms: links, endpoints, peers, collectives. Users import `src/public/messaging.ts`.
 */

export { type ConnectEndpointOptions, connectEndpoint } from './connect-endpoint.ts'
export { type ConnectLinkOptions, connectLink, type LinkConnectionOptions } from './connect-link.ts'
export { Endpoint, type EndpointOptions, type SendOptions } from './endpoint.ts'
export type { EndpointHandlers } from './endpoint-handlers.ts'
export { LinkError, type LinkErrorReason } from './errors.ts'
export { type KeepConnectedOptions, type KeptConnection, keepConnected } from './keep-connected.ts'

export { LinkListener, type ListenLinksOptions, listenLinks } from './link-listener.ts'
export type { CompletionMode, LinkOptions } from './link-options.ts'
export { type ListenEndpointsOptions, listenEndpoints } from './listen-endpoints.ts'
export type { Loan, MemoryLending } from './memory-lending.ts'
export type {
  LocalRange,
  MessageLink,
  RegisteredBuffer,
  RemoteAddress,
} from './message-link.ts'
export type { Message } from './message-queue.ts'

export { connectLinkNames, listenNames } from './option-names.ts'

export type { AgreementCall } from './peers/agreement.ts'
export { AgreementError, CollectiveError, PeerError } from './peers/errors.ts'
export { PeerGroup, type Survivors } from './peers/group.ts'
export type { GroupEngine } from './peers/group-engine.ts'
export { endForShrinking } from './peers/hub.ts'
export type { PeerLimits } from './peers/limits.ts'
export { Peer } from './peers/peer.ts'
export { openPeers, type PeerAddress, Peers, type PeersOptions } from './peers/peers.ts'
export { agreementCall, type ShrinkOptions } from './peers/shrink-options.ts'
export { EndpointPhysicalPeer } from './physical-peer.ts'

export type { SharedReceiveOptions, SharedReceiveUse } from './receive-shares.ts'

export type { SendLimit } from './send-limit.ts'
export type { OperationDone } from './send-requests.ts'
export { AffinityError, IoThreadError } from './threads/errors.ts'
export type { IoThreadStatistics } from './threads/io-thread.ts'
export {
  type EndpointThreadModule,
  type ListenEndpointsOnThreadsOptions,
  listenEndpointsOnThreads,
} from './threads/listen-endpoints-on-threads.ts'
export type { IoThread, LinkTaker } from './threads/thread-contract.ts'
export {
  type ListenOnThreadsOptions,
  listenOnThreads,
  listenOnThreadsNames,
  ThreadListener,
} from './threads/thread-listener.ts'
export type { IoThreadOptions } from './threads/thread-options.ts'
export { type LinkCard, UnconnectedLink } from './unconnected-link.ts'
export { VerbsLink } from './verbs-link.ts'
export { type InLine, WaitingLine } from './waiting-line.ts'
