/** The way to a shard: it is the one of now, since shards move between processes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IndexPort, ShardPort } from '../../src/index-service/index.ts'
import { Router } from '../../src/redis-door/routing/router.ts'

test('a shard that has moved is asked where it is now', async () => {
  const asked: string[] = []
  const portNamed = (name: string) =>
    ({
      run: async (calls: readonly unknown[]) => {
        asked.push(`${name} writes`)
        return calls.map(() => 'OK')
      },
      read: async (calls: readonly unknown[]) => {
        asked.push(`${name} reads`)
        return calls.map(() => null)
      },
    }) as unknown as ShardPort
  let now = portNamed('here')
  const none = async (): Promise<never[]> => []
  const nodes = { figures: none, slowCalls: none, hotKeys: none }
  const port: IndexPort = { shards: 4, shard: () => now, ...nodes, close: async () => undefined }
  const line = new Router(port, { timeoutMs: 1000, isCluster: false, packableAt: () => undefined }).line(2)
  const call = { name: 'get', args: [] }
  await line.write([call])
  now = portNamed('elsewhere')
  await line.write([call])
  await line.read([call])
  assert.deepEqual(asked, ['here writes', 'elsewhere writes', 'elsewhere reads'])
})
