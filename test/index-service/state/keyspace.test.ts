import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { encodeTuple } from '../../../src/index-service/keys/tuple-key.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { MapRecords } from '../../support/map-records.ts'
import { callOf, LoneMachine } from '../support/differential.ts'
import { DATABASES, Picker } from '../support/program-parts.ts'
import { drawCommand } from '../support/programs.ts'
import { shown } from '../support/same-reply.ts'

const text = (reply: Reply): string => shown(reply, false)
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** A machine after a random program. */
function afterProgram(seed: number, commands: number): LoneMachine {
  const lone = new LoneMachine()
  const pick = new Picker(seed)
  for (let done = 0; done < commands; done += 1) lone.run(...drawCommand(pick))
  return lone
}

test('a restored machine answers every later command as the original does, those that choose at random, too', () => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const lone = afterProgram(seed, 1_500)
    const other = lone.restored()
    const pick = new Picker(seed + 100)
    for (let done = 0; done < 1_500; done += 1) {
      const command = drawCommand(pick)
      assert.equal(text(other.run(...command)), text(lone.run(...command)), `seed ${seed}: ${JSON.stringify(command)}`)
      assert.equal(other.machine.usedBytes, lone.machine.usedBytes, `seed ${seed}: ${JSON.stringify(command)}`)
    }
    assert.deepEqual(Buffer.concat(other.restored().snapshot()), Buffer.concat(lone.restored().snapshot()))
  }
})

/** Records in another order, as another process may have them. */
class ReversedRecords extends MapRecords {
  override scan(cursor: number, count: number): ReturnType<MapRecords['scan']> {
    const { keys } = super.scan(0, Infinity)
    const reversed = [...keys].reverse()
    const end = cursor + count
    return { cursor: end < reversed.length ? end : 0, keys: reversed.slice(cursor, end) }
  }
}

test('answers in the log do not depend on the order of records', () => {
  const machines = [new MapRecords(), new ReversedRecords()].map((records) => new ShardMachine({ records }))
  const pick = new Picker(3)
  for (let index = 1; index <= 4_000; index += 1) {
    const calls = [callOf(drawCommand(pick)), callOf(pick.of([['RANDOMKEY'], ['SCAN', '0'], ['KEYS', '*']]))]
    const [one, other] = machines.map((machine) => machine.apply({ calls }, { index, timeMs: index, term: 1 }))
    assert.equal(text(other as Reply), text(one as Reply))
  }
})

test('snapshots come in chunks of 64 KiB at most, also for long values', () => {
  const lone = new LoneMachine()
  lone.run('SET', 'long', 'x'.repeat(200_000))
  for (let number = 0; number < 3_000; number += 1) lone.run('RPUSH', 'list', `${number}`.repeat(20))
  lone.run('HSET', 'hash', 'field', 'y'.repeat(70_000))
  const chunks = lone.snapshot()
  assert.ok(chunks.length > 5 && chunks.every(({ length }) => length <= 65_536))
  const other = lone.restored()
  for (const command of [
    ['GET', 'long'],
    ['LRANGE', 'list', '0', '-1'],
    ['HGETALL', 'hash'],
  ])
    assert.equal(text(other.run(...command)), text(lone.run(...command)))
})

test('a snapshot that is cut off anywhere, or of another format, is refused', () => {
  const lone = afterProgram(5, 300)
  const whole = Buffer.concat(lone.snapshot())
  for (let end = 0; end < whole.length; end += 7)
    assert.throws(() => new LoneMachine().machine.restore([whole.subarray(0, end)]), RangeError)
  assert.throws(() => new LoneMachine().machine.restore([Uint8Array.of(99)]), {
    code: 'ERR_AETHER_CONSENSUS_SNAPSHOT_VERSION',
    message: /has version 99,/,
  })
})

test('memory that was used is given back when everything is deleted', () => {
  const lone = afterProgram(6, 3_000)
  assert.ok(lone.machine.usedBytes > 0)
  for (let db = 0; db < DATABASES; db += 1)
    for (const key of lone.runIn(db, 'KEYS', '*') as Uint8Array[]) lone.runIn(db, 'DEL', latin1(key))
  assert.equal(lone.machine.usedBytes, 0)
  assert.equal(lone.machine.size, 0)
})

