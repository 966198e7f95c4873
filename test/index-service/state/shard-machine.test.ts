import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import type { ShardAnswer } from '../../../src/index-service/state/shard-command.ts'
import { callOf, LoneMachine } from '../support/differential.ts'
import { shown } from '../support/same-reply.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const text = (reply: Reply): string => shown(reply, false)

/** Tells a machine a call that may wait. */
function wait(lone: LoneMachine, waiter: number, ...command: string[]): ShardAnswer {
  return lone.apply({ calls: [callOf(command)], waiter })
}

function servedBy(lone: LoneMachine): string[] {
  return lone.served.map(([waiter, reply]) => `${waiter} ${text(reply)}`)
}

test('calls of one command run with nothing in between, and an error of one undoes nothing', () => {
  const lone = new LoneMachine()
  const calls = [
    ['SET', 'a', 'x'],
    ['INCR', 'a'],
    ['APPEND', 'a', 'y'],
    ['GET', 'a'],
  ].map(callOf)
  const answer = lone.apply({ calls }) as readonly Reply[]
  assert.deepEqual(answer.map(text), ['+OK', '-ERR value is not an integer or out of range', '2', '"xy"'])
})

test('an unknown command and a wrong number of arguments are answered as Redis words them', () => {
  const lone = new LoneMachine()
  assert.equal(text(lone.run('FOO', 'a', 'b')), "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' ")
  assert.equal(text(lone.run('foo')), "-ERR unknown command 'foo', with args beginning with: ")
  assert.equal(text(lone.run('Get')), "-ERR wrong number of arguments for 'get' command")
  assert.equal(text(lone.run('SET', 'a')), "-ERR wrong number of arguments for 'set' command")
})

test('nothing runs if a watched key has changed, was made or is gone', () => {
  const lone = new LoneMachine()
  const versionOf = (key: string): number => lone.machine.versionOf(bytes(key), lone.timeMs)
  const attempt = (key: string, version: number): ShardAnswer =>
    lone.apply({ calls: [callOf(['SET', 'done', key])], watched: [{ key: bytes(key), version }] })
  assert.equal(attempt('a', 1), null)
  assert.equal(lone.run('EXISTS', 'done'), 0)
  assert.deepEqual(attempt('a', 0), ['OK'])
  for (const change of [
    ['SET', 'a', '1'],
    ['HSET', 'h', 'f', '1'],
    ['HSET', 'h', 'f', '2'],
    ['EXPIRE', 'h', '100'],
    ['RPUSH', 'l', 'x'],
    ['SADD', 's', 'x'],
    ['ZADD', 'z', '1', 'x'],
    ['XADD', 'x', '1-1', 'f', 'v'],
  ]) {
    const key = change[1]!
    const before = versionOf(key)
    lone.run(...change)
    assert.notEqual(versionOf(key), before, change.join(' '))
    assert.equal(attempt(key, before), null, change.join(' '))
    assert.deepEqual(attempt(key, versionOf(key)), ['OK'], change.join(' '))
  }
  const before = versionOf('a')
  lone.run('GET', 'a')
  lone.run('SETNX', 'a', 'other')
  assert.equal(versionOf('a'), before, 'what changed nothing')
  lone.run('DEL', 'a')
  assert.equal(attempt('a', before), null)
})

test('what happens to the groups of a stream is a change only for programs, also after a snapshot', () => {
  let lone = new LoneMachine()
  lone.run('XADD', 'x', '1-1', 'f', 'v')
  const version = lone.machine.versionOf(bytes('x'), lone.timeMs)
  const attempt = (admitted: boolean): ShardAnswer =>
    lone.apply({ calls: [callOf(['PING'])], watched: [{ key: bytes('x'), version }], admitted })
  assert.deepEqual([attempt(false), attempt(true)], [['PONG'], ['PONG']])
  lone.run('XGROUP', 'CREATE', 'x', 'g', '0')
  assert.deepEqual([attempt(false), attempt(true)], [['PONG'], null])
  lone = lone.restored()
  assert.deepEqual([attempt(false), attempt(true)], [['PONG'], null])
})

