import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { TableReader } from '../../../src/index-service/memory/table-reader.ts'
import { RecordKeys, stringOf } from '../../../src/index-service/state/record-format.ts'
import { shardCodec } from '../../../src/index-service/state/shard-codec.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { callIn, callOf, LoneMachine } from '../support/differential.ts'
import { shown } from '../support/same-reply.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const text = (reply: Reply): string => shown(reply, false)

test('a call is about its database alone: strings, fields of hashes, lists, keys, sizes', () => {
  const lone = new LoneMachine()
  for (const db of [0, 1, 15]) {
    lone.runIn(db, 'SET', 'a', `in ${db}`)
    lone.runIn(db, 'HSET', 'h', 'f', `field in ${db}`)
    lone.runIn(db, 'RPUSH', `list${db}`, 'x')
  }
  for (const each of [lone, lone.restored()]) {
    for (const db of [0, 1, 15]) {
      assert.equal(text(each.runIn(db, 'GET', 'a')), `"in ${db}"`)
      assert.equal(text(each.runIn(db, 'HGET', 'h', 'f')), `"field in ${db}"`)
      assert.equal(text(each.runIn(db, 'KEYS', '*')), `["a","h","list${db}"]`)
      assert.equal(text(each.runIn(db, 'SCAN', '0', 'COUNT', '99')), `["0",["a","h","list${db}"]]`)
      assert.equal(each.runIn(db, 'DBSIZE'), 3)
    }
    assert.equal(each.runIn(2, 'DBSIZE'), 0)
    assert.equal(each.runIn(2, 'RANDOMKEY'), null)
    assert.equal(each.machine.size, 9)
    assert.equal(text(each.runIn(16, 'GET', 'a')), '-ERR DB index is out of range')
  }
  lone.runIn(1, 'FLUSHDB')
  assert.deepEqual(
    [0, 1, 15].map((db) => lone.runIn(db, 'DBSIZE')),
    [3, 0, 3],
  )
  assert.equal(lone.runIn(1, 'HGET', 'h', 'f'), null)
  lone.runIn(1, 'FLUSHALL')
  assert.equal(lone.machine.size, 0)
  assert.equal(lone.machine.usedBytes, 0)
})

test('keys of all databases expire', () => {
  const lone = new LoneMachine()
  for (const db of [3, 0, 9]) lone.runIn(db, 'SET', 'a', '1', 'PX', String(10 + db))
  assert.equal(lone.machine.nextExpiryMs, lone.timeMs + 10)
  lone.timeMs += 14
  assert.deepEqual(lone.apply({ expire: true }), { expired: 2, nextMs: lone.timeMs + 5 })
  assert.deepEqual(
    [3, 0, 9].map((db) => lone.runIn(db, 'EXISTS', 'a')),
    [0, 0, 1],
  )
})

test('a call waits for a key of its database, also after a restart', () => {
  const lone = new LoneMachine()
  lone.apply({ calls: [callIn(1, ['BLPOP', 'a', '0'])], waiter: 1 })
  lone.apply({ calls: [callIn(2, ['BLPOP', 'a', '0'])], waiter: 2 })
  const other = lone.restored()
  for (const each of [lone, other]) {
    each.runIn(0, 'RPUSH', 'a', 'x')
    assert.equal(each.machine.waiting, 2)
    each.runIn(2, 'RPUSH', 'a', 'y')
    assert.deepEqual(
      each.served.map(([waiter, reply]) => `${waiter} ${text(reply)}`),
      ['2 ["a","y"]'],
    )
  }
})

test('databases that are swapped have what the other one had, and serve those who wait', () => {
  const lone = new LoneMachine()
  lone.runIn(0, 'SET', 'a', 'zero')
  lone.runIn(4, 'HSET', 'h', 'f', 'four')
  lone.runIn(4, 'RPUSH', 'l', 'x')
  lone.runIn(4, 'SET', 'gone', '1', 'PX', '10')
  lone.apply({ calls: [callOf(['BLPOP', 'l', '0'])], waiter: 1 })
  assert.equal(lone.run('SWAPDB', '0', '4'), 'OK')
  assert.deepEqual(
    lone.served.map(([waiter, reply]) => `${waiter} ${text(reply)}`),
    ['1 ["l","x"]'],
  )
  for (const each of [lone, lone.restored()]) {
    assert.equal(text(each.runIn(4, 'GET', 'a')), '"zero"')
    assert.equal(each.run('GET', 'a'), null)
    assert.equal(text(each.run('HGETALL', 'h')), '{"f":"four"}')
    each.timeMs += 10
    assert.deepEqual(each.apply({ expire: true }), { expired: 1, nextMs: Infinity })
    each.run('SWAPDB', '4', '7')
    assert.equal(text(each.runIn(7, 'GET', 'a')), '"zero"')
    each.runIn(7, 'FLUSHDB')
    assert.equal(text(each.run('KEYS', '*')), '["h"]')
  }
})

