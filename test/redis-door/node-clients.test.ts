/** Clients that programs have, as they are: each as its own documentation uses it, on a door. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import KeyvRedis from '@keyv/redis'
import { createClient } from '@redis/client'
import { RedisStore } from 'connect-redis'
import { Cluster, Redis } from 'ioredis'
import { Keyv } from 'keyv'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor, type TestDoor } from './support/door.ts'

useRuntimeDirectory()

let door: TestDoor

before(async () => {
  door = await openDoor()
})

after(async () => {
  await door[Symbol.asyncDispose]()
})

function ioredis(): Redis {
  return new Redis({ port: door.port, maxRetriesPerRequest: 0 })
}

test('ioredis: commands, pipelines, transactions and buffers', async () => {
  const redis = ioredis()
  try {
    assert.equal(await redis.set('io:a', '1'), 'OK')
    assert.equal(await redis.incrby('io:a', 41), 42)
    const bytes = Buffer.from([0, 255, 13, 10, 128])
    await redis.set('io:bytes', bytes)
    assert.deepEqual(await redis.getBuffer('io:bytes'), bytes)
    await redis.hset('io:hash', { one: '1', two: '2' })
    assert.deepEqual(await redis.hgetall('io:hash'), { one: '1', two: '2' })
    await redis.zadd('io:z', '1.5', 'a', '2', 'b')
    assert.deepEqual(await redis.zrange('io:z', '0', '-1', 'WITHSCORES'), ['a', '1.5', 'b', '2'])
    const pipeline = redis.pipeline()
    for (let at = 0; at < 500; at += 1) pipeline.rpush('io:list', String(at))
    const replies = await pipeline.exec()
    assert.deepEqual(replies?.at(-1), [null, 500])
    const done = await redis.multi().incr('io:a').lpop('io:list').get('io:none').exec()
    assert.deepEqual(done, [
      [null, 43],
      [null, '0'],
      [null, null],
    ])
  } finally {
    redis.disconnect()
  }
})

test('ioredis: WATCH sees what another client changes, and EXEC then does nothing', async () => {
  const [redis, other] = [ioredis(), ioredis()]
  try {
    await redis.set('io:watched', '1')
    await redis.watch('io:watched')
    await other.set('io:watched', '2')
    assert.equal(await redis.multi().set('io:watched', '3').exec(), null)
    assert.equal(await redis.get('io:watched'), '2')
    await redis.watch('io:watched')
    assert.deepEqual(await redis.multi().set('io:watched', '4').exec(), [[null, 'OK']])
  } finally {
    redis.disconnect()
    other.disconnect()
  }
})

test('ioredis: blocking takes, streams with groups, a scan of all keys', async () => {
  const [redis, other] = [ioredis(), ioredis()]
  try {
    const taken = redis.blpop('io:jobs', 5)
    await other.rpush('io:jobs', 'job')
    assert.deepEqual(await taken, ['io:jobs', 'job'])
    await redis.xgroup('CREATE', 'io:stream', 'workers', '$', 'MKSTREAM')
    const read = redis.xreadgroup('GROUP', 'workers', 'w', 'COUNT', 1, 'BLOCK', 5000, 'STREAMS', 'io:stream', '>')
    const id = await other.xadd('io:stream', '*', 'field', 'value')
    assert.deepEqual(await read, [['io:stream', [[id, ['field', 'value']]]]])
    assert.equal(await redis.xack('io:stream', 'workers', id!), 1)
    await Promise.all(Array.from({ length: 300 }, (_, at) => redis.set(`io:scan:${at}`, at)))
    const found = new Set<string>()
    for await (const keys of redis.scanStream({ match: 'io:scan:*', count: 50 })) for (const key of keys) found.add(key)
    assert.equal(found.size, 300)
  } finally {
    redis.disconnect()
    other.disconnect()
  }
})

test('ioredis: channels and patterns', async () => {
  const [subscriber, publisher] = [ioredis(), ioredis()]
  try {
    await subscriber.subscribe('io:news')
    await subscriber.psubscribe('io:other:*')
    const message = once(subscriber, 'message')
    const byPattern = once(subscriber, 'pmessage')
    assert.equal(await publisher.publish('io:news', 'hello'), 1)
    await publisher.publish('io:other:1', 'there')
    assert.deepEqual(await message, ['io:news', 'hello'])
    assert.deepEqual(await byPattern, ['io:other:*', 'io:other:1', 'there'])
    await subscriber.unsubscribe('io:news')
  } finally {
    subscriber.disconnect()
    publisher.disconnect()
  }
})

test('ioredis Cluster: keys of several shards', async () => {
  await using several = await openDoor({ shards: 4, isCluster: true })
  const cluster = new Cluster([{ host: '127.0.0.1', port: several.port }])
  try {
    await Promise.all(Array.from({ length: 100 }, (_, at) => cluster.set(`key:${at}`, at)))
    for (let at = 0; at < 100; at += 1) assert.equal(await cluster.get(`key:${at}`), String(at))
    assert.deepEqual(await cluster.mget('{one}:a', '{one}:b'), [null, null])
    await assert.rejects(cluster.mget('a', 'b'), /CROSSSLOT|same slot|single slot/)
  } finally {
    cluster.disconnect()
  }
})

test('node-redis: RESP2 and RESP3', async () => {
  for (const RESP of [2, 3] as const) {
    const client = createClient({ socket: { port: door.port, host: '127.0.0.1' }, RESP })
    await client.connect()
    try {
      await client.set('node:a', '1', { expiration: { type: 'EX', value: 100 } })
      assert.equal(await client.incr('node:a'), 2)
      assert.ok((await client.ttl('node:a')) > 90)
      await client.hSet('node:hash', { one: '1', two: '2' })
      assert.deepEqual({ ...(await client.hGetAll('node:hash')) }, { one: '1', two: '2' })
      await client.zAdd('node:z', [
        { score: 1.5, value: 'a' },
        { score: 2, value: 'b' },
      ])
      assert.deepEqual(await client.zRangeWithScores('node:z', 0, -1), [
        { value: 'a', score: 1.5 },
        { value: 'b', score: 2 },
      ])
      assert.deepEqual(await client.multi().set('node:b', '7').get('node:b').exec(), ['OK', '7'])
      const keys: string[] = []
      for await (const some of client.scanIterator({ MATCH: 'node:*' })) keys.push(...some)
      assert.deepEqual(keys.sort(), ['node:a', 'node:b', 'node:hash', 'node:z'])
      const subscriber = client.duplicate()
      await subscriber.connect()
      const heard = new Promise((resolve) => {
        void subscriber.subscribe('node:news', resolve).then(() => client.publish('node:news', 'hello'))
      })
      assert.equal(await heard, 'hello')
      await subscriber.close()
    } finally {
      await client.close()
    }
  }
})

test('connect-redis: sessions of express', async () => {
  const client = createClient({ socket: { port: door.port, host: '127.0.0.1' } })
  await client.connect()
  try {
    const store = new RedisStore({ client, prefix: 'session:' })
    const session = { cookie: { originalMaxAge: 60_000 }, user: 'ada' }
    await store.set('one', session as never)
    assert.deepEqual(await store.get('one'), session)
    await store.touch('one', session as never)
    assert.deepEqual(await store.ids(), ['one'])
    assert.equal(await store.length(), 1)
    await store.destroy('one')
    assert.equal(await store.get('one'), null)
    await store.set('two', session as never)
    await store.clear()
    assert.equal(await store.length(), 0)
  } finally {
    await client.close()
  }
})

test('@keyv/redis: a cache with times to live', async () => {
  const keyv = new Keyv(new KeyvRedis(`redis://127.0.0.1:${door.port}`), { namespace: 'cache' })
  try {
    await keyv.set('a', { is: 1 })
    await keyv.set('short', 1, 30)
    assert.deepEqual(await keyv.get('a'), { is: 1 })
    assert.deepEqual(await keyv.get(['a', 'none']), [{ is: 1 }, undefined])
    while ((await keyv.get('short')) !== undefined);
    assert.equal(await keyv.delete('a'), true)
    await keyv.set('b', 2)
    await keyv.clear()
    assert.equal(await keyv.get('b'), undefined)
  } finally {
    await keyv.disconnect()
  }
})

test('rate-limiter-flexible: no more than the limit, of several clients at once', async () => {
  const clients = [ioredis(), ioredis()]
  try {
    const limiters = clients.map(
      (storeClient) => new RateLimiterRedis({ storeClient, keyPrefix: 'limit', points: 10, duration: 60 }),
    )
    const outcomes = await Promise.allSettled(Array.from({ length: 25 }, (_, at) => limiters[at % 2]!.consume('user')))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
    const left = await limiters[0]!.get('user')
    assert.ok(left !== null && left.consumedPoints >= 11)
  } finally {
    for (const client of clients) client.disconnect()
  }
})
