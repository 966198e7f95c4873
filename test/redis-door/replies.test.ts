/** What the door answers, in both versions of RESP, and what redis-server does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'

useRuntimeDirectory()

/** Replies of every kind. */
const commands: readonly (readonly string[])[] = [
  ['SET', 'text', 'value'],
  ['GET', 'text'],
  ['GET', 'none'],
  ['INCR', 'number'],
  ['INCR', 'text'],
  ['INCRBYFLOAT', 'number', '0.5'],
  ['LPUSH', 'text', 'x'],
  ['HSET', 'hash', 'field', 'value'],
  ['HGETALL', 'hash'],
  ['HGETALL', 'none'],
  ['HRANDFIELD', 'hash', '1', 'WITHVALUES'],
  ['SADD', 'set', 'member'],
  ['SMEMBERS', 'set'],
  ['ZADD', 'sorted', '1.5', 'one', '-inf', 'low', 'inf', 'high'],
  ['ZSCORE', 'sorted', 'one'],
  ['ZRANGE', 'sorted', '0', '-1', 'WITHSCORES'],
  ['ZADD', 'long', '30483157561346968', 'a', '-9007199254740994', 'b', '123456789012345678', 'c'],
  ['ZRANGE', 'long', '0', '-1', 'WITHSCORES'],
  ['ZADD', 'zeros', '-0', 'a', '0', 'b', '-0.00099', 'c'],
  ['ZINTER', '2', 'zeros', 'zeros', 'WEIGHTS', '0.1', '1e3', 'AGGREGATE', 'MAX', 'WITHSCORES'],
  ['ZUNION', '1', 'zeros', 'WEIGHTS', '0.1', 'WITHSCORES'],
  ['ZINCRBY', 'zeros', '-0', 'd'],
  ['ZRANGE', 'zeros', '0', '-1', 'WITHSCORES'],
  ['ZADD', 'signs', '0', 'x', '1', 'y'],
  ...['-1', '0.5', '-inf'].map((weight) => ['ZUNION', '1', 'signs', 'WEIGHTS', weight, 'WITHSCORES']),
  ['ZINTER', '2', 'signs', 'signs', 'WEIGHTS', '-1', '1', 'AGGREGATE', 'MAX', 'WITHSCORES'],
  ['ZINTER', '2', 'signs', 'signs', 'WEIGHTS', '1', '-1', 'AGGREGATE', 'MIN', 'WITHSCORES'],
  ['ZUNION', '2', 'signs', 'signs', 'WEIGHTS', '-1', '1', 'AGGREGATE', 'MIN', 'WITHSCORES'],
  ['ZUNIONSTORE', 'stored', '1', 'signs', 'WEIGHTS', '-1'],
  ['ZRANGE', 'stored', '0', '-1', 'WITHSCORES'],
  ['ZPOPMIN', 'sorted'],
  ['BZPOPMIN', 'none', '0.01'],
  ['BLPOP', 'none', '0.01'],
  ['BLMOVE', 'none', 'other', 'LEFT', 'LEFT', '0.01'],
  ['LPOP', 'none', '2'],
  ['LPOP', 'none'],
  ['XADD', 'stream', '1-1', 'field', 'value'],
  ['XREAD', 'STREAMS', 'stream', '0'],
  ['XREAD', 'STREAMS', 'stream', '$'],
  ['XRANGE', 'stream', '-', '+'],
  ['SADD', 'many', 'b', 'aa', 'c', 'a'],
  ['SORT', 'many', 'BY', '_', 'STORE', 'target'],
  ['LRANGE', 'target', '0', '-1'],
  ['EXPIRE', 'text', '-9223372036854776'],
  ['TTL', 'text'],
  ['MULTI'],
  ['HGETALL', 'hash'],
  ['LPOP', 'none', '1'],
  ['EXEC'],
  ['WATCH', 'text'],
  ['SET', 'text', 'other'],
  ['MULTI'],
  ['GET', 'text'],
  ['EXEC'],
  ['EXEC'],
  ['NONSENSE', 'a', 'b'],
  ['XGROUP', '\0t1', 'g', '0', '0'],
  ['XINFO', 'a\0b', 'k'],
  ['OBJECT', `a\0${'b'.repeat(200)}`, 'text'],
  ['OBJECT', 'b'.repeat(200), 'text'],
  ['CLIENT', 'a\0b'],
  ['GET'],
]

