/** Programs that write by clients of Redis, each configured as its documentation does it. */
import KeyvRedis from '@keyv/redis'
import { createClient, createCluster } from '@redis/client'
import { RedisStore } from 'connect-redis'
import { Cluster, Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { redlockClass } from './redlock.ts'

/** What a program does again and again. */
export interface ClientProgram {
  /** Resolves with the key that is there since then, if it leaves one; rejects where the write has failed. */
  write(at: number): Promise<string | undefined>
  close(): unknown
}

/** Opens one. `ports`: of all nodes; clients that take one address use the first. */
export type OpenProgram = (ports: readonly number[]) => Promise<ClientProgram>

const deaf = (): undefined => undefined

function ioredis([port]: readonly number[]): Redis {
  return new Redis({ port: port! }).on('error', deaf)
}

function ioredisCluster(ports: readonly number[]): Cluster {
  return new Cluster(ports.map((port) => ({ host: '127.0.0.1', port }))).on('error', deaf)
}

function nodeRedis([port]: readonly number[]) {
  return createClient({ url: `redis://127.0.0.1:${port}` }).on('error', deaf)
}

function locking(client: Redis | Cluster, name: string): ClientProgram {
  const redlock = new redlockClass([client], { retryCount: 0 })
  return {
    async write(at) {
      await redlock.acquire([`${name}:${at}`], 600_000)
      return `${name}:${at}`
    },
    close: () => client.disconnect(),
  }
}

function setting(client: Redis | Cluster, name: string): ClientProgram {
  return {
    async write(at) {
      await client.set(`${name}:${at}`, at)
      return `${name}:${at}`
    },
    close: () => client.disconnect(),
  }
}

/** Those that know one address. */
export const plainPrograms: Readonly<Record<string, OpenProgram>> = {
  ioredis: async (ports) => setting(ioredis(ports), 'io'),

  'ioredis: MULTI': async (ports) => {
    const client = ioredis(ports)
    return {
      async write(at) {
        const [set] = (await client.multi().set(`multi:${at}`, at).incr('multi').exec())!
        if (set![0] !== null) throw set![0]
        return `multi:${at}`
      },
      close: () => client.disconnect(),
    }
  },

  'node-redis': async (ports) => {
    const client = nodeRedis(ports)
    await client.connect()
    return {
      async write(at) {
        await client.set(`node:${at}`, at)
        return `node:${at}`
      },
      close: () => client.destroy(),
    }
  },

  'connect-redis': async (ports) => {
    const client = nodeRedis(ports)
    await client.connect()
    const store = new RedisStore({ client, prefix: 'session:' })
    return {
      async write(at) {
        await store.set(String(at), { cookie: { originalMaxAge: 600_000 } } as never)
        return `session:${at}`
      },
      close: () => client.destroy(),
    }
  },

  '@keyv/redis': async ([port]) => {
    const store = new KeyvRedis(`redis://127.0.0.1:${port}`, { throwOnErrors: true })
    store.on('error', deaf)
    await store.set('keyv', 'connected')
    return {
      async write(at) {
        await store.set(`keyv:${at}`, String(at))
        return `keyv:${at}`
      },
      close: () => store.disconnect(true),
    }
  },

  'rate-limiter-flexible': async (ports) => {
    const storeClient = ioredis(ports)
    const limiter = new RateLimiterRedis({ storeClient, keyPrefix: 'limit', points: 5, duration: 600 })
    return {
      async write(at) {
        await limiter.consume(at)
        return `limit:${at}`
      },
      close: () => storeClient.disconnect(),
    }
  },

  redlock: async (ports) => locking(ioredis(ports), 'lock'),
}

/** Those that know a cluster. */
export const clusterPrograms: Readonly<Record<string, OpenProgram>> = {
  'ioredis Cluster': async (ports) => setting(ioredisCluster(ports), 'io'),

  'redlock with ioredis Cluster': async (ports) => locking(ioredisCluster(ports), 'lock'),

  'node-redis cluster': async (ports) => {
    const client = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
    client.on('error', deaf)
    await client.connect()
    return {
      async write(at) {
        await client.set(`node:${at}`, at)
        return `node:${at}`
      },
      close: () => client.destroy(),
    }
  },
}
