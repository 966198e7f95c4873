/** Clients that programs have, as they are: each as its own documentation uses it, on a door. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import KeyvRedis from '@keyv/redis'
import { BasicClientSideCache, createClient, createCluster } from '@redis/client'
import { RedisStore } from 'connect-redis'
import { Cluster, Redis } from 'ioredis'
import { Keyv } from 'keyv'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { io as connectSocket } from 'socket.io-client'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor, type TestDoor } from './support/door.ts'
import { redlockClass } from './support/redlock.ts'
import { openSocketServer } from './support/socket-program.ts'

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

test('node-redis: its cache answers until another client changes what it keeps', async () => {
  const cache = new BasicClientSideCache()
  const options = { socket: { port: door.port, reconnectStrategy: false } } as const
  const client = createClient({ ...options, RESP: 3, clientSideCache: cache })
  const other = createClient(options)
  await Promise.all([client.connect(), other.connect()])
  try {
    await other.set('cached', '1')
    for (let at = 0; at < 3; at += 1) assert.equal(await client.get('cached'), '1')
    assert.deepEqual([cache.stats().hitCount, cache.stats().missCount], [2, 1])
    await other.set('cached', '2')
    await until(() => cache.size() === 0, 'the cache is told')
    assert.equal(await client.get('cached'), '2')
    await other.flushDb()
    await until(() => cache.size() === 0, 'the cache is told that all is gone')
    assert.equal(await client.get('cached'), null)
  } finally {
    client.destroy()
    other.destroy()
  }
})

test('node-redis cluster: keys of several shards, MULTI, channels of shards', async () => {
  await using several = await openDoor({ shards: 4, isCluster: true })
  const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${several.port}` }] })
  await cluster.connect()
  try {
    assert.equal(cluster.slots.filter((slot) => slot !== undefined).length, 16_384)
    await Promise.all(Array.from({ length: 100 }, (_, at) => cluster.set(`key:${at}`, at)))
    for (let at = 0; at < 100; at += 1) assert.equal(await cluster.get(`key:${at}`), String(at))
    assert.deepEqual(await cluster.mGet(['{one}:a', '{one}:b']), [null, null])
    // It asks each node for what that has.
    assert.deepEqual(await cluster.mGet(['key:1', 'key:2', 'key:3']), ['1', '2', '3'])
    assert.deepEqual(await cluster.multi().set('{one}:a', '1').incr('{one}:a').exec(), ['OK', 2])
    const heard = new Promise((resolve) => {
      void cluster.sSubscribe('news', resolve).then(() => cluster.sPublish('news', 'hello'))
    })
    assert.equal(await heard, 'hello')
  } finally {
    await cluster.close()
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

test('redlock: one holder at a time, whose lock is extended while it works', async () => {
  const clients = [ioredis(), ioredis()]
  try {
    const [one, other] = clients.map((client) => new redlockClass([client], { retryCount: 2, retryDelay: 5 }))
    const lock = await one!.acquire(['lock:a', 'lock:b'], 1000)
    await assert.rejects(other!.acquire(['lock:b'], 1000), /quorum/)
    assert.equal(await clients[1]!.get('lock:a'), lock.value)
    const extended = await lock.extend(60_000)
    assert.ok((await clients[1]!.pttl('lock:b')) > 50_000)
    await extended.release()
    assert.equal(await clients[1]!.exists('lock:a', 'lock:b'), 0)
    // It is held for 600 ms, and redlock extends what has 500 ms left.
    const patient = new redlockClass([clients[1]!], { retryCount: -1, retryDelay: 5 })
    let holders = 0
    const hold = async (): Promise<number> => {
      holders += 1
      const most = holders
      await sleep(20)
      holders -= 1
      return most
    }
    const most = await Promise.all([one!, patient].map((each) => each.using(['lock:c'], 600, hold)))
    assert.deepEqual(most, [1, 1])
  } finally {
    for (const client of clients) client.disconnect()
  }
})

test('@socket.io/redis-adapter: servers tell, ask and count each other, and the clients of all', async () => {
  const redis = ioredis()
  const servers = await Promise.all([0, 1].map(() => openSocketServer(door.port)))
  const sockets = servers.map(({ port }) => connectSocket(`http://127.0.0.1:${port}`, { transports: ['websocket'] }))
  const [one, other] = servers.map(({ io }) => io)
  try {
    await Promise.all(sockets.map((socket) => once(socket as never, 'connect')))
    // The adapters do not wait for it.
    while ((await redis.pubsub('NUMSUB', 'socket.io-request#/#'))[1] !== 2) await sleep(5)
    const heard = sockets.map((socket) => once(socket as never, 'news'))
    one!.emit('news', { is: 1 })
    assert.deepEqual(await Promise.all(heard), [[{ is: 1 }], [{ is: 1 }]])
    assert.equal((await one!.fetchSockets()).length, 2)
    sockets[1]!.on('question', (number: number, answer: (value: number) => void) => answer(number + 1))
    one!.in(sockets[1]!.id!).socketsJoin('red')
    while ((await one!.in('red').fetchSockets()).length === 0);
    assert.deepEqual(await one!.to('red').timeout(5000).emitWithAck('question', 41), [42])
    other!.on('ask', (answer: (value: string) => void) => answer('here'))
    assert.deepEqual(await one!.serverSideEmitWithAck('ask'), ['here'])
  } finally {
    for (const socket of sockets) socket.disconnect()
    await Promise.all(servers.map((server) => server.close()))
    redis.disconnect()
  }
})
