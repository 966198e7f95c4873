/** The door of this room for other rooms: services, calls, streams. Users import `src/public/rpc.ts`. */

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
