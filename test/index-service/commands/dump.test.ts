import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { packDump } from '../../../src/index-service/state/dump-format.ts'
import { SetValue } from '../../../src/index-service/values/set-value.ts'
import { Random } from '../../../src/runtime/index.ts'
import { callOf, LoneMachine, withoutRedis, withRedis } from '../support/differential.ts'
import { shown } from '../support/same-reply.ts'

const text = (reply: Reply): string => shown(reply, false)

/** A machine with a key of each type. */
function filled(): LoneMachine {
  const lone = new LoneMachine()
  for (const command of [
    'SET string text',
    'HSET hash f1 v1 f2 v2',
    'RPUSH list a b a',
    'SADD set x y z',
    'ZADD zset -inf low 1.5 mid inf high',
    'XADD stream 1-1 f v',
    'XADD stream 1-2 f w',
    'XGROUP CREATE stream group 0',
    'XREADGROUP GROUP group consumer COUNT 1 STREAMS stream >',
    'XGROUP CREATE empty group $ MKSTREAM',
  ])
    lone.run(...command.split(' '))
  return lone
}

const KEYS = ['string', 'hash', 'list', 'set', 'zset', 'stream', 'empty']
const SHOWN: Readonly<Record<string, string>> = {
  string: 'GET string',
  hash: 'HGETALL hash',
  list: 'LRANGE list 0 -1',
  set: 'SMEMBERS set',
  zset: 'ZRANGE zset 0 -1 WITHSCORES',
  stream: 'XINFO STREAM stream FULL',
  empty: 'XINFO STREAM empty FULL',
}

function dumpOf(lone: LoneMachine, key: string): string {
  return Buffer.from(lone.run('DUMP', key) as Uint8Array).toString('latin1')
}

test('what DUMP gives of a key of any type, RESTORE makes of another key in another index', () => {
  const lone = filled()
  const other = new LoneMachine()
  for (const key of KEYS) {
    assert.equal(other.run('RESTORE', key, '0', dumpOf(lone, key)), 'OK', key)
    const command = SHOWN[key]!.split(' ')
    assert.equal(text(other.run(...command)), text(lone.run(...command)), key)
    assert.equal(other.run('PTTL', key), -1)
    assert.equal(dumpOf(other, key), dumpOf(lone, key))
  }
  assert.equal(other.machine.usedBytes, lone.machine.usedBytes)
  assert.equal(lone.run('DUMP', 'none'), null)
})

test('a key is restored with a time to live, in place of another one only if that is said', () => {
  const lone = filled()
  const dump = dumpOf(lone, 'hash')
  const restore = (...rest: string[]): string => text(lone.run('RESTORE', 'list', ...rest))
  assert.equal(restore('0', dump), '-BUSYKEY Target key name already exists.')
  assert.equal(restore('500', dump, 'REPLACE', 'IDLETIME', '5'), '+OK')
  assert.equal(lone.run('PTTL', 'list'), 500)
  assert.equal(text(lone.run('HGETALL', 'list')), '{"f1":"v1","f2":"v2"}')
  assert.equal(restore(String(lone.timeMs + 7), dump, 'ABSTTL', 'REPLACE', 'FREQ', '255'), '+OK')
  assert.equal(lone.run('PTTL', 'list'), 7)
  assert.deepEqual(lone.events.splice(0).at(-1), { db: 0, kind: 'g', event: 'restore', key: 'list' })
  assert.equal(restore(String(lone.timeMs), dump, 'ABSTTL', 'REPLACE'), '+OK', 'it would expire at once')
  assert.equal(lone.run('EXISTS', 'list'), 0)
  assert.deepEqual(
    lone.events.map(({ event }) => event),
    ['del'],
  )
})

test('a restored list serves a call that waits for it', () => {
  const lone = filled()
  lone.apply({ calls: [callOf(['BLPOP', 'new', '0'])], waiter: 1 })
  lone.run('RESTORE', 'new', '0', dumpOf(lone, 'list'))
  assert.deepEqual(
    lone.served.map(([waiter, reply]) => `${waiter} ${text(reply)}`),
    ['1 ["new","a"]'],
  )
})

test('a dump that was damaged anywhere is refused, and the key stays', () => {
  const lone = filled()
  const random = new Random(5)
  for (const key of KEYS) {
    const dump = Buffer.from(dumpOf(lone, key), 'latin1')
    for (let round = 0; round < 60; round += 1) {
      const damaged = Buffer.from(dump.subarray(0, round % 3 === 0 ? random.below(dump.length) : dump.length))
      if (damaged.length === dump.length) damaged[random.below(dump.length)]! ^= 1 + random.below(255)
      assert.equal(
        text(lone.run('RESTORE', 'string', '0', damaged.toString('latin1'), 'REPLACE')),
        '-ERR DUMP payload version or checksum are wrong',
      )
    }
  }
  assert.equal(text(lone.run('GET', 'string')), '"text"')
})

test('a dump with a sound checksum of what no key can hold is refused', () => {
  const lone = filled()
  const restore = (value: Uint8Array): string =>
    text(lone.run('RESTORE', 'string', '0', Buffer.from(value).toString('latin1'), 'REPLACE'))
  assert.equal(restore(packDump({ collection: new SetValue(), fields: [] })), '-ERR Bad data format')
  const twice = new SetValue()
  twice.add('x')
  const encode = twice.encode.bind(twice)
  for (const bytes of [
    [2, 1, 0x78, 1, 0x78],
    [1, 1, 0x78, 0],
    [9, 1, 0x78],
    [1, 0x81, 0, 0x78],
  ]) {
    twice.encode = (writer) => {
      for (const byte of bytes) writer.u8(byte)
    }
    assert.equal(restore(packDump({ collection: twice, fields: [] })), '-ERR Bad data format', bytes.join())
  }
  twice.encode = encode
  assert.equal(restore(packDump({ collection: twice, fields: [] })), '+OK')
})

test('options of RESTORE and of MEMORY USAGE are refused as redis-server refuses them', { skip: withoutRedis }, () =>
  withRedis(async (client) => {
    const lone = new LoneMachine()
    for (const command of [
      'RESTORE a x y',
      'RESTORE a -1 y',
      'RESTORE a 0 y',
      'RESTORE a 0 short',
      'RESTORE a 0 y REPLACE FOO',
      'RESTORE a 0 y FREQ',
      'RESTORE a 0 y FREQ 256',
      'RESTORE a 0 y FREQ -1',
      'RESTORE a 0 y FREQ x',
      'RESTORE a 0 y IDLETIME -1',
      'RESTORE a 0 y IDLETIME 1 FREQ 1',
      'RESTORE a 0 y FREQ 1 IDLETIME 1',
      'RESTORE a 0',
      'DUMP a',
      'DUMP',
      'MEMORY USAGE a',
      'MEMORY USAGE a SAMPLES',
      'MEMORY USAGE a SAMPLES -1',
      'MEMORY USAGE a SAMPLES x',
      'MEMORY USAGE a SAMPLES 5',
      'MEMORY USAGE a FOO 5',
      'MEMORY USAGE',
      'MEMORY FOO',
      'MEMORY HELP x',
      'OBJECT FREQ a',
      'OBJECT IDLETIME a',
    ]) {
      const [theirs] = await client.run([command.split(' ')])
      assert.equal(text(lone.run(...command.split(' '))), text(theirs!), command)
    }
  }),
)
