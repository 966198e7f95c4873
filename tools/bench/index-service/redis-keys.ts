import { optionalPackage } from '../peers/optional-package.ts'
import { redisSocket } from '../peers/redis-server.ts'
import type { Fields, KeyStore, KeysPlace } from './key-store.ts'

/** What is used of the package `@redis/client`. */
interface RedisPackage {
  readonly RESP_TYPES: { readonly BLOB_STRING: number }
  createClient(options: { readonly socket: { readonly path: string } }): RedisKeysClient
}

interface RedisKeysClient {
  connect(): Promise<unknown>
  close(): Promise<unknown>
  withTypeMapping(mapping: Readonly<Record<number, typeof Buffer>>): RedisKeysClient
  get(key: string): Promise<unknown>
  set(key: string, value: Uint8Array): Promise<unknown>
  incr(key: string): Promise<unknown>
  hGet(key: string, field: string): Promise<unknown>
  hGetAll(key: string): Promise<unknown>
  hSet(key: string, fields: Fields): Promise<unknown>
  zAdd(key: string, member: { readonly score: number; readonly value: string }): Promise<unknown>
  eval(script: string, options: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>
}

/** A range in one round trip: members of a sorted set have their values beside them. */
const RANGE =
  "return redis.call('mget', unpack(redis.call('zrange', KEYS[1], ARGV[1], '+inf', 'byscore', 'limit', '0', ARGV[2])))"
const ORDER = 'order'

const valueAt = (place: number): string => `ordered:${place}`

/** A server over a Unix socket. */
export async function openRedisKeys({ directory }: KeysPlace): Promise<KeyStore> {
  const { createClient, RESP_TYPES } = await optionalPackage<RedisPackage>('@redis/client')
  const connection = createClient({ socket: { path: redisSocket(directory) } })
  await connection.connect()
  const client = connection.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return {
    waits: true,
    get: (key) => client.get(key),
    set: (key, value) => client.set(key, value),
    async setAll(keys, value) {
      await Promise.all(keys.map((key) => client.set(key, value)))
    },
    increment: (key) => client.incr(key),
    field: (key, field) => client.hGet(key, field),
    record: (key) => client.hGetAll(key),
    setFields: (key, fields) => client.hSet(key, fields),
    // Both travel together.
    insert: (place, value) =>
      Promise.all([client.set(valueAt(place), value), client.zAdd(ORDER, { score: place, value: valueAt(place) })]),
    async range(from, count) {
      const values = await client.eval(RANGE, { keys: [ORDER], arguments: [String(from), String(count)] })
      return (values as readonly unknown[]).length
    },
    async close() {
      await connection.close()
    },
  }
}
