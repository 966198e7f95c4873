import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { join as joinGroup } from '../../../src/dsm/index.ts'
import { type IndexNode, openNode } from '../../../src/index-service/index.ts'
import { RedisDoor } from '../../../src/redis-door/index.ts'
import type { DoorSettings } from '../../../src/redis-door/settings/door-settings.ts'
import { RedisServer, redisSocket } from '../../../tools/bench/peers/redis-server.ts'
import { RawClient } from './raw-client.ts'

/** A door of this process with an index of its own, which is empty. */
export interface TestDoor extends AsyncDisposable {
  readonly port: number
  readonly node: IndexNode
  readonly door: RedisDoor
  connect(protocol?: 2 | 3): Promise<RawClient>
}

export interface TestDoorOptions extends Partial<DoorSettings> {
  readonly shards?: number
  readonly memoryBytes?: number
}

let doors = 0

/** The test calls `useRuntimeDirectory()` of `test/cluster/support.ts` first. */
export async function openDoor({
  shards = 1,
  memoryBytes = 256 * 2 ** 20,
  ...settings
}: TestDoorOptions = {}): Promise<TestDoor> {
  doors += 1
  const name = `door-${process.pid}-${doors}`
  const group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:${name}` })
  const node = await openNode(group, { name, replicas: 1, shards, memoryBytes })
  const door = await RedisDoor.open(node, {
    ...{ address: '127.0.0.1', port: 0, password: undefined, clientsMax: 100, timeoutMs: 10_000 },
    ...{ announce: '127.0.0.1', isCluster: false },
    ...settings,
  })
  const clients: RawClient[] = []
  return {
    port: door.port,
    node,
    door,
    async connect(protocol) {
      const client = await RawClient.connect(door.port, protocol)
      clients.push(client)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client[Symbol.dispose]()
      await door.close()
      await node.close()
      await group[Symbol.asyncDispose]()
    },
  }
}

/** A redis-server of this test's own, to compare with. `more`: arguments of its command line. */
export interface TestRedis extends AsyncDisposable {
  readonly socket: string
  connect(protocol?: 2 | 3): Promise<RawClient>
}

export async function openRedis(more: readonly string[] = []): Promise<TestRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'aether-redis-'))
  const server = await RedisServer.start(directory, more)
  const socket = redisSocket(directory)
  const clients: RawClient[] = []
  return {
    socket,
    async connect(protocol) {
      const client = await RawClient.connect(socket, protocol)
      clients.push(client)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
