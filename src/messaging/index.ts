/** The door of this room for other rooms: links, endpoints, peers, collectives. Users import `src/public/messaging.ts`. */

export type { AllGatherAlgorithm } from './collectives/all-gather.ts'
export type { AllReduceAlgorithm } from './collectives/all-reduce.ts'
export type { AllToAllAlgorithm, AllToAllVAlgorithm } from './collectives/all-to-all.ts'
export type { BarrierAlgorithm } from './collectives/barrier.ts'
export type { BroadcastAlgorithm } from './collectives/broadcast.ts'
export type { CollectiveName } from './collectives/choose.ts'
export type { ElementArray, ElementOf } from './collectives/element-kind.ts'
export type { GatherAlgorithm } from './collectives/gather.ts'
export type { CustomOperation, Operation, OperationName } from './collectives/operation.ts'
export type { ReduceAlgorithm } from './collectives/reduce.ts'
export type { ReduceScatterAlgorithm } from './collectives/reduce-scatter.ts'
export type { ScanAlgorithm } from './collectives/scan.ts'
export type { ScatterAlgorithm } from './collectives/scatter.ts'
export {
  type CollectiveTraffic,
  collectiveNames,
  countTraffic,
  type TrafficCall,
} from './collectives/traffic.ts'
export { type ConnectEndpointOptions, connectEndpoint } from './connect-endpoint.ts'
export { type ConnectLinkOptions, connectLink, type LinkConnectionOptions } from './connect-link.ts'
export { Endpoint, type EndpointOptions, type SendOptions } from './endpoint.ts'
export type { EndpointHandlers } from './endpoint-handlers.ts'
export { LinkError, type LinkErrorReason } from './errors.ts'
export { type KeepConnectedOptions, type KeptConnection, keepConnected } from './keep-connected.ts'
export type { AdmissionOptions, LinkPeer } from './link-admission.ts'
export { LinkListener, type ListenLinksOptions, type ListenPlace, listenLinks } from './link-listener.ts'
export type { CompletionMode, LinkOptions } from './link-options.ts'
export { type ListenEndpointsOptions, listenEndpoints } from './listen-endpoints.ts'
export type { LendingMeans, Loan, MemoryLending } from './memory-lending.ts'
export {
  type LocalRange,
  MESSAGE_KIND_MAX,
  type MessageHandler,
  type MessageLink,
  type RegisteredBuffer,
  type RemoteAddress,
} from './message-link.ts'
export type { Message } from './message-queue.ts'
export type {
  CompareSwapOperands,
  MaskedCompareSwapOperands,
  MaskedFetchAddOperands,
  WaitSyncOptions,
} from './one-sided.ts'
export type { Quorum } from './peers/agreement.ts'
export type { PartLengths } from './peers/calls.ts'
export { AgreementError, CollectiveError, PeerError } from './peers/errors.ts'
export {
  type CollectiveOptions,
  type CountsOptions,
  PeerGroup,
  type ReductionOptions,
  type RootOptions,
} from './peers/group.ts'
export type { PeerLimits } from './peers/limits.ts'
export { Peer, type PeerSyncOptions, type PeerWaitOptions } from './peers/peer.ts'
export { openPeers, type PeerAddress, type PeerConnectOptions, Peers, type PeersOptions } from './peers/peers.ts'
export type { ShrinkOptions } from './peers/shrink-options.ts'
export { EndpointPhysicalPeer } from './physical-peer.ts'
export type { ReceiveBudget } from './receive-budget.ts'
export type { SharedReceiveOptions, SharedReceiveUse } from './receive-shares.ts'
export { RingCarrier } from './ring-carrier.ts'
export { RingLink } from './ring-link.ts'
export type { RingLinkParts } from './ring-link-parts.ts'
export type { SendLimit } from './send-limit.ts'
export type { OperationDone } from './send-requests.ts'
export { AffinityError, IoThreadError } from './threads/errors.ts'
export type { IoThreadStatistics } from './threads/io-thread.ts'
export {
  type EndpointThreadModule,
  type ListenEndpointsOnThreadsOptions,
  listenEndpointsOnThreads,
} from './threads/listen-endpoints-on-threads.ts'
export type { IoThread, LinkTaker, ThreadLinkOptions, ThreadRole } from './threads/thread-contract.ts'
export {
  type CloseThreadsOptions,
  type ListenOnThreadsOptions,
  listenOnThreads,
  ThreadListener,
} from './threads/thread-listener.ts'
export type { IoThreadOptions, RestartOptions } from './threads/thread-options.ts'
export { VerbsLink } from './verbs-link.ts'
