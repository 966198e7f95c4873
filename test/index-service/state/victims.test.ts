/** Which keys go first, by each rule, and what becomes of them. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { MarkMode, type MarkModeNumber } from '../../../src/index-service/memory/use-marks.ts'
import type { Watched } from '../../../src/index-service/state/shard-command.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import type { EvictionRule } from '../../../src/index-service/state/victims.ts'
import { callIn, callOf, LoneMachine } from '../support/differential.ts'
import { shown } from '../support/same-reply.ts'

const START_MS = 1_700_000_000_000

/** A machine over a table, whose clock the test sets. */
class Shard implements Disposable {
  readonly table = new RecordTable(5)
  readonly machine = new ShardMachine({ records: this.table })
  timeMs = START_MS
  #index = 0

  constructor(marks?: MarkModeNumber) {
    this.table.mark(marks, START_MS)
  }

  run(db: number, ...command: string[]): void {
    this.#index += 1
    const { timeMs } = this
    this.machine.apply({ calls: [callIn(db, command)] }, { index: this.#index, timeMs, term: 1 })
  }

  read(...command: string[]): unknown {
    return this.machine.read([callOf(command)], this.timeMs)[0]
  }

  victims(rule: EvictionRule, count: number): readonly Watched[] {
    return this.machine.victims(rule, this.table, { count, nowMs: this.timeMs })
  }

  evict(victims: readonly Watched[]): number {
    this.#index += 1
    const answer = this.machine.apply({ evict: victims }, { index: this.#index, timeMs: this.timeMs, term: 1 })
    return (answer as { readonly evicted: number }).evicted
  }

  [Symbol.dispose](): void {
    this.table.close()
  }
}

const nameOf = ({ key, db }: Watched): string => `${db}:${Buffer.from(key).toString()}`
const names = (victims: readonly Watched[]): Set<string> => new Set(victims.map(nameOf))

/** 300 keys of which those from `begin` on are used, by reads or by writes. */
function withUsed(marks: MarkModeNumber, begin: number): Shard {
  const shard = new Shard(marks)
  for (let key = 0; key < 300; key += 1) shard.run(key % 2, key % 3 === 0 ? 'RPUSH' : 'SET', `key ${key}`, 'value')
  shard.timeMs += 10_000
  for (let round = 0; round < 50; round += 1)
    for (let key = begin; key < 300; key += 1)
      if (key % 2 === 1) shard.run(1, 'APPEND', `key ${key}`, '')
      else shard.read(key % 3 === 0 ? 'LLEN' : 'GET', `key ${key}`)
  return shard
}

for (const [by, marks] of [
  ['recency', MarkMode.Recency],
  ['frequency', MarkMode.Frequency],
] as const)
  test(`by ${by}, what is in use stays`, () => {
    using shard = withUsed(marks, 150)
    const victims = shard.victims({ of: 'all', by, samples: 10 }, 20)
    assert.equal(victims.length, 20)
    const wrong = [...names(victims)].filter((name) => Number(name.split(' ')[1]) >= 150)
    // A few share a mark with another key, or all that were looked at are in use.
    assert.ok(wrong.length <= 2, wrong.join())
    assert.equal(shard.evict(victims), names(victims).size)
    assert.equal(shard.machine.size, 300 - names(victims).size)
    assert.equal(shard.evict(victims), 0, 'they are gone')
    assert.equal(shard.machine.evicted, names(victims).size)
  })

test('what only looks at a key is no use of it', () => {
  using shard = new Shard(MarkMode.Recency)
  shard.run(0, 'SET', 'key', 'value')
  shard.timeMs += 20_000
  for (const command of ['TYPE', 'TTL', 'PTTL', 'EXPIRETIME']) shard.read(command, 'key')
  shard.read('SCAN', '0')
  shard.read('KEYS', '*')
  shard.read('MEMORY', 'USAGE', 'key')
  shard.victims({ of: 'all', by: 'recency', samples: 5 }, 1)
  assert.deepEqual([...shard.machine.snapshot()].length, 1)
  assert.equal(shard.read('OBJECT', 'IDLETIME', 'key'), 20)
  assert.equal(shard.read('OBJECT', 'IDLETIME', 'key'), 20)
  shard.read('EXISTS', 'key')
  assert.equal(shard.read('OBJECT', 'IDLETIME', 'key'), 0)
})

test('of keys that expire, only these go; and by expiry, the first ones', () => {
  using shard = new Shard()
  for (let key = 0; key < 200; key += 1) shard.run(3, 'SET', `lasting ${key}`, 'value')
  assert.deepEqual(shard.victims({ of: 'volatile', by: 'random', samples: 5 }, 10), [])
  assert.deepEqual(shard.victims({ of: 'volatile', by: 'expiry', samples: 5 }, 10), [])
  for (let key = 0; key < 100; key += 1) shard.run(key % 4, 'SET', `key ${key}`, 'value', 'PX', `${1000 + key}`)
  const first = shard.victims({ of: 'volatile', by: 'expiry', samples: 5 }, 8).map(nameOf)
  assert.deepEqual(
    first,
    Array.from({ length: 8 }, (_, key) => `${key % 4}:key ${key}`),
  )
  const some = [...names(shard.victims({ of: 'volatile', by: 'random', samples: 5 }, 50))]
  assert.ok(some.length > 20 && some.every((name) => /^[0-3]:key/.test(name)), some.join())
  const any = names(shard.victims({ of: 'all', by: 'random', samples: 5 }, 50))
  assert.ok(any.size === 50 && [...any].some((name) => name.includes('lasting')))
})

test('keys are found among the fields of large hashes', () => {
  using shard = new Shard(MarkMode.Recency)
  const fields = Array.from({ length: 20_000 }, (_, field) => [`field ${field}`, 'value']).flat()
  shard.run(0, 'HSET', 'hash', ...fields)
  shard.run(0, 'SET', 'key', 'value')
  const found = new Set<string>()
  for (let tries = 0; tries < 100 && found.size < 2; tries += 1)
    for (const name of names(shard.victims({ of: 'all', by: 'random', samples: 5 }, 2))) found.add(name)
  assert.deepEqual([...found].sort(), ['0:hash', '0:key'])
})

test('a hash is found, however many of the records are its fields', () => {
  for (const by of ['recency', 'random'] as const) {
    using shard = new Shard(MarkMode.Recency)
    for (let begin = 0; begin < 200_000; begin += 20_000) {
      const fields = Array.from({ length: 20_000 }, (_, field) => [`field ${begin + field}`, 'value']).flat()
      shard.run(2, 'HSET', 'hash', ...fields)
    }
    for (let tries = 0; tries < 30; tries += 1)
      assert.deepEqual(shard.victims({ of: 'all', by, samples: 5 }, 1).map(nameOf), ['2:hash'])
    assert.equal(shard.evict(shard.victims({ of: 'all', by, samples: 5 }, 1)), 1)
    assert.deepEqual(shard.victims({ of: 'all', by, samples: 5 }, 1), [])
  }
})

test('keys that have expired make room, although no one has removed them yet', () => {
  for (const rule of [
    { of: 'volatile', by: 'expiry', samples: 5 },
    { of: 'volatile', by: 'random', samples: 5 },
    { of: 'all', by: 'recency', samples: 5 },
  ] as const) {
    using shard = new Shard(MarkMode.Recency)
    for (let key = 0; key < 100; key += 1) shard.run(key % 2, 'SET', `key ${key}`, 'value', 'PX', '1000')
    shard.timeMs += 5000
    const victims = shard.victims(rule, 20)
    assert.ok(victims.length > 0)
    assert.equal(shard.evict(victims), names(victims).size)
    assert.deepEqual([shard.machine.size, shard.machine.evicted], [100 - names(victims).size, 0])
  }
})

test('a key that has changed since, or expired, is not evicted; those who watch and listen are told of one that is', () => {
  const told: string[] = []
  const lone = new LoneMachine({ onChange: (key) => void told.push(Buffer.from(key ?? '').toString()) })
  for (const key of ['a', 'b', 'c', 'd']) lone.run('SET', key, '1')
  lone.run('PEXPIRE', 'd', '1000')
  const versionOf = (key: string): number => lone.machine.versionOf(Buffer.from(key), lone.timeMs)
  const evict = ['a', 'b', 'd', 'none'].map((key) => ({ key: Buffer.from(key), version: versionOf(key) }))
  lone.run('SET', 'b', '2')
  lone.timeMs += 5000
  lone.events.length = 0
  told.length = 0
  assert.deepEqual([lone.apply({ evict }), lone.machine.evicted], [{ evicted: 2 }, 1])
  assert.deepEqual(told, ['a', 'd'])
  assert.deepEqual(
    lone.events.map(({ kind, event, key }) => `${kind} ${event} ${key}`),
    ['e evicted a', 'x expired d'],
  )
  assert.deepEqual([lone.run('GET', 'a'), lone.run('EXISTS', 'b', 'c', 'd')], [null, 2])
})

test('one who waits for the group of a stream is told at once that the stream is gone', () => {
  const lone = new LoneMachine()
  lone.run('XGROUP', 'CREATE', 'stream', 'group', '$', 'MKSTREAM')
  const call = callOf(['XREADGROUP', 'GROUP', 'group', 'c', 'BLOCK', '0', 'STREAMS', 'stream', '>'])
  assert.deepEqual(lone.apply({ calls: [call], waiter: 5 }), { waiting: true })
  const key = Buffer.from('stream')
  assert.deepEqual(lone.apply({ evict: [{ key, version: lone.machine.versionOf(key, lone.timeMs) }] }), { evicted: 1 })
  assert.deepEqual(
    lone.served.map(([waiter, reply]) => [waiter, shown(reply, false)]),
    [[5, '-UNBLOCKED the stream key no longer exists']],
  )
})
