import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerCopier } from '../../src/redis-door/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor } from './support/door.ts'

useRuntimeDirectory()

test('a server is copied with all types and databases, and its changes are followed', { timeout: 60_000 }, async () => {
  await using from = await openDoor()
  await using to = await openDoor()
  const [old, own] = [await from.connect(), await to.connect()]
  await old.ask('SET', 'text', 'value', 'EX', '1000')
  await old.ask('HSET', 'hash', 'a', '1', 'b', '2')
  await old.ask('RPUSH', 'list', '1', '2', '3')
  await old.ask('SADD', 'set', 'x', 'y')
  await old.ask('ZADD', 'sorted', '1', 'a', '2.5', 'b')
  await old.ask('XADD', 'stream', '5-1', 'field', 'value')
  await old.ask('XGROUP', 'CREATE', 'stream', 'group', '0')
  await old.ask('XREADGROUP', 'GROUP', 'group', 'consumer', 'STREAMS', 'stream', '>')
  await old.ask('SELECT', '3')
  await old.ask('SET', 'other', '1')
  await old.ask('SELECT', '0')
  await using copier = await ServerCopier.open(`redis://127.0.0.1:${from.port}`, `redis://127.0.0.1:${to.port}`)
  assert.equal(await copier.listen(), true)
  const stop = new AbortController()
  await copier.copyAll(stop.signal)
  const following = copier.follow(stop.signal)
  await old.ask('DEL', 'set')
  await old.ask('RPUSH', 'list', '4')
  stop.abort()
  await following
  assert.deepEqual([...copier.progress.failed], [])
  for (const command of [
    ['GET', 'text'],
    ['HGETALL', 'hash'],
    ['LRANGE', 'list', '0', '-1'],
    ['EXISTS', 'set'],
    ['ZRANGE', 'sorted', '0', '-1', 'WITHSCORES'],
    ['XRANGE', 'stream', '-', '+'],
    ['XPENDING', 'stream', 'group'],
    ['SELECT', '3'],
    ['GET', 'other'],
    ['DBSIZE'],
  ])
    assert.deepEqual(await own.ask(...command), await old.ask(...command), command.join(' '))
  await own.ask('SELECT', '0')
  assert.ok(Number(await own.ask('TTL', 'text')) > 900)
})
