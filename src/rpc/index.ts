/**
 * The door of this room for other rooms: services, calls, streams. Users import `src/public/rpc.ts`.
 *
 * The path of a unary call, in order. Its two messages travel as `src/messaging/index.ts` shows:
 *
 * ```
 *  Caller.#unary                          caller.ts           the function that client() has made for the method
 *  ClientSession.open                     client-session.ts   a slot for the call, with its deadline
 *  ClientSession.request
 *  BodyCodec, Session.send                body-codec.ts,      the body in bytes; header and body into the ring
 *  RingLink.reserve, commit               session.ts
 *
 *  ===================================================================================== the server
 *  Session.#message                       session.ts          the link's onMessage: takes the header apart
 *  ServerSession.frame                    server-session.ts   finds the method
 *  BodyCodec.decodeRequest                body-codec.ts
 *  the handler                                                the program's; a promise that it returns is awaited
 *  LastWords.answer                       last-words.ts
 *  BodyCodec, Session.send                body-codec.ts,
 *  RingLink.reserve, commit               session.ts
 *
 *  ===================================================================================== the client
 *  Session.#message                       session.ts
 *  ClientSession.frame                    client-session.ts   finds the slot
 *  BodyCodec.decode                       body-codec.ts
 *  ClientCall.resolve                                         the caller's promise
 * ```
 */

export { bytes, json } from '../codecs/index.ts'
export { IoThreadError } from '../messaging/index.ts'
export { borrowedBytes } from './borrowed-bytes.ts'
export type { CallContext, RdmaCallContext } from './call-context.ts'
export type { RemoteSource, RemoteTarget } from './call-memory.ts'
export type { CallOptions, RdmaCallOptions, StreamCallOptions, SyncCallOptions } from './call-options.ts'
export type { ClientCallInfo, ClientInterceptor } from './caller.ts'
export { type Channel, type ChannelOptions, openChannel } from './channel.ts'

export type { Awaitable, Client, Handlers, Stream } from './contract-types.ts'
export { type CallOutcome, MalformedFrameError, RpcError, ServiceError } from './errors.ts'
export type { Metadata } from './extension.ts'
export { METADATA_BYTES_MAX, type MethodKind } from './frame.ts'
export type { ServerHealth } from './pings.ts'
export { RdmaBuffer } from './rdma-buffer.ts'

export type { RpcCodec } from './rpc-codec.ts'
export { type ServerThreadModule, serveOnThreads } from './serve-on-threads.ts'
export { createServer, type Server, type ServerInterceptor, type ServerOptions } from './server.ts'
export type { ServerLimits } from './server-core.ts'
export {
  type Bidirectional,
  bidirectional,
  type ClientStream,
  clientStream,
  defineService,
  type RdmaCall,
  rdmaCall,
  type ServerStream,
  type Service,
  serverStream,
  type Unary,
  unary,
} from './service.ts'

export {
  type StandardSchema,
  type,
} from './standard-schema.ts'
export { values } from './value-codec.ts'
