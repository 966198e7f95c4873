/** The door of this room for other rooms: services, calls, streams. Users import `src/public/rpc.ts`. */

export type {
  CompletionMode,
  ConnectLinkOptions,
  LendingMeans,
  LinkConnectionOptions,
  LinkListener,
  LinkOptions,
  LinkPeer,
  ListenLinksOptions,
  Loan,
  LocalRange,
  MemoryLending,
  MessageHandler,
  MessageLink,
  RegisteredBuffer,
  RemoteAddress,
  VerbsLink,
} from '../messaging/index.ts'
export {
  AffinityError,
  type IoThread,
  IoThreadError,
  type IoThreadOptions,
  type IoThreadStatistics,
  type ListenOnThreadsOptions,
  type ThreadListener,
} from '../messaging/index.ts'
export type { CallContext, RdmaCallContext } from './call-context.ts'
export type { OwnBytes, RemoteSource, RemoteTarget } from './call-memory.ts'
export type { CallOptions, RdmaCallOptions, StreamCallOptions, SyncCallOptions } from './call-options.ts'
export type { ClientCallInfo, ClientInterceptor } from './caller.ts'
export { type Channel, type ChannelOptions, type LinkSource, openChannel, type WaitForConnection } from './channel.ts'
export type { ClientSessionOptions } from './client-session.ts'
export { borrowedBytes, bytes, json, type RpcCodec } from './codec.ts'
export type { AnswerStream, Awaitable, Client, ClientMethod, Handler, Handlers, Stream } from './contract-types.ts'
export { type CallOutcome, MalformedFrameError, RpcError, ServiceError } from './errors.ts'
export type { Metadata } from './extension.ts'
export { METADATA_BYTES_MAX } from './frame.ts'
export type { ServerHealth } from './pings.ts'
export { RdmaBuffer, type RdmaRange } from './rdma-buffer.ts'
export type { ReconnectOptions } from './reconnection.ts'
export { type ServerThreadModule, serveOnThreads } from './serve-on-threads.ts'
export { createServer, type Server, type ServerInterceptor, type ServerOptions } from './server.ts'
export type { ServerLimits } from './server-core.ts'
export {
  type Bidirectional,
  type BufferUse,
  bidirectional,
  type ClientStream,
  clientStream,
  defineService,
  type Method,
  type MethodKind,
  type MethodOptions,
  type Methods,
  type RdmaCall,
  type RdmaMethod,
  rdmaCall,
  type ServerStream,
  type Service,
  type ServiceErrors,
  type ServiceOptions,
  serverStream,
  type Unary,
  unary,
} from './service.ts'
export type { SessionLimits } from './session.ts'
export {
  type SchemaInput,
  type SchemaIssue,
  type SchemaOutput,
  type SchemaResult,
  type StandardSchema,
  type,
} from './standard-schema.ts'
export { values } from './value-codec.ts'