test('a watched key that expires has changed', () => {
  const lone = new LoneMachine()
  lone.run('SET', 'a', '1', 'PX', '10')
  const version = lone.machine.versionOf(bytes('a'), lone.timeMs)
  lone.timeMs += 10
  assert.equal(lone.apply({ calls: [callOf(['PING'])], watched: [{ key: bytes('a'), version }] }), null)
})

test('calls that wait for a list are served in the order in which they came', () => {
  const lone = new LoneMachine()
  assert.deepEqual(wait(lone, 1, 'BLPOP', 'a', '0'), { waiting: true })
  assert.deepEqual(wait(lone, 2, 'BRPOP', 'b', 'a', '0'), { waiting: true })
  assert.deepEqual(wait(lone, 3, 'BLPOP', 'a', '0'), { waiting: true })
  assert.equal(lone.run('RPUSH', 'a', 'x', 'y'), 2)
  assert.deepEqual(servedBy(lone), ['1 ["a","x"]', '2 ["a","y"]'])
  assert.equal(lone.run('EXISTS', 'a'), 0)
  assert.equal(lone.machine.waiting, 1)
  lone.run('LPUSH', 'b', 'z')
  assert.equal(lone.run('LLEN', 'b'), 1, 'the second one waits no longer')
})

test('a call that need not wait is answered at once, and so is one without a waiter', () => {
  const lone = new LoneMachine()
  lone.run('RPUSH', 'a', 'x')
  assert.equal(text((wait(lone, 1, 'BLPOP', 'b', 'a', '0') as Reply[])[0]!), '["a","x"]')
  assert.equal(lone.run('BLPOP', 'a', '0'), null)
  const both = lone.apply({ calls: [callOf(['BLPOP', 'a', '0']), callOf(['RPUSH', 'a', 'y'])], waiter: 2 })
  assert.deepEqual(both, [null, 1])
  assert.equal(lone.machine.waiting, 0)
})

test('all calls of a command run before those that wait, which take from the key that was ready first', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BLPOP', 'a', 'b', '0')
  lone.apply({
    calls: [
      ['RPUSH', 'b', '1'],
      ['RPUSH', 'a', '2'],
      ['RPUSH', 'b', '3'],
    ].map(callOf),
  })
  assert.deepEqual(servedBy(lone), ['1 ["b","1"]'])
  assert.equal(text(lone.run('LRANGE', 'b', '0', '-1')), '["3"]')
  wait(lone, 2, 'BLPOP', 'c', '0')
  lone.apply({
    calls: [
      ['RPUSH', 'c', '1'],
      ['DEL', 'c'],
    ].map(callOf),
  })
  assert.equal(lone.machine.waiting, 1, 'what was pushed and deleted again is not there')
})

test('of calls that are apart each serves those that wait, before the next one takes what it has brought', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BLPOP', 'a', '0')
  const calls = [
    ['RPUSH', 'a', '1'],
    ['LPOP', 'a'],
  ].map(callOf)
  const replies = lone.apply({ calls, apart: true }) as readonly Reply[]
  assert.deepEqual(replies.map(text), ['1', 'null'])
  assert.deepEqual(servedBy(lone), ['1 ["a","1"]'])
})

test('what one that waited moves on serves the next one', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BLPOP', 'c', '0')
  wait(lone, 2, 'BLMOVE', 'b', 'c', 'LEFT', 'RIGHT', '0')
  wait(lone, 3, 'BRPOPLPUSH', 'a', 'b', '0')
  lone.run('RPUSH', 'a', 'x')
  assert.deepEqual(servedBy(lone), ['3 "x"', '2 "x"', '1 ["c","x"]'])
  assert.equal(lone.run('DBSIZE'), 0)
})

