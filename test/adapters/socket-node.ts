import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@redis/client'
import { createAdapter as createClusterAdapter } from '@socket.io/cluster-adapter'
import { createAdapter as createRedisAdapter } from '@socket.io/redis-adapter'
import { type Namespace, type RemoteSocket, Server, type ServerOptions, type Socket } from 'socket.io'
import { type Socket as Client, io as connect } from 'socket.io-client'
import type { SocketIoAdapterOptions } from '../../src/adapters/socket.io/create-adapter.ts'
import { type AetherAdapter, createAdapter } from '../../src/adapters/socket.io/index.ts'
import { until } from '../cluster/support.ts'

/** Which sockets, of which namespace. */
export interface Target {
  readonly namespace?: string
  readonly rooms?: readonly string[]
  readonly except?: readonly string[]
  readonly volatile?: boolean
  readonly local?: boolean
}

/** A socket as the tests compare it: without what is random. */
export interface Seen {
  readonly name: string
  readonly rooms: readonly string[]
  readonly isRemote: boolean
}

/** An answer to a question: what came, or the message of the error. */
export type Outcome = { readonly answers: readonly unknown[] } | { readonly error: string }

export interface NodeOptions extends SocketIoAdapterOptions {
  readonly recovery?: boolean
}

/** By what servers reach each other: a space, the Unix socket of a Redis, or the primary process. */
export type Place = string | { readonly redis: string } | undefined

/** A Socket.IO server and clients of it. Arguments and results can be sent between processes. */
export class SocketNode {
  readonly #http: HttpServer = createServer()
  readonly #clients = new Map<string, Client>()
  readonly #received = new Map<string, unknown[][]>()
  readonly #asked: unknown[][] = []
  readonly #told = { missed: 0, notSent: 0 }
  #io!: Server

