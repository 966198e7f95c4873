import { optionalPackage } from './optional-package.ts'
import { redisSocket } from './redis-server.ts'

/** What is used of the package `@redis/client` for messages and calls. */
interface RedisPackage {
  readonly RESP_TYPES: { readonly BLOB_STRING: number }
  createClient(options: { readonly socket: { readonly path: string } }): RedisClient
}

export interface RedisClient {
  connect(): Promise<unknown>
  close(): Promise<unknown>
  withTypeMapping(mapping: Readonly<Record<number, typeof Buffer>>): RedisClient
  echo(data: Buffer): Promise<unknown>
  publish(channel: string, data: Buffer): Promise<unknown>
  subscribe(channel: string, listener: (data: Buffer) => void, asBuffers: true): Promise<void>
}

/**
 * A connection to the server of this run; texts come as buffers. @throws AetherError where the package is not
 * installed.
 */
export async function connectRedis(directory: string): Promise<RedisClient> {
  const { createClient, RESP_TYPES } = await optionalPackage<RedisPackage>('@redis/client')
  const client = createClient({ socket: { path: redisSocket(directory) } })
  await client.connect()
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
}
