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
  ['ZADD', 'zeros', '-0', 'a', '0', 'b', '-0.00099', 'c'],
  ['ZINTER', '2', 'zeros', 'zeros', 'WEIGHTS', '0.1', '1e3', 'AGGREGATE', 'MAX', 'WITHSCORES'],
  ['ZUNION', '1', 'zeros', 'WEIGHTS', '0.1', 'WITHSCORES'],
  ['ZINCRBY', 'zeros', '-0', 'd'],
  ['ZRANGE', 'zeros', '0', '-1', 'WITHSCORES'],
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
