import { AetherError } from 'aether-dsm/internal/native'
import { optionalPackage, packageVersion } from './optional-package.ts'

/** What is used of the package `@grpc/grpc-js`. */
interface GrpcPackage {
  readonly credentials: { createInsecure(): unknown }
  readonly ServerCredentials: { createInsecure(): unknown }
  readonly Server: new (options: Limits) => GrpcServer
  makeGenericClientConstructor(service: object, name: string): unknown
}

type Limits = Readonly<Record<string, number>>

interface GrpcServer {
  addService(service: object, handlers: object): void
  bindAsync(address: string, credentials: unknown, done: (error: Error | null) => void): void
}

/** A stream of messages in both directions. */
export interface GrpcStream {
  /** False where its buffer is full until `drain`. */
  write(data: Buffer): boolean
  on(event: 'data', listener: (data: Buffer) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  once(event: 'drain', listener: () => void): void
  cancel?(): void
}

/** The methods of {@link serveGrpc}, as a client has them. */
export interface GrpcClient {
  waitForReady(deadline: number, done: (error?: Error) => void): void
  echo(data: Buffer, done: (error: Error | null, data: Buffer) => void): void
  messages(): GrpcStream
  close(): void
}

const READY_MS_MAX = 10_000
/** The default refuses messages of more than 4 MiB; -1 is no bound. */
const limits: Limits = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }
const identity = (data: Buffer): Buffer => data
const bytes = {
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
}
/** Bytes as they are, without Protocol Buffers: the least that it can cost. */
const service = {
  echo: { path: '/bench/echo', requestStream: false, responseStream: false, ...bytes },
  messages: { path: '/bench/messages', requestStream: true, responseStream: true, ...bytes },
}

const load = (): Promise<GrpcPackage> => optionalPackage<GrpcPackage>('@grpc/grpc-js')

/** How rows call it. @throws AetherError where it is not installed. */
export async function grpcProvider(): Promise<string> {
  await load()
  return `gRPC ${packageVersion('@grpc/grpc-js')}`.trimEnd()
}

/**
 * Serve `echo`, which gives back what comes, and `messages` at a Unix socket. @throws AetherError where gRPC is not
 * installed, or cannot listen.
 */
export async function serveGrpc(path: string, messages: (stream: GrpcStream) => void): Promise<void> {
  const { Server, ServerCredentials } = await load()
  const server = new Server(limits)
  server.addService(service, {
    echo: (call: { readonly request: Buffer }, done: (error: null, data: Buffer) => void) => done(null, call.request),
    messages,
  })
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (cause) => {
      if (cause === null) resolve()
      else reject(new AetherError('ERR_AETHER_BENCH', `gRPC does not listen: ${cause.message}`, { cause }))
    })
  })
}

/** @throws AetherError where gRPC is not installed, or does not connect. */
export async function connectGrpc(path: string): Promise<GrpcClient> {
  return await connected<GrpcClient>(service, `unix:${path}`)
}

/** The call of etcd that stores a value. */
interface GrpcPuts {
  waitForReady(deadline: number, done: (error?: Error) => void): void
  put(pair: readonly [Buffer, Buffer], done: (error: Error | null) => void): void
  close(): void
}

/** Stores values at a server of etcd. */
export interface GrpcPut {
  put(key: Buffer, value: Buffer): Promise<void>
  close(): void
}

/** `PutRequest` of etcd's API, version 3: the key is field 1, and the value field 2. */
const putService = {
  put: {
    ...{ path: '/etcdserverpb.KV/Put', requestStream: false, responseStream: false, ...bytes },
    requestSerialize: ([key, value]: readonly [Buffer, Buffer]): Buffer =>
      Buffer.concat([field(1, key.length), key, field(2, value.length), value]),
  },
}

/** The head of a field of bytes, in Protocol Buffers' encoding. */
function field(number: number, length: number): Buffer {
  const head = [(number << 3) | 2]
  let left = length
  for (; left > 0x7f; left >>>= 7) head.push((left & 0x7f) | 0x80)
  head.push(left)
  return Buffer.from(head)
}

/** @throws AetherError where gRPC is not installed, or the server is not there in time. */
export async function putsOverGrpc(address: string): Promise<GrpcPut> {
  const client = await connected<GrpcPuts>(putService, address)
  return {
    put: (key, value) =>
      new Promise((resolve, reject) => {
        client.put([key, value], (error) => (error === null ? resolve() : reject(error)))
      }),
    close: () => client.close(),
  }
}

async function connected<Client extends Pick<GrpcClient, 'waitForReady'>>(
  offered: object,
  target: string,
): Promise<Client> {
  const { makeGenericClientConstructor, credentials } = await load()
  const Client = makeGenericClientConstructor(offered, 'bench') as new (
    target: string,
    credentials: unknown,
    options: Limits,
  ) => Client
  const client = new Client(target, credentials.createInsecure(), limits)
  await new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + READY_MS_MAX, (cause) => {
      if (cause === undefined) resolve()
      else reject(new AetherError('ERR_AETHER_BENCH', `gRPC does not connect: ${cause.message}`, { cause }))
    })
  })
  return client
}