for (const protocol of [2, 3] as const)
  test(`RESP${protocol}: each kind of reply is as Redis'`, { skip: withoutRedis }, async () => {
    await using door = await openDoor()
    await using redis = await openRedis()
    const [own, theirs] = [await door.connect(protocol), await redis.connect(protocol)]
    for (const command of commands)
      assert.deepEqual(await own.ask(...command), await theirs.ask(...command), command.join(' '))
  })

/** What is done to a stream that another client watches, which has the group `g` with one entry under way. */
const meanwhile: readonly (readonly string[])[] = [
  ['XGROUP', 'SETID', 'st', 'g', '2'],
  ['XGROUP', 'CREATE', 'st', 'other', '0'],
  ['XGROUP', 'DESTROY', 'st', 'g'],
  ['XGROUP', 'CREATECONSUMER', 'st', 'g', 'new'],
  ['XGROUP', 'DELCONSUMER', 'st', 'g', 'c'],
  ['XACK', 'st', 'g', '1'],
  ['XREADGROUP', 'GROUP', 'g', 'other', 'STREAMS', 'st', '>'],
  ['XREADGROUP', 'GROUP', 'g', 'other', 'STREAMS', 'st', '0'],
  ['XCLAIM', 'st', 'g', 'other', '0', '1'],
  ['XAUTOCLAIM', 'st', 'g', 'other', '0', '0'],
  ['XSETID', 'st', '5'],
  ['XADD', 'st', '9', 'f', 'v'],
  ['XDEL', 'st', '1'],
  ['XTRIM', 'st', 'MAXLEN', '1'],
  ['XTRIM', 'st', 'MAXLEN', '5'],
  ['EVAL', "return redis.call('XACK', 'st', 'g', '1')", '0'],
  ['EVAL', "return redis.call('XDEL', 'st', '1')", '0'],
  ['RESTORE', 'st', '0', 'nonsense'],
  ['RENAME', 'st', 'elsewhere'],
]

test('WATCH: what is done to the groups of a stream is no change of it, as with Redis', {
  skip: withoutRedis,
}, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = await Promise.all(
    [door, redis].map(async (server) => {
      const [watcher, writer] = [await server.connect(), await server.connect()]
      const outcomes: unknown[] = []
      for (const command of meanwhile) {
        await writer.ask('DEL', 'st')
        await writer.ask('XADD', 'st', '1', 'f', 'v')
        await writer.ask('XADD', 'st', '2', 'f', 'v')
        await writer.ask('XGROUP', 'CREATE', 'st', 'g', '0')
        await writer.ask('XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', '1', 'STREAMS', 'st', '>')
        await watcher.ask('WATCH', 'st')
        await writer.ask(...command)
        await watcher.ask('MULTI')
        await watcher.ask('PING')
        outcomes.push([command.join(' '), await watcher.ask('EXEC')])
      }
      return outcomes
    }),
  )
  assert.deepEqual(own, theirs)
})

test('one who waits for a stream is served by an entry that is trimmed away at once, as with Redis', {
  skip: withoutRedis,
}, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const answers = await Promise.all(
    [door, redis].map(async (server) => {
      const [reader, member, writer] = [await server.connect(), await server.connect(), await server.connect()]
      await writer.ask('XGROUP', 'CREATE', 'stream', 'group', '$', 'MKSTREAM')
      const read = reader.ask('XREAD', 'BLOCK', '0', 'STREAMS', 'stream', '$')
      const taken = member.ask('XREADGROUP', 'GROUP', 'group', 'c', 'BLOCK', '0', 'STREAMS', 'stream', '>')
      while (!String(await writer.ask('INFO', 'clients')).includes('blocked_clients:2'));
      await writer.ask('XADD', 'stream', 'MAXLEN', '0', '5-5', 'field', 'value')
      return await Promise.all([read, taken])
    }),
  )
  assert.deepEqual(answers[0], answers[1])
})
