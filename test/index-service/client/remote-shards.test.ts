import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, listen } from '../../../src/cm/index.ts'
import { RemoteShards } from '../../../src/index-service/client/remote-shards.ts'
import type { NodeCard } from '../../../src/index-service/node/index-contract.ts'
import { Access, openDevice } from '../../../src/verbs/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'

useRuntimeDirectory()
const SHARDS = 4

test('shards that are led by the same node are READ over one connection, which ends with the client', async () => {
  using device = openDevice('tcp0')
  const domain = device.createProtectionDomain()
  using listener = await listen({ address: '127.0.0.1', domain })
  const accepting: Promise<Connection>[] = []
  const serving = (async () => {
    const rights = { domain, access: Access.RemoteRead, maxSendRequests: 1, maxReceiveRequests: 1 }
    for await (const request of listener) accepting.push(request.accept(rights))
  })()
  const place = { address: '127.0.0.1', port: listener.port }
  const shards = new RemoteShards(() => Promise.resolve({ place, identity: [0, 0], chunks: [], heads: [] }))
  const card: NodeCard = {
    rank: 0,
    processId: process.pid,
    machine: 'elsewhere',
    here: place,
    beyond: place,
    holds: [],
  }
  const configuration = { log: 0, version: 1, voters: [{ id: 1, number: 1 }], nextNumber: 2 }
  for (let shard = 0; shard < SHARDS; shard += 1)
    shards.learn({ shard, leader: 0, configuration, sights: [], isDurable: false }, [card])
  for (let shard = 0; shard < SHARDS; shard += 1) while (shards.readsOf(shard) === undefined) await sleep(1)
  const connections = await Promise.all(accepting)
  shards.close()
  assert.equal(connections.length, 1)
  await connections[0]!.closed
  listener.close()
  await serving
})