test('SCAN, HSCAN, SSCAN and ZSCAN visit all that stays while other members come and go', () => {
  const lone = new LoneMachine()
  const kept = Array.from({ length: 100 }, (_, number) => `kept${number}`)
  for (const name of kept) {
    lone.run('SADD', 's', name)
    lone.run('HSET', 'h', name, 'v')
    lone.run('ZADD', 'z', '1', name)
  }
  for (const [command, key, add, remove] of [
    ['SSCAN', 's', ['SADD', 's'], ['SREM', 's']],
    ['HSCAN', 'h', ['HSET', 'h'], ['HDEL', 'h']],
    ['ZSCAN', 'z', ['ZADD', 'z', '5'], ['ZREM', 'z']],
  ] as const) {
    for (let number = 0; number < 100; number += 1)
      lone.run(...add, `old${number}`, ...(command === 'HSCAN' ? ['v'] : []))
    const found = new Set<string>()
    let cursor = '0'
    for (let round = 0; cursor !== '0' || round === 0; round += 1) {
      const [next, members] = lone.run(command, key, cursor, 'COUNT', '7') as [Uint8Array, Uint8Array[]]
      for (const member of members) found.add(latin1(member))
      cursor = latin1(next)
      for (let number = round * 5; number < round * 5 + 5; number += 1) lone.run(...remove, `old${number}`)
      lone.run(...add, `new${round}`, ...(command === 'HSCAN' ? ['v'] : []))
    }
    assert.deepEqual(
      kept.filter((name) => !found.has(name)),
      [],
      command,
    )
  }
})

test('RANGE gives structured keys in their order, forward and backward, and no others', () => {
  const lone = new LoneMachine()
  const keyOf = (...parts: (string | number)[]): string => `\0${latin1(encodeTuple(parts))}`
  for (const number of [30, -5, 2, 1000]) lone.run('SET', keyOf('user', number), `v${number}`)
  lone.run('SET', keyOf('users', 1), 'other')
  lone.run('RPUSH', keyOf('user', 7), 'a list')
  lone.run('SET', 'plain', 'x')
  const [from, to] = [keyOf('user', -100), keyOf('user', 2000)]
  const values = (...options: string[]): string =>
    (lone.run('RANGE', from, to, ...options) as Uint8Array[])
      .filter((_, at) => at % 2 === 1)
      .map(latin1)
      .join()
  assert.equal(values(), 'v-5,v2,v30,v1000')
  assert.equal(values('REV'), 'v1000,v30,v2,v-5')
  assert.equal(values('REV', 'LIMIT', '2'), 'v1000,v30')
  assert.equal(values('LIMIT', '0'), '')
  const keys = lone.run('RANGE', keyOf('user', 2), keyOf('user', 1000), 'KEYS') as Uint8Array[]
  assert.deepEqual(keys.map(latin1), [keyOf('user', 2), keyOf('user', 7), keyOf('user', 30)])
  lone.run('DEL', keyOf('user', 30))
  lone.run('RENAME', keyOf('user', 2), keyOf('user', 3))
  lone.run('PEXPIRE', keyOf('user', -5), '10')
  lone.timeMs += 10
  const other = lone.restored()
  for (const each of [lone, other]) assert.equal((each.run('RANGE', from, to) as Reply[]).length, 4)
  lone.run('FLUSHALL')
  assert.deepEqual(lone.run('RANGE', from, to), [])
  assert.equal(text(lone.run('RANGE', from, to, 'FOO')), '-ERR syntax error')
})

test('members chosen at random are members, each once for a positive count, and others another time', () => {
  const lone = new LoneMachine()
  const members = Array.from({ length: 50 }, (_, number) => `m${number}`)
  lone.run('SADD', 's', ...members)
  const draw = (count: string): string[] => (lone.run('SRANDMEMBER', 's', count) as Uint8Array[]).map(latin1)
  const first = draw('10')
  assert.equal(new Set(first).size, 10)
  assert.ok(first.every((member) => members.includes(member)))
  assert.notDeepEqual(draw('10'), first)
  assert.deepEqual(draw('60').sort(), [...members].sort())
  assert.equal(draw('-200').length, 200)
  const counts = new Map<string, number>()
  for (const member of draw('-5000')) counts.set(member, (counts.get(member) ?? 0) + 1)
  assert.ok(
    [...counts.values()].every((count) => count > 50 && count < 170),
    'about 100 each',
  )
  const popped = (lone.run('SPOP', 's', '50') as ReadonlySet<Uint8Array>).size
  assert.equal(popped, 50)
  assert.equal(lone.run('EXISTS', 's'), 0)
  assert.equal(text(lone.run('SRANDMEMBER', 's', '-99999999999')), '[]')
  lone.run('SADD', 's', 'x')
  assert.equal(text(lone.run('SRANDMEMBER', 's', '-99999999999')), '-ERR value is out of range')
})
