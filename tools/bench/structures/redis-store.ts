import { optionalPackage } from '../peers/optional-package.ts'
import { redisSocket } from '../peers/redis-server.ts'
import type { BenchStore, Meeting } from './bench-store.ts'

/** What is used of the package `@redis/client`. */
interface RedisPackage {
  readonly RESP_TYPES: { readonly BLOB_STRING: number }
  createClient(options: { readonly socket: { readonly path: string } }): Client
}

interface Client {
  connect(): Promise<unknown>
  close(): Promise<unknown>
  withTypeMapping(mapping: Readonly<Record<number, typeof Buffer>>): Client
  get(key: string): Promise<unknown>
  set(key: string, value: Buffer): Promise<unknown>
  eval(script: string, options: { readonly keys: string[]; readonly arguments: Buffer[] }): Promise<unknown>
  rPush(key: string, value: Buffer): Promise<unknown>
  lPop(key: string): Promise<unknown>
  incr(key: string): Promise<unknown>
  flushAll(): Promise<unknown>
}

/** The least round trips that an update takes. */
const UPDATE = "redis.call('set', KEYS[1], redis.call('get', KEYS[1]) or ARGV[1])"

/** A server over a Unix socket; one request at a time, as in a handler that awaits it. */
export async function openRedisStore({ directory }: Meeting): Promise<BenchStore> {
  const { createClient, RESP_TYPES } = await optionalPackage<RedisPackage>('@redis/client')
  const connection = createClient({ socket: { path: redisSocket(directory) } })
  await connection.connect()
  const client = connection.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return {
    waits: true,

    operations(value) {
      const bytes = Buffer.from(value)
      return {
        get: (key) => client.get(key),
        set: (key) => client.set(key, bytes),
        update: (key) => client.eval(UPDATE, { keys: [key], arguments: [bytes] }),
        push: () => client.rPush('queue', bytes),
        pop: () => client.lPop('queue'),
        add: () => client.incr('counter'),
      }
    },

    async clear() {
      await client.flushAll()
    },

    async close() {
      await connection.close()
    },
  }
}
