import { AetherError, messageOfThrown, peerPackage } from '../../native/index.ts'

/** What is used of a connection of the package `ioredis`. */
export interface RedisLink {
  callBuffer(command: string, ...args: readonly (string | number | Uint8Array)[]): Promise<unknown>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'pmessageBuffer', listener: (pattern: Buffer, channel: Buffer, message: Buffer) => void): unknown
  connect(): Promise<void>
  select(db: number): Promise<unknown>
  psubscribe(pattern: string): Promise<unknown>
  config(action: 'GET' | 'SET', name: string, value?: string): Promise<unknown>
  info(section: string): Promise<string>
  disconnect(): void
}

interface RedisPackage {
  readonly Redis: new (url: string, options: Readonly<Record<string, unknown>>) => RedisLink
}

/**
 * Connect by a URL such as `redis://user:password@host:6379` or `rediss://…`. Lost connections are made again, but for
 * commands that were under way: those fail.
 * @throws AetherError if the package `ioredis` is not installed; or no one answers there.
 */
export async function connectRedis(url: string): Promise<RedisLink> {
  const { Redis } = peerPackage<RedisPackage>('ioredis')
  const link = new Redis(url, {
    // Replies are read as RESP2 has them, whatever the version of the package.
    protocol: 2,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times: number) => (times > RETRIES ? null : RETRY_MS),
  })
  let reason: Error | undefined
  // Commands fail with it, too.
  link.on('error', (error) => {
    reason = error
  })
  try {
    await link.connect()
    return link
  } catch (error) {
    link.disconnect()
    const place = new URL(url).host
    throw new AetherError(
      'ERR_AETHER_REDIS',
      `no Redis server answers at ${place}: ${messageOfThrown(reason ?? error)}`,
      {
        cause: reason ?? error,
      },
    )
  }
}

const RETRIES = 20
const RETRY_MS = 250