test('a key of another type does not end the wait, but the target of a move does', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BLPOP', 'a', '0')
  lone.run('ZADD', 'a', '1', 'x')
  lone.run('DEL', 'a')
  lone.run('SET', 'a', 'x')
  lone.run('DEL', 'a')
  assert.equal(lone.machine.waiting, 1)
  wait(lone, 2, 'BLMOVE', 'b', 't', 'LEFT', 'LEFT', '0')
  lone.run('SET', 't', 'text')
  lone.run('RPUSH', 'b', 'kept')
  assert.deepEqual(servedBy(lone), ['2 -WRONGTYPE Operation against a key holding the wrong kind of value'])
  assert.equal(text(lone.run('LRANGE', 'b', '0', '-1')), '["kept"]')
})

test('what comes to the target of a move does not end the wait, whatever its source is by then', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BLMOVE', 'b', 't', 'LEFT', 'LEFT', '0')
  wait(lone, 2, 'BRPOPLPUSH', 'b', 't', '0')
  lone.run('XADD', 'b', '1-1', 'field', 'value')
  lone.run('RPUSH', 't', 'x')
  assert.equal(lone.machine.waiting, 2)
  assert.deepEqual(servedBy(lone), [])
})

test('lists, sorted sets and streams can be waited for; renamed and copied keys serve, too', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BZPOPMIN', 'z', '0')
  wait(lone, 2, 'BZMPOP', '0', '1', 'z', 'MAX', 'COUNT', '5')
  wait(lone, 3, 'BLMPOP', '0', '2', 'a', 'b', 'RIGHT', 'COUNT', '2')
  wait(lone, 4, 'XREAD', 'BLOCK', '0', 'STREAMS', 'x', '$')
  lone.run('ZADD', 'z', '1', 'a', '2', 'b', '3', 'c')
  lone.run('RPUSH', 'source', '1', '2', '3')
  lone.run('RENAME', 'source', 'b')
  lone.run('XADD', 'x', '1-1', 'f', 'v')
  assert.deepEqual(servedBy(lone), [
    '1 ["z","a",,1]',
    '2 ["z",[["c",,3],["b",,2]]]',
    '3 ["b",["3","2"]]',
    '4 {"x":[["1-1",["f","v"]]]}',
  ])
})

test('`$` of XREAD is what was last when it began to wait', () => {
  const lone = new LoneMachine()
  lone.run('XADD', 'x', '5-1', 'f', 'old')
  wait(lone, 1, 'XREAD', 'BLOCK', '0', 'STREAMS', 'x', '$')
  lone.run('XSETID', 'x', '9')
  lone.run('XDEL', 'x', '5-1')
  const other = lone.restored()
  other.run('XADD', 'x', '9-1', 'f', 'new')
  assert.deepEqual(servedBy(other), ['1 {"x":[["9-1",["f","new"]]]}'])
})

test('readers of a group share what comes, and are told that the key or the group is gone', () => {
  const lone = new LoneMachine()
  const read = (waiter: number, consumer: string): ShardAnswer =>
    wait(lone, waiter, 'XREADGROUP', 'GROUP', 'g', consumer, 'COUNT', '1', 'BLOCK', '0', 'STREAMS', 'x', '>')
  lone.run('XGROUP', 'CREATE', 'x', 'g', '$', 'MKSTREAM')
  read(1, 'one')
  read(2, 'two')
  read(3, 'three')
  lone.run('XADD', 'x', '1-1', 'f', 'v')
  lone.run('XADD', 'x', '1-2', 'f', 'v')
  assert.deepEqual(servedBy(lone), ['1 {"x":[["1-1",["f","v"]]]}', '2 {"x":[["1-2",["f","v"]]]}'])
  lone.run('DEL', 'x')
  assert.match(servedBy(lone)[2]!, /^3 -UNBLOCKED the stream key no longer exists/)
  lone.run('XGROUP', 'CREATE', 'x', 'g', '$', 'MKSTREAM')
  read(4, 'one')
  lone.run('XGROUP', 'DESTROY', 'x', 'g')
  assert.match(servedBy(lone)[3]!, /^4 -NOGROUP No such key 'x' or consumer group 'g'/)
})

