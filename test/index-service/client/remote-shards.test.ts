import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, listen } from '../../../src/cm/index.ts'
import { HeadWord } from '../../../src/consensus/index.ts'
import { RemoteShards } from '../../../src/index-service/client/remote-shards.ts'
import type { NodeCard, Place, ShardMemory } from '../../../src/index-service/node/index-contract.ts'
import { Access, openDevice, type ProtectionDomain } from '../../../src/verbs/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'

useRuntimeDirectory()
const SHARDS = 4
const configuration = { log: 0, version: 1, voters: [{ id: 1, number: 1 }], nextNumber: 2 }

function cardOf(place: Place): NodeCard {
  return { rank: 0, processId: process.pid, machine: 'elsewhere', here: place, beyond: place, holds: [] }
}

/** What a node says of a shard with the only voter. */
function memoryIn(domain: ProtectionDomain, place: Place): ShardMemory {
  const region = domain.allocate(HeadWord.Id + 8, Access.LocalWrite | Access.RemoteRead)
  new DataView(region.bytes.buffer, region.bytes.byteOffset).setBigUint64(HeadWord.Id, 1n, true)
  const head = { id: 1, address: region.address, key: region.remoteKey }
  return { place, identity: [0, 0], chunks: [], heads: [head] }
}

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
  const memory = memoryIn(domain, place)
  const shards = new RemoteShards(() => Promise.resolve(memory))
  for (let shard = 0; shard < SHARDS; shard += 1)
    shards.learn({ shard, leader: 0, configuration, sights: [], isDurable: false }, [cardOf(place)])
  for (let shard = 0; shard < SHARDS; shard += 1) while (shards.readsOf(shard) === undefined) await sleep(1)
  const connections = await Promise.all(accepting)
  shards.close()
  assert.equal(connections.length, 1)
  await connections[0]!.closed
  listener.close()
  await serving
})

test('a shard is not READ while too few of its voters can be, and they are asked for again', async () => {
  using device = openDevice('tcp0')
  const domain = device.createProtectionDomain()
  using listener = await listen({ address: '127.0.0.1', domain })
  const serving = (async () => {
    const rights = { domain, access: Access.RemoteRead, maxSendRequests: 1, maxReceiveRequests: 1 }
    for await (const request of listener) await request.accept(rights)
  })()
  const place = { address: '127.0.0.1', port: listener.port }
  const memory = memoryIn(domain, place)
  let asked = 0
  const shards = new RemoteShards(() => {
    asked += 1
    // A replica that has just begun is not registered yet.
    return Promise.resolve(asked === 1 ? { ...memory, heads: [] } : memory)
  })
  while (shards.readsOf(0) === undefined) {
    shards.learn({ shard: 0, leader: 0, configuration, sights: [], isDurable: false }, [cardOf(place)])
    await sleep(5)
  }
  assert.equal(asked, 2)
  shards.close()
  listener.close()
  await serving
})