test('a reader of a group is told that its stream is gone if the other database has none', () => {
  const lone = new LoneMachine()
  lone.run('XGROUP', 'CREATE', 'x', 'g', '$', 'MKSTREAM')
  const command = ['XREADGROUP', 'GROUP', 'g', 'c', 'BLOCK', '0', 'STREAMS', 'x', '>']
  lone.apply({ calls: [callOf(command)], waiter: 1 })
  lone.run('SWAPDB', '1', '0')
  assert.match(text(lone.served[0]![1]), /^-UNBLOCKED the stream key no longer exists/)
})

test('a watched key has changed if its database was swapped, unless it is in neither', () => {
  const lone = new LoneMachine()
  const calls = [callOf(['SET', 'a', '1']), callIn(1, ['SET', 'a', '2'])]
  lone.apply({ calls })
  const version = lone.machine.versionOf(bytes('a'), lone.timeMs, 1)
  assert.equal(version, lone.machine.versionOf(bytes('a'), lone.timeMs))
  lone.run('SWAPDB', '0', '1')
  for (const each of [lone, lone.restored()])
    for (const db of [0, 1]) {
      const attempt = (key: string, known: number): unknown =>
        each.apply({ calls: [callOf(['PING'])], watched: [{ key: bytes(key), version: known, db }] })
      assert.equal(attempt('a', version), null)
      assert.deepEqual(attempt('b', 0), ['PONG'])
    }
})

test('readers from outside find a key in the database that has it, also after a swap', () => {
  const table = new RecordTable()
  const machine = new ShardMachine({ records: table })
  const reader = TableReader.open(process.pid, table.descriptor)!
  const keys = new RecordKeys()
  const read = (db: number): string | undefined => {
    const found = reader.get(keys.ofKey(bytes('a'), reader.spaceOf(db)))
    return found instanceof Uint8Array ? Buffer.from(stringOf(found)).toString() : found
  }
  const apply = (index: number, db: number, ...command: string[]): unknown =>
    machine.apply({ calls: [callIn(db, command)] }, { index, timeMs: 1, term: 1 })
  apply(1, 0, 'SET', 'a', 'zero')
  apply(2, 2, 'SET', 'a', 'two')
  assert.deepEqual([read(0), read(1), read(2)], ['zero', undefined, 'two'])
  const { swaps } = reader
  apply(3, 0, 'SWAPDB', '2', '1')
  apply(4, 0, 'SWAPDB', '0', '1')
  assert.deepEqual([read(0), read(1), read(2)], ['two', 'zero', undefined])
  assert.equal(reader.swaps, swaps + 4)
  assert.deepEqual(
    [0, 1, 2].map((db) => table.spaceOf(db)),
    [0, 1, 2].map((db) => reader.spaceOf(db)),
  )
  reader.close()
  table.close()
})

test('readers from outside see calls that go together as one change, and those that are apart one by one', () => {
  const table = new RecordTable()
  const keys = new RecordKeys()
  const reader = TableReader.open(process.pid, table.descriptor)!
  const read = (): string | undefined => {
    const found = reader.get(keys.ofKey(bytes('a'), 0))
    return found instanceof Uint8Array ? Buffer.from(stringOf(found)).toString() : found
  }
  let seen: (string | undefined)[] = []
  const machine = new ShardMachine({
    records: table,
    listeners: { onEvent: undefined, onChange: () => seen.push(read()) },
  })
  const apply = (apart: boolean, ...commands: string[][]): (string | undefined)[] => {
    seen = []
    machine.apply({ calls: commands.map((command) => callOf(command)), apart }, { index: 1, timeMs: 1, term: 1 })
    return [...seen, read()]
  }
  assert.deepEqual(apply(true, ['SET', 'a', '1'], ['SET', 'a', '2']), ['1', '2', '2'])
  assert.deepEqual(apply(false, ['SET', 'a', '3'], ['SET', 'a', '4']), ['unknown', 'unknown', '4'])
  assert.deepEqual(apply(false, ['SET', 'b', '5']), ['4', '4'])
  assert.deepEqual(apply(false, ['RENAME', 'b', 'a']).at(-1), '5')
  assert.deepEqual([...new Set(seen)], ['unknown'])
  // As nodes have them: packed, and with others beside them.
  const applyPacked = (apart: boolean, ...commands: string[][]): (string | undefined)[] => {
    seen = []
    const calls = commands.map((command) => callOf(command))
    machine.apply(shardCodec.decode(shardCodec.encode({ calls, apart })), { index: 1, timeMs: 1, term: 1 })
    return [...seen, read()]
  }
  assert.deepEqual(applyPacked(true, ['SET', 'a', '6'], ['SET', 'a', '7']), ['6', '7', '7'])
  assert.deepEqual(applyPacked(false, ['SET', 'a', '8'], ['SET', 'a', '9']), ['unknown', 'unknown', '9'])
  applyPacked(true, ['SET', 'b', '10'])
  for (const isPacked of [true, false])
    for (const others of [[], [['SET', 'c', '11']]]) {
      const moved = [['RENAME', 'b', 'a'], ...others, ['COPY', 'a', 'b']]
      assert.equal((isPacked ? applyPacked : apply)(true, ...moved).at(-1), '10')
      assert.ok(!seen.includes(undefined))
    }
  assert.equal(applyPacked(false, ['RENAME', 'b', 'a']).at(-1), '10')
  assert.deepEqual([...new Set(seen)], ['unknown'])
  reader.close()
  table.close()
})
