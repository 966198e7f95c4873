import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { optionalPackage } from './optional-package.ts'
import { RedisServer, redisSocket } from './redis-server.ts'

/** What is used of the package `@redis/client`. */
interface RedisPackage {
  createClient(options: { readonly socket: { readonly path: string } }): Client
}

interface Client {
  connect(): Promise<unknown>
  close(): Promise<unknown>
  set(key: string, value: Buffer): Promise<unknown>
  wait(replicas: number, timeoutMs: number): Promise<number>
}

/** A Redis server and replicas of it, on loopback. */
export class RedisReplicas implements AsyncDisposable {
  readonly #servers: readonly RedisServer[]
  readonly #clients: readonly Client[]
  readonly #replicas: number

  private constructor(servers: readonly RedisServer[], clients: readonly Client[], replicas: number) {
    this.#servers = servers
    this.#clients = clients
    this.#replicas = replicas
  }

  get pids(): readonly number[] {
    return this.#servers.map(({ pid }) => pid)
  }

  /** `servers` of them in all, and as many connections as there are calls under way: WAIT holds up its connection. */
  static async start(directory: string, servers: number, connections: number): Promise<RedisReplicas> {
    const port = await freePort()
    const folders = Array.from({ length: servers }, (_, index) => join(directory, `redis${index}`))
    for (const folder of folders) mkdirSync(folder)
    const started = [await RedisServer.start(folders[0]!, ['--port', String(port), '--bind', '127.0.0.1'])]
    const clients: Client[] = []
    const all = new RedisReplicas(started, clients, servers - 1)
    try {
      for (const folder of folders.slice(1))
        started.push(await RedisServer.start(folder, ['--replicaof', '127.0.0.1', String(port)]))
      const { createClient } = await optionalPackage<RedisPackage>('@redis/client')
      for (let index = 0; index < connections; index += 1) {
        clients.push(createClient({ socket: { path: redisSocket(folders[0]!) } }))
        await clients.at(-1)!.connect()
      }
      await clients[0]!.set('bench', Buffer.alloc(1))
      // Replicas fetch everything first.
      while ((await clients[0]!.wait(servers - 1, 1000)) < servers - 1);
      return all
    } catch (error) {
      await all[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Store a value over one of the connections, and wait for this number of replicas, by default a majority. */
  async put(connection: number, value: Buffer, replicas: number = Math.ceil(this.#replicas / 2)): Promise<void> {
    const client = this.#clients[connection]!
    const stored = client.set('bench', value)
    const waited = client.wait(replicas, 0)
    await Promise.all([stored, waited])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close().catch(() => undefined)))
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()))
  }
}
