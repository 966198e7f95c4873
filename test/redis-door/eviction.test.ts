/** Keys that go when the memory is full, as clients of Redis choose and see it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'

useRuntimeDirectory()

const MEMORY_BYTES = 2 ** 20
const value = 'x'.repeat(5000)

/** What a client finds out about policies, without any memory being full. */
const commands: readonly (readonly string[])[] = [
  ['CONFIG', 'GET', 'maxmemory-policy'],
  ['CONFIG', 'SET', 'maxmemory-policy', 'all-lru'],
  ['SET', 'key', 'value'],
  ['OBJECT', 'FREQ', 'key'],
  ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory-samples', '7'],
  ['CONFIG', 'GET', 'maxmemory-policy'],
  ['CONFIG', 'GET', 'maxmemory-samples'],
  ['CONFIG', 'SET', 'maxmemory-samples', '0'],
  ['CONFIG', 'SET', 'maxmemory', '0'],
  ['SET', 'key', 'value'],
  ['OBJECT', 'IDLETIME', 'key'],
  ['OBJECT', 'FREQ', 'key'],
  ['OBJECT', 'IDLETIME', 'none'],
  ['CONFIG', 'SET', 'maxmemory-policy', 'VOLATILE-LFU'],
  ['SET', 'new', 'value'],
  ['OBJECT', 'FREQ', 'new'],
  ['OBJECT', 'IDLETIME', 'new'],
]

test('policies, and what is noted of keys, are answered as Redis answers them', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  for (const command of commands)
    assert.deepEqual(await own.ask(...command), await theirs.ask(...command), command.join(' '))
})

test('the bound is what the server was started with, or less of it', async () => {
  await using door = await openDoor({ memoryBytes: MEMORY_BYTES })
  const client = await door.connect()
  assert.deepEqual(await client.ask('CONFIG', 'GET', 'maxmemory'), ['maxmemory', String(MEMORY_BYTES)])
  assert.equal(await client.ask('CONFIG', 'SET', 'maxmemory', '1mb'), 'OK')
  assert.match(String(await client.ask('CONFIG', 'SET', 'maxmemory', '2mb')), /start the server with another --memory/)
  assert.match(String(await client.ask('INFO', 'memory')), /maxmemory:1048576\r\n/)
  const fill = async (): Promise<number> => {
    await client.ask('FLUSHALL')
    for (let key = 0; ; key += 1)
      if (String(await client.ask('SET', `key ${key}`, value)).startsWith('-OOM')) return key
  }
  const all = await fill()
  assert.equal(await client.ask('CONFIG', 'SET', 'maxmemory', '512kb'), 'OK')
  assert.deepEqual(await client.ask('CONFIG', 'GET', 'maxmemory'), ['maxmemory', '524288'])
  const half = await fill()
  assert.ok(all > 190 && half > 95 && half < 110, `${all}, ${half}`)
  const script = "return redis.pcall('SET', 'key', 'value')"
  assert.match(String(await client.ask('EVAL', script, '0')), /OOM/)
  assert.match(String(await client.ask('RPUSH', 'list', 'a')), /OOM/)
  assert.equal(await client.ask('DEL', 'key 0', 'key 1'), 2)
  await client.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random')
  for (let key = 0; key < 300; key += 1) assert.equal(await client.ask('SET', `more ${key}`, value), 'OK')
  assert.ok(door.node.held.get(0)!.figures.usedBytes <= 2 ** 19)
  assert.equal(await client.ask('CONFIG', 'SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'), 'OK')
  assert.equal(await fill(), all)
})

test('pipelines, transactions and scripts go on when the memory is full; who listens is told of what goes', async () => {
  await using door = await openDoor({ memoryBytes: 8 * MEMORY_BYTES })
  const [client, listener, tracker] = [await door.connect(), await door.connect(3), await door.connect(3)]
  await client.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  await client.ask('CONFIG', 'SET', 'notify-keyspace-events', 'Ee')
  await listener.ask('SUBSCRIBE', '__keyevent@0__:evicted')
  await tracker.ask('CLIENT', 'TRACKING', 'on')
  await client.ask('SET', 'key 0', value)
  await tracker.ask('GET', 'key 0')
  const replies = await client.askAll(Array.from({ length: 4000 }, (_, key) => ['SET', `key ${key}`, value]))
  assert.deepEqual(new Set(replies), new Set(['OK']))
  for (let round = 0; round < 300; round += 1) {
    await client.ask('MULTI')
    await client.ask('APPEND', `list ${round}`, value)
    await client.ask('LPUSH', `other ${round}`, value)
    assert.deepEqual(await client.ask('EXEC'), [5000, 1])
    const script = "return redis.call('SET', KEYS[1], ARGV[1])"
    assert.equal(await client.ask('EVAL', script, '1', `script ${round}`, value), 'OK')
  }
  const [, evicted] = /evicted_keys:(\d+)/.exec(String(await client.ask('INFO', 'stats'))) ?? []
  assert.ok(Number(evicted) > 2000, evicted)
  const [, used] = /used_memory_dataset:(\d+)/.exec(String(await client.ask('INFO', 'memory'))) ?? []
  assert.ok(used === undefined || Number(used) <= 8 * MEMORY_BYTES, used)
  assert.ok(door.node.held.get(0)!.figures.usedBytes <= 8 * MEMORY_BYTES)
  assert.match(JSON.stringify(await listener.next()), /message.*evicted.*key/)
  assert.deepEqual(await tracker.next(), { push: ['invalidate', ['key 0']] })
})

test('a door whose memory is full takes no writes again once nothing may go', async () => {
  await using door = await openDoor({ memoryBytes: MEMORY_BYTES })
  const client = await door.connect()
  await client.ask('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
  const fill = async (prefix: string, ...more: string[]): Promise<unknown> => {
    for (let key = 0; key < 500; key += 1) {
      const failed = await client.ask('SET', `${prefix} ${key}`, value, ...more)
      if (failed !== 'OK') return failed
    }
    return undefined
  }
  assert.equal(await fill('short', 'EX', '1000'), undefined)
  assert.match(String(await fill('lasting')), /OOM command not allowed when used memory > 'maxmemory'/)
  await client.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  assert.match(String(await fill('more')), /OOM/)
  await client.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random')
  assert.equal(await fill('again'), undefined)
})