  /** On a space, on the Redis at a socket, or on the adapter of `node:cluster`. */
  async open(place: Place, { recovery = false, ...options }: NodeOptions = {}): Promise<void> {
    const adapter =
      typeof place === 'string'
        ? createAdapter(place, options)
        : place === undefined
          ? createClusterAdapter()
          : await redisAdapter(place.redis)
    const more: Partial<ServerOptions> = recovery ? { connectionStateRecovery: {} } : {}
    this.#io = new Server(this.#http, { ...more, adapter: adapter as NonNullable<ServerOptions['adapter']> })
    this.#io.of(/^\/dynamic-\w+$/)
    this.#io.on('new_namespace', (namespace) => this.#serve(namespace))
    for (const name of ['/', '/chat']) this.#serve(this.#io.of(name))
    this.#http.listen({ port: 0, host: '127.0.0.1', exclusive: true })
    await once(this.#http, 'listening')
    if (typeof place === 'string') await this.#adapter().ready()
  }

  /** A client `name` of this server. Answers each `question` with its name, unless that is `mute`. */
  async connect(name: string, namespace: string = '/', port: number = this.port()): Promise<void> {
    this.#clients.get(name)?.disconnect()
    const client = connect(`http://127.0.0.1:${port}${namespace}`, {
      transports: ['websocket'],
      forceNew: true,
      reconnectionDelay: 10,
      auth: { name },
    })
    const received: unknown[][] = []
    client.onAny((...event: unknown[]) => {
      const answer = event.at(-1)
      received.push(typeof answer === 'function' ? event.slice(0, -1) : event)
      if (typeof answer === 'function' && name !== 'mute') answer(name)
    })
    this.#clients.set(name, client)
    this.#received.set(name, received)
    await once(client as unknown as NodeJS.EventEmitter, 'connect')
  }

  port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  received(name: string): unknown[][] {
    return this.#received.get(name) ?? []
  }

  /** Resolves when client `name` has so many events, with them. */
  async receives(name: string, count: number): Promise<unknown[][]> {
    await until(() => this.received(name).length >= count, `${name} gets ${count} events`)
    return this.received(name)
  }

  async join(name: string, ...rooms: string[]): Promise<void> {
    await this.#socketOf(name)?.join(rooms)
  }

  emit(target: Target, ...event: [string, ...unknown[]]): void {
    this.#to(target).emit(...event)
  }

  /** As the socket of client `name`, if it is still there, broadcasts to all others. */
  broadcastFrom(name: string, ...event: [string, ...unknown[]]): void {
    this.#socketOf(name)?.broadcast.emit(...event)
  }

  async emitWithAck(target: Target, timeoutMs: number, ...event: [string, ...unknown[]]): Promise<Outcome> {
    return await new Promise((resolve) => {
      const answered = (error: Error | null, answers: unknown[]) =>
        resolve(
          error === null ? { answers: answers.toSorted() } : { error: `${error.message}, ${answers.length} came` },
        )
      this.#to(target)
        .timeout(timeoutMs)
        .emit(...(event as [string]), answered as never)
    })
  }

  async fetchSockets(target: Target = {}, timeoutMs: number = 5000): Promise<Seen[]> {
    const sockets = await this.#to(target).timeout(timeoutMs).fetchSockets()
    const seen = sockets.map((socket) => ({
      name: nameOf(socket),
      rooms: [...socket.rooms].filter((room) => room !== socket.id).toSorted(),
      isRemote: !('server' in socket),
    }))
    return seen.toSorted((one, other) => one.name.localeCompare(other.name))
  }

  socketsJoin(target: Target, ...rooms: string[]): void {
    this.#to(target).socketsJoin(rooms)
  }

  socketsLeave(target: Target, ...rooms: string[]): void {
    this.#to(target).socketsLeave(rooms)
  }

  disconnectSockets(target: Target): void {
    this.#to(target).disconnectSockets()
  }

  serverSideEmit(namespace: string, ...event: [string, ...unknown[]]): void {
    this.#io.of(namespace).serverSideEmit(...(event as [string]))
  }

  async serverSideEmitWithAck(namespace: string, ...event: [string, ...unknown[]]): Promise<Outcome> {
    return await new Promise((resolve) => {
      const answered = (error: Error | null, answers: unknown[]) =>
        resolve(error === null ? { answers: answers.toSorted() } : { error: error.message })
      this.#io.of(namespace).serverSideEmit(...(event as [string]), answered as never)
    })
  }

  /** What other servers have emitted to this one. */
  asked(): unknown[][] {
    return this.#asked
  }

  /** The same, and forgets it. */
  takesAsked(): unknown[][] {
    return this.#asked.splice(0).filter(([, value]) => value !== 'mark')
  }

  async asksReceived(count: number): Promise<unknown[][]> {
    await until(() => this.#asked.length >= count, `${count} events from other servers`)
    return this.#asked
  }

  async serverCount(namespace: string = '/'): Promise<number> {
    return await this.#io.of(namespace).adapter.serverCount()
  }

  async knows(servers: number, namespace: string = '/'): Promise<void> {
    for (;;) {
      if ((await this.serverCount(namespace)) === servers) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** Resolves when clients that this server has disconnected know it. */
  async settle(): Promise<void> {
    const connected = (client: Client) =>
      [...this.#io._nsps.values()].some(({ sockets }) => client.id !== undefined && sockets.has(client.id))
    await until(() => [...this.#clients.values()].every((client) => client.connected === connected(client)), 'settled')
  }

  connected(): string[] {
    return [...this.#clients].flatMap(([name, { connected }]) => (connected ? [name] : [])).toSorted()
  }

  /** The connection of client `name` breaks. */
  async breaks(name: string): Promise<void> {
    const client = this.#clients.get(name)!
    const id = client.id!
    client.io.reconnection(false)
    client.io.engine.close()
    await until(() => !client.connected, `${name} is cut off`)
    await until(() => !this.#io.sockets.sockets.has(id), `the server of ${name} knows`)
  }

  /** Client `name` comes back to the server at `port`. Resolves with whether its session was recovered. */
  async comesBack(name: string, port: number): Promise<boolean> {
    const client = this.#clients.get(name)!
    ;(client.io as unknown as { uri: string }).uri = `http://127.0.0.1:${port}`
    client.connect()
    await once(client as unknown as NodeJS.EventEmitter, 'connect')
    return client.recovered
  }

  /** What the adapter has reported. */
  told(): { readonly missed: number; readonly notSent: number } {
    return this.#told
  }

  /** Emit so many events without a pause. The last argument is the number of each. */
  burst(count: number, ...event: [string, ...unknown[]]): void {
    for (let number = 0; number < count; number += 1) this.#io.emit(...event, number)
  }

  /** Its clients stay, and may come back to another one. */
  async closesServer(): Promise<void> {
    for (const client of this.#clients.values()) client.io.reconnection(false)
    await this.#io.close()
    await until(() => this.connected().length === 0, 'clients are cut off')
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) client.disconnect()
    await this.#io.close()
  }

  #serve(namespace: Namespace): void {
    namespace.on('connection', (socket) => {
      socket.data.name ??= socket.handshake.auth['name']
    })
    for (const event of ['told', 'asked'])
      namespace.on(event, (...args: unknown[]) => {
        const answer = args.at(-1)
        this.#asked.push([event, ...(typeof answer === 'function' ? args.slice(0, -1) : args)])
        if (typeof answer === 'function' && args[0] !== 'silence') answer(`answer to ${String(args[0])}`)
      })
    if (namespace.name !== '/') return
    namespace.adapter.on('missed', (count: number) => {
      this.#told.missed += count
    })
    namespace.adapter.on('not-sent', () => {
      this.#told.notSent += 1
    })
  }

  #adapter(): AetherAdapter {
    return this.#io.of('/').adapter as unknown as AetherAdapter
  }

  #to({ namespace = '/', rooms = [], except = [], volatile = false, local = false }: Target) {
    let operator = this.#io
      .of(namespace)
      .to([...rooms])
      .except([...except])
    if (volatile) operator = operator.volatile
    return local ? operator.local : operator
  }

  #socketOf(name: string): Socket | undefined {
    const sockets = [...this.#io._nsps.values()].flatMap((namespace) => [...namespace.sockets.values()])
    return sockets.find((socket) => socket.id === this.#clients.get(name)?.id)
  }
}

async function redisAdapter(path: string): Promise<ReturnType<typeof createRedisAdapter>> {
  const publisher = createClient({ socket: { path, tls: false } })
  const subscriber = publisher.duplicate()
  // The test stops the Redis before the worker.
  // The adapter adds one listener for each namespace.
  for (const client of [publisher, subscriber]) client.setMaxListeners(0).on('error', () => {})
  await Promise.all([publisher.connect(), subscriber.connect()])
  return createRedisAdapter(publisher, subscriber)
}

function nameOf(socket: Pick<RemoteSocket<never, unknown>, 'data'>): string {
  return (socket.data as { name: string }).name
}

/** A node here or in another process: each call gives a promise. */
export type AnyNode = {
  readonly [Name in keyof SocketNode]: SocketNode[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}