test('what was served is kept until it is forgotten, and cancel gives it if it came first', () => {
  const lone = new LoneMachine()
  for (const waiter of [1, 2, 3]) wait(lone, waiter, 'BLPOP', 'a', '0')
  assert.deepEqual(lone.apply({ cancel: 2 }), { cancelled: true })
  assert.deepEqual(lone.apply({ cancel: 2 }), { cancelled: false })
  lone.run('RPUSH', 'a', 'x', 'y', 'z')
  assert.deepEqual([...lone.machine.served.keys()], [1, 3])
  assert.equal(text(lone.run('LRANGE', 'a', '0', '-1')), '["z"]')
  const answer = lone.apply({ cancel: 3 }) as { readonly served: Reply }
  assert.equal(text(answer.served), '["a","y"]')
  assert.deepEqual(lone.apply({ forget: [1, 3, 9] }), { forgotten: 1 })
  assert.equal(lone.machine.served.size, 0)
})

test('a waiter that is used twice is refused, whether the first one waits or was served', () => {
  const lone = new LoneMachine()
  wait(lone, 1, 'BLPOP', 'a', '0')
  assert.throws(() => wait(lone, 1, 'BLPOP', 'b', '0'), /waiter 1 is used twice/)
  lone.run('RPUSH', 'a', 'x')
  assert.throws(() => wait(lone, 1, 'BLPOP', 'b', '0'), /waiter 1 is used twice/)
})

test('a restored machine has those that wait in their order, and tells what was served', () => {
  const lone = new LoneMachine()
  for (const waiter of [7, 5, 6]) wait(lone, waiter, 'BLPOP', 'a', 'b', '0')
  lone.run('RPUSH', 'b', 'first')
  const other = lone.restored()
  assert.deepEqual(servedBy(other), ['7 ["b","first"]'])
  for (const each of [lone, other]) each.run('RPUSH', 'a', 'x', 'y')
  assert.deepEqual(servedBy(other), servedBy(lone))
  assert.deepEqual(servedBy(other), ['7 ["b","first"]', '5 ["a","x"]', '6 ["a","y"]'])
})

test('above its memory a machine refuses what may take more, and runs what does not', () => {
  const lone = new LoneMachine({ memoryMax: 4_000 })
  lone.run('RPUSH', 'l', 'x')
  lone.run('SET', 'big', 'x'.repeat(5_000))
  const refused = "-OOM command not allowed when used memory > 'maxmemory'."
  for (const command of ['SET a 1', 'LPUSH l y', 'SADD s 1', 'ZADD z 1 a', 'XADD x * f v', 'HSET h f v', 'COPY l m'])
    assert.equal(text(lone.run(...command.split(' '))), refused, command)
  assert.equal(text(lone.run('LPOP', 'l')), '"x"')
  assert.equal(lone.run('EXPIRE', 'big', '100'), 1)
  assert.equal(lone.run('STRLEN', 'big'), 5_000)
  assert.equal(lone.run('DEL', 'big'), 1)
  assert.equal(lone.run('SET', 'a', '1'), 'OK')
})

test('what a program did, which looked at the memory before, is done as a whole', () => {
  const lone = new LoneMachine({ memoryMax: 4_000 })
  const calls = [
    ['SET', 'a', 'x'.repeat(5_000)],
    ['DEL', 'a'],
    ['SET', 'b', 'x'.repeat(5_000)],
    ['LPUSH', 'l', 'y'],
  ]
  const replies = lone.apply({ calls: calls.map(callOf), watched: [], admitted: true })
  assert.deepEqual(replies, ['OK', 1, 'OK', 1])
  assert.match(text(lone.run('SET', 'c', '1')), /^-OOM /)
  const half = lone.apply({ calls: calls.slice(1).map(callOf), watched: [] }) as Reply[]
  assert.deepEqual(half.map(text), ['0', ...Array.from({ length: 2 }, () => text(lone.run('SET', 'c', '1')))])
})

