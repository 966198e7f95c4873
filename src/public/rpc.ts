/**
 * Remote procedure calls over the links of `aether-dsm/messaging`. Contracts are TypeScript types. There are unary
 * calls and streams, deadlines, cancellation, and errors that say what became of the call.
 *
 * ```ts
 * import { createServer, defineService, openChannel, type, unary } from 'aether-dsm/rpc'
 *
 * const calculator = defineService({
 *   name: 'calculator',
 *   methods: { add: unary({ request: type<{ a: number; b: number }>(), response: type<number>() }) },
 * })
 *
 * await using server = createServer().serve(calculator, { add: ({ a, b }) => a + b })
 * const { port } = await server.listen({ device: 'shm0', address: '127.0.0.1' })
 *
 * await using channel = openChannel({ device: 'shm0', address: '127.0.0.1', port })
 * const client = channel.client(calculator)
 * console.log(await client.add({ a: 1, b: 2 })) // prints 3
 * ```
 *
 * @module aether-dsm/rpc
 */
export {
  type Bidirectional,
  bidirectional,
  borrowedBytes,
  bytes,
  type CallContext,
  type CallOptions,
  type CallOutcome,
  type Channel,
  type ChannelOptions,
  type Client,
  type ClientInterceptor,
  type ClientStream,
  clientStream,
  createServer,
  defineService,
  type Handlers,
  json,
  METADATA_BYTES_MAX,
  type Metadata,
  openChannel,
  RdmaBuffer,
  type RdmaCall,
  type RdmaCallContext,
  type RdmaCallOptions,
  type RemoteTarget,
  type RpcCodec,
  RpcError,
  rdmaCall,
  type Server,
  type ServerHealth,
  type ServerInterceptor,
  type ServerLimits,
  type ServerOptions,
  type ServerStream,
  type ServerThreadModule,
  type Service,
  ServiceError,
  type StandardSchema,
  type StreamCallOptions,
  type SyncCallOptions,
  serveOnThreads,
  serverStream,
  type,
  type Unary,
  unary,
  values,
} from '../rpc/index.ts'
