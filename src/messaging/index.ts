/**
 * The door of this room for other rooms: links, endpoints, peers, collectives. Users import `src/public/messaging.ts`.
 *
 * A link has a protocol, and the protocol has a carrier. Calls go downward only; what has come is brought upward by
 * `take`, `came` and `onMessage`.
 *
 * - {@link RingLink} is what users hold: it checks their calls, polls, and tells the end.
 * - `SendTurn` and `SendRoom` know when committed messages leave, and who waits for room.
 * - `RingProtocol` has the rules: credit, signals, delivery, closing. It has no device and no clock.
 * - `RingCarrier` knows how bytes and immediates get to the peer: `VerbsCarrier`, or plain memory in tests.
 * - {@link VerbsLink} is a `RingLink` over a `VerbsCarrier`, with operations on the peer's memory.
 *
 * The path of an `endpoint.send` to the peer's callback. Indented is what a line calls:
 *
 * ```
 *  Endpoint.send                          endpoint.ts
 *    Outbox.copy                          outbox.ts           behind what waits, if something does
 *      RingLink.reserve                   ring-link.ts
 *        OutgoingRing.reserve             outgoing-ring.ts    a place in the mirror of the peer's ring
 *      RingLink.commit
 *        OutgoingRing.commit                                  the header of the message
 *        SendTurn.committed               send-turn.ts        it leaves when this turn of the event loop ends
 *
 *  SendTurn.flush                         send-turn.ts        the turn has ended
 *    RingProtocol.flush                   ring-protocol.ts    all that was committed, for one receive of the peer
 *      VerbsCarrier.transmit              verbs-carrier.ts
 *        SendRequests.postNext            send-requests.ts    one WRITE, whose immediate says how many bytes have come
 *          PreparedRequest.postNext       src/verbs/
 *
 *  ======================================================================================= the peer
 *  RingLink.advance                       ring-link.ts        called by ProgressLoop in its turn
 *    VerbsCarrier.collect                 verbs-carrier.ts
 *      OwnReceives.collect                link-receives.ts    CompletionQueue.poll
 *        VerbsCarrier.take                verbs-carrier.ts    one completion
 *          RingProtocol.came              ring-protocol.ts    its immediate
 *            IncomingRing.arrived         incoming-ring.ts
 *    RingProtocol.deliver                 ring-protocol.ts
 *      IncomingRing.next                  incoming-ring.ts    one message
 *        Endpoint.#take                   endpoint.ts         the link's onMessage
 *          handlers.receive(data, …)                          the program's
 * ```
 */

export { type ConnectEndpointOptions, connectEndpoint } from './connect-endpoint.ts'
export { type ConnectLinkOptions, connectLink, connectLinkNames, type LinkConnectionOptions } from './connect-link.ts'
export { DeviceContext } from './device-context.ts'
export type { EndpointHandlers } from './endpoint.ts'
export { Endpoint, type EndpointOptions, type SendOptions } from './endpoint.ts'
export { LinkError, type LinkErrorReason } from './errors.ts'
export { type KeepConnectedOptions, type KeptConnection, keepConnected } from './keep-connected.ts'
export { LinkListener, type ListenLinksOptions, listenLinks, listenNames } from './link-listener.ts'
export type { CompletionMode, LinkOptions } from './link-options.ts'
export { type ListenEndpointsOptions, listenEndpoints } from './listen-endpoints.ts'
export type { Loan, MemoryLending } from './memory-lending.ts'
export type { LocalRange, RegisteredBuffer, RemoteAddress } from './memory-range.ts'
export type { MessageLink } from './message-link.ts'
export type { Message } from './message-queue.ts'

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