test('a key is gone when the log says that its time has come, and not before', () => {
  const lone = new LoneMachine()
  lone.run('SET', 'a', '1', 'PX', '100')
  lone.run('RPUSH', 'l', '1')
  lone.run('PEXPIRE', 'l', '50')
  lone.run('HSET', 'h', 'f', 'v')
  lone.run('PEXPIRE', 'h', '100')
  lone.timeMs += 49
  assert.equal(lone.run('PTTL', 'l'), 1)
  assert.equal(lone.run('EXISTS', 'a', 'l', 'h'), 3)
  lone.timeMs += 1
  assert.equal(lone.run('PTTL', 'l'), -2)
  assert.equal(lone.run('RPUSHX', 'l', '2'), 0)
  assert.equal(lone.machine.nextExpiryMs, lone.timeMs + 50)
  lone.timeMs += 50
  assert.deepEqual(lone.machine.read([callOf(['GET', 'a']), callOf(['EXISTS', 'h'])], lone.timeMs), [null, 0])
  assert.equal(lone.machine.size, 2, 'a read removes nothing')
  assert.deepEqual(lone.apply({ expire: true }), { expired: 2, nextMs: Infinity })
  assert.equal(lone.machine.size, 0)
  lone.run('HSET', 'h', 'g', 'w')
  assert.equal(text(lone.run('HGETALL', 'h')), '{"g":"w"}')
})

test('an expiry that was moved or taken away does not happen', () => {
  const lone = new LoneMachine()
  for (const [key, ...change] of [
    ['a', 'PERSIST', 'a'],
    ['b', 'SET', 'b', 'new'],
    ['c', 'PEXPIRE', 'c', '1000'],
    ['d', 'SET', 'd', 'new', 'KEEPTTL'],
    ['e', 'RENAME', 'e', 'e2'],
    ['f', 'COPY', 'f', 'f2'],
    ['g', 'GETEX', 'g', 'PERSIST'],
    ['h', 'APPEND', 'h', 'more'],
  ] as string[][]) {
    lone.run('SET', key!, 'old', 'PX', '10')
    lone.run(...change)
  }
  lone.timeMs += 10
  assert.deepEqual(lone.apply({ expire: true }), { expired: 5, nextMs: lone.timeMs + 990 })
  assert.equal(text(lone.run('KEYS', '*')), '["a","b","c","g"]')
})

test('one command removes a thousand expired keys at most, those that expired first', () => {
  const lone = new LoneMachine()
  for (let number = 0; number < 1_100; number += 1) lone.run('SET', `k${number}`, 'v', 'PX', String(2_000 - number))
  lone.timeMs += 2_000
  assert.deepEqual(lone.apply({ expire: true }), { expired: 1_000, nextMs: lone.timeMs - 99 })
  assert.deepEqual(lone.apply({ expire: true }), { expired: 100, nextMs: Infinity })
})

test('a read changes nothing, even if its key has expired, and a write is not a read', () => {
  const lone = new LoneMachine()
  lone.run('SET', 'a', '1', 'PX', '10')
  lone.run('RPUSH', 'l', 'x')
  const before = Buffer.concat(lone.snapshot())
  const later = lone.timeMs + 100
  const calls = [['GET', 'a'], ['LRANGE', 'l', '0', '-1'], ['SCAN', '0'], ['RANDOMKEY'], ['NOPE']].map(callOf)
  const replies = lone.machine.read(calls, later).map(text)
  assert.deepEqual(replies.slice(0, 4), ['null', '["x"]', '["0",["l"]]', '"l"'])
  assert.match(replies[4]!, /unknown command/)
  assert.throws(() => lone.machine.read([callOf(['DEL', 'a'])], later), /is a write/)
  assert.deepEqual(Buffer.concat(lone.snapshot()), before)
  assert.equal(text(lone.run('GET', 'a')), '"1"')
})
