/** Clients of an index whose keys are in several shards. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { RedisDoor } from '../../src/redis-door/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor, type TestDoor } from './support/door.ts'
import { RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

let door: TestDoor

before(async () => {
  door = await openDoor({ shards: 4, isCluster: true })
})

after(async () => {
  await door[Symbol.asyncDispose]()
})

test('commands about all keys go over all shards; within MULTI they are refused', async () => {
  const client = await door.connect()
  for (let at = 0; at < 40; at += 1) assert.equal(await client.ask('SET', `key:${at}`, 'x'), 'OK')
  assert.equal(await client.ask('DBSIZE'), 40)
  assert.equal(((await client.ask('KEYS', '*')) as string[]).length, 40)
  const found = new Set<string>()
  for (let cursor = '0'; ; ) {
    const [next, keys] = (await client.ask('SCAN', cursor, 'COUNT', '7')) as [string, string[]]
    for (const key of keys) found.add(key)
    cursor = next
    if (cursor === '0') break
  }
  assert.equal(found.size, 40)
  await client.ask('MULTI')
  await client.ask('FLUSHALL')
  assert.match(String(await client.ask('EXEC')), /^-CROSSSLOT .*outside of MULTI/)
  assert.equal(await client.ask('DBSIZE'), 40)
  assert.equal(await client.ask('FLUSHALL'), 'OK')
  assert.equal(await client.ask('DBSIZE'), 0)
})

test('CLUSTER tells the slots, their keys, and why nothing can be changed', async () => {
  const client = await door.connect()
  const slot = String(await client.ask('CLUSTER', 'KEYSLOT', 'user:1'))
  await client.ask('SET', 'user:1', 'x')
  assert.equal(await client.ask('CLUSTER', 'COUNTKEYSINSLOT', slot), 1)
  assert.deepEqual(await client.ask('CLUSTER', 'GETKEYSINSLOT', slot, '10'), ['user:1'])
  assert.match(String(await client.ask('CLUSTER', 'COUNTKEYSINSLOT', '16384')), /^-ERR Invalid or out of range slot/)
  const slots = (await client.ask('CLUSTER', 'SLOTS')) as [number, number, [string, number, string]][]
  assert.deepEqual([slots.length, slots[0]![0], slots.at(-1)![1]], [4, 0, 16383])
  const id = String(await client.ask('CLUSTER', 'MYID'))
  assert.equal(slots[0]![2][2], id)
  assert.match(
    String(await client.ask('CLUSTER', 'NODES')),
    new RegExp(`^${id} 127.0.0.1:${door.port}@0 myself,master`),
  )
  assert.deepEqual(await client.ask('CLUSTER', 'REPLICAS', id), [])
  const refusal = String(await client.ask('CLUSTER', 'ADDSLOTS', '1'))
  assert.match(refusal, /^-ERR cluster\|addslots is refused: slots belong to shards/)
  await client.ask('MULTI')
  await client.ask('SELECT', '1')
  assert.match(String(await client.ask('EXEC')), /SELECT is not allowed in cluster mode/)
})

test('values that come together and are large are all stored', async () => {
  const client = await door.connect()
  const value = 'x'.repeat(3 * 2 ** 20)
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => client.ask('SET', `{large}${at}`, value)))
  assert.deepEqual(new Set(answers), new Set(['OK']))
  for (let at = 0; at < 8; at += 1) assert.equal(await client.ask('STRLEN', `{large}${at}`), value.length)
})

test('where the port is in use no door is opened, and the node can have one elsewhere', async () => {
  const settings = { address: '127.0.0.1', announce: '127.0.0.1', clientsMax: 10, timeoutMs: 10_000, isCluster: false }
  const open = (port: number): Promise<RedisDoor> =>
    RedisDoor.open(door.node, { ...settings, port, password: undefined })
  await assert.rejects(open(door.port), { errnoName: 'EADDRINUSE' })
  await using other = await open(0)
  using client = await RawClient.connect(other.port)
  assert.equal(await client.ask('PING'), 'PONG')
})
