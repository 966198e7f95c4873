/** A snapshot that is taken in steps is the state after one command, whatever is done between the steps. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { shardCodec } from '../../../src/index-service/state/shard-codec.ts'
import type { Call, ShardCommand } from '../../../src/index-service/state/shard-command.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import type { CutStep } from '../../../src/index-service/state/snapshot-cut.ts'
import { SnapshotWriter } from '../../../src/index-service/state/snapshot-stream.ts'
import { drawnSeeds } from '../../support/drawn.ts'
import { callIn } from '../support/differential.ts'
import { Picker } from '../support/program-parts.ts'
import { type Command, drawCommand, drawDatabase } from '../support/programs.ts'
import { stateOf } from '../support/shard-state.ts'

const TIME_MS = 1_700_000_000_000
const ELEMENTS = 300
const STRINGS = 2000
/** So that much can be done in between. */
const SMALLEST: CutStep = { bytes: 1, count: 1, buckets: 1 }

class Shard implements Disposable {
  readonly table = new RecordTable()
  readonly machine = new ShardMachine({ records: this.table })
  timeMs = TIME_MS
  index = 0

  apply(command: ShardCommand): unknown {
    this.index += 1
    return this.machine.apply(command, { index: this.index, timeMs: this.timeMs, term: 1 })
  }

  run(db: number, ...command: Command): unknown {
    return this.apply({ calls: [callIn(db, command)] })
  }

  /** As they come out of the log: packed. */
  runPacked(calls: readonly Call[]): unknown {
    return this.apply(shardCodec.decode(shardCodec.encode({ calls, apart: true })))
  }

  get state(): readonly unknown[] {
    const { machine } = this
    const [, ...keys] = stateOf(machine, this.timeMs)
    // One that was used, and is empty, is as one that was not.
    const databases = machine.databases.filter((each) => each.keys > 0)
    return [databases, [...machine.waiters], [...machine.served], ...keys]
  }

  /** Another one, in the state of a snapshot. */
  static from(chunks: Iterable<Uint8Array>, timeMs: number): Shard {
    const shard = new Shard()
    shard.machine.restore([...chunks].map((chunk) => Uint8Array.from(chunk)))
    shard.timeMs = timeMs
    return shard
  }

  [Symbol.dispose](): void {
    this.table.close()
  }
}

/** Key by key: what differs between thousands takes too long to show. */
function assertSame(actual: readonly unknown[], wanted: readonly unknown[], message?: string): void {
  for (const [at, part] of wanted.entries())
    if (!isDeepStrictEqual(actual[at], part)) assert.deepEqual(actual[at], part, message)
  assert.equal(actual.length, wanted.length, message)
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, number) => `${number}`)

/** Strings of all kinds, and a long collection of each type. */
function fill(shard: Shard, pick: Picker): void {
  for (const number of numbers(STRINGS)) {
    const key = pick.once(20) ? `\0\x01${number}` : `key:${number}`
    const ttl = pick.once(5) ? ['PX', `${1 + pick.below(2000)}`] : []
    shard.run(drawDatabase(pick), 'SET', key, 'v'.repeat(pick.once(50) ? 70_000 : pick.below(60)), ...ttl)
  }
  const names = numbers(ELEMENTS)
  shard.run(0, 'RPUSH', 'long:list', ...names)
  shard.run(0, 'SADD', 'long:set', ...names)
  shard.run(0, 'ZADD', 'long:sorted', ...names.flatMap((name) => [name, `m${name}`]))
  shard.run(0, 'HSET', 'long:hash', ...names.flatMap((name) => [name, `v${name}`]))
  for (const name of names) shard.run(0, 'XADD', 'long:stream', `${Number(name) + 1}-1`, 'f', name)
  shard.run(0, 'XGROUP', 'CREATE', 'long:stream', 'group', '0')
  shard.run(0, 'XREADGROUP', 'GROUP', 'group', 'ada', 'COUNT', '30', 'STREAMS', 'long:stream', '>')
  for (let count = 0; count < 300; count += 1) shard.run(drawDatabase(pick), ...drawCommand(pick))
  shard.apply({ calls: [callIn(0, ['BLPOP', 'nothing', '0'])], waiter: 77 })
}

/** What changes long collections, and strings. */
function drawChange(pick: Picker): Command {
  const name = (): string => `${pick.below(ELEMENTS + 40)}`
  const key = `key:${pick.below(STRINGS)}`
  const list = 'long:list'
  switch (pick.below(34)) {
    case 0:
      return ['RPUSH', list, 'new']
    case 1:
      return ['LPUSH', list, 'new', 'newer']
    case 2:
      return ['LPOP', list, '3']
    case 3:
      return ['RPOP', list]
    case 4:
      return ['LSET', list, name(), 'other']
    case 5:
      return ['LREM', list, '1', name()]
    case 6:
      return ['LINSERT', list, 'BEFORE', name(), 'between']
    case 7:
      return pick.once(4) ? ['RPUSH', list, ...numbers(600)] : ['LTRIM', list, '1', '-2']
    case 8:
      return ['SADD', 'long:set', `new${name()}`]
    case 9:
      return ['SREM', 'long:set', name(), name()]
    case 10:
      return ['SPOP', 'long:set', '2']
    case 11:
      return ['ZADD', 'long:sorted', name(), `m${name()}`]
    case 12:
      return ['ZREM', 'long:sorted', `m${name()}`]
    case 13:
      return ['ZINCRBY', 'long:sorted', '-7', `m${name()}`]
    case 14:
      return ['ZPOPMIN', 'long:sorted', '2']
    case 15:
      return ['HSET', 'long:hash', name(), `new${name()}`]
    case 16:
      return ['HDEL', 'long:hash', name(), name()]
    case 17:
      return ['XADD', 'long:stream', '*', 'f', 'new']
    case 18:
      return ['XDEL', 'long:stream', `${name()}-1`]
    case 19:
      return ['XTRIM', 'long:stream', 'MAXLEN', `${pick.below(ELEMENTS)}`]
    case 20:
      return ['XACK', 'long:stream', 'group', `${name()}-1`]
    case 21:
      return ['XREADGROUP', 'GROUP', 'group', 'eve', 'COUNT', '1', 'STREAMS', 'long:stream', '>']
    case 22:
      return pick.once(8)
        ? ['DEL', pick.of([list, 'long:set', 'long:sorted', 'long:hash', 'long:stream'])]
        : ['GET', key]
    case 23:
      return ['PEXPIRE', pick.of([list, 'long:hash', key]), `${1000 + pick.below(100_000)}`]
    case 24:
      return ['PERSIST', key]
    case 25:
      return ['DEL', key, `key:${pick.below(STRINGS)}`]
    case 26:
      return ['RENAME', key, pick.of([`key:${pick.below(STRINGS)}`, 'long:set'])]
    case 27:
      return ['COPY', pick.of([list, 'long:hash', key]), `copy${name()}`]
    case 28:
      return ['APPEND', key, 'more']
    case 29:
      return ['MSET', key, 'one', `key:${pick.below(STRINGS)}`, 'other', `fresh${name()}`, 'third']
    case 30:
      return pick.once(15) ? ['FLUSHDB'] : ['LLEN', list]
    case 31:
      return ['MOVE', key, `${pick.below(3)}`]
    case 32:
      return ['SORT', 'long:set', 'ALPHA', 'STORE', 'sorted']
    default:
      return ['SET', key, 'v'.repeat(pick.below(100)), ...(pick.once(2) ? ['PX', '500'] : [])]
  }
}

/** One command to each of several shards. */
function change(shards: readonly Shard[], pick: Picker): void {
  const kind = pick.below(20)
  const db = drawDatabase(pick)
  const drawn = pick.once(3) ? drawCommand(pick) : drawChange(pick)
  // What would leave nothing to write is tried by itself.
  const command = drawn[0]!.toUpperCase() === 'FLUSHALL' ? ['PING'] : drawn
  const count = 1 + pick.below(6)
  const calls = Array.from({ length: count }, () => callIn(0, ['SET', `key:${pick.below(STRINGS)}`, 'packed']))
  const victim = Buffer.from(`key:${pick.below(STRINGS)}`)
  const laterMs = pick.below(30)
  for (const shard of shards) {
    shard.timeMs += laterMs
    if (kind === 0) shard.runPacked(calls)
    else if (kind === 1) shard.apply({ expire: true })
    else if (kind === 2)
      shard.apply({ evict: [{ key: victim, version: shard.machine.versionOf(victim, shard.timeMs), db: 0 }] })
    else if (kind === 3) shard.apply({ calls: [callIn(db, command), callIn(0, ['GET', 'key:1'])] })
    else shard.run(db, ...command)
  }
}

for (const seed of drawnSeeds(60, 12))
  test(`it is the state of its command, and changes nothing (seed ${seed})`, () => {
    const pick = new Picker(seed)
    using shard = new Shard()
    fill(shard, pick)
    using twin = Shard.from([...shard.machine.snapshot()], shard.timeMs)
    twin.index = shard.index
    const { timeMs } = shard
    const wanted = shard.state
    const step = pick.once(3) ? { bytes: 1, count: 8, buckets: 4 } : SMALLEST
    const parts = shard.machine.stateParts(step)
    const chunks: Uint8Array[] = []
    let steps = 0
    const perStep = pick.below(5)
    for (let given = parts.next(); given !== undefined; given = parts.next()) {
      chunks.push(...given)
      for (let left = steps % 3 === 0 ? perStep : 0; left > 0 && !parts.isGivenUp; left -= 1)
        change([shard, twin], pick)
      if (parts.isGivenUp) break
      steps += 1
    }
    assertSame(shard.state, twin.state, 'it was of no consequence')
    if (parts.isGivenUp) return
    assert.ok(steps > 20, `${steps} steps`)
    using restored = Shard.from(chunks, timeMs)
    assertSame(restored.state, wanted)
  })

/** What a shard of that size writes one by one and together, in the step that writes most. */
function mostInAStep(strings: number, elements: number): { readonly records: number; readonly steps: number } {
  using shard = new Shard()
  const { table } = shard
  const value = 'v'.repeat(20)
  for (let number = 0; number < strings; number += 1)
    shard.run(0, 'SET', `key:${number}`, value, ...(number % 5 === 0 ? ['PX', '100000'] : []))
  for (const [name, command] of [
    ['list', 'RPUSH'],
    ['set', 'SADD'],
    ['hash', 'HSET'],
  ] as const)
    for (let from = 0; from < elements; from += 1000) {
      const members = numbers(1000).map((number) => `${from + Number(number)}`)
      shard.run(0, command, name, ...(command === 'HSET' ? members.flatMap((member) => [member, value]) : members))
    }
  let records = 0
  const { packStrings, scan } = table
  table.packStrings = (...args) => {
    const packed = packStrings.apply(table, args)
    records += packed.count
    return packed
  }
  table.scan = (...args) => {
    const scanned = scan.apply(table, args)
    records += scanned.keys.length
    return scanned
  }
  using _elements = counted(SnapshotWriter.prototype, 'text', () => {
    records += 1
  })
  const parts = shard.machine.stateParts()
  let [most, steps] = [0, 0]
  for (let more = true; more; steps += 1) {
    records = 0
    more = parts.next() !== undefined
    most = Math.max(most, records)
    records = 0
    // What is in the way of a change is copied before it. Each long one is changed once before it is written.
    if (steps === 1) for (const [name, command] of CHANGES) shard.run(0, command, name, '0')
    shard.run(0, 'SET', `key:${(steps * 997) % strings}`, 'other')
    most = Math.max(most, records)
  }
  return { records: most, steps }
}

const CHANGES = [
  ['list', 'LPOP'],
  ['set', 'SREM'],
  ['hash', 'HDEL'],
] as const

/** `told` at each call of a method, until the end. */
function counted<T, Name extends keyof T>(of: T, name: Name, told: () => void): Disposable {
  const method = of[name] as (...args: unknown[]) => unknown
  of[name] = function counting(this: T, ...args: unknown[]) {
    told()
    return method.apply(this, args)
  } as T[Name]
  return {
    [Symbol.dispose]() {
      of[name] = method as T[Name]
    },
  }
}

test('no step, and no command beside it, writes more of a large shard than of a small one', () => {
  const small = mostInAStep(10_000, 5_000)
  const large = mostInAStep(80_000, 40_000)
  assert.ok(large.steps > 6 * small.steps, `${small.steps} and ${large.steps} steps`)
  for (const { records } of [small, large]) assert.ok(records <= 8192, `${records} records in a step`)
})

test('a table that has become empty is walked a few buckets at a time', () => {
  using shard = new Shard()
  for (let number = 0; number < 100_000; number += 1) shard.run(number % 2, 'SET', `key:${number}`, 'v')
  shard.run(0, 'FLUSHALL')
  shard.run(0, 'SET', 'left', 'v')
  let buckets = 0
  const { table } = shard
  const { packStrings } = table
  table.packStrings = (cursor, target, options) => {
    buckets += options.bucketsMax
    return packStrings.call(table, cursor, target, options)
  }
  const parts = shard.machine.stateParts()
  let [most, steps] = [0, 0]
  const chunks: Uint8Array[] = []
  for (let given = parts.next(); given !== undefined; given = parts.next()) {
    chunks.push(...given)
    most = Math.max(most, buckets)
    buckets = 0
    steps += 1
  }
  assert.ok(steps > 2 && most <= 8192, `${most} buckets in one of ${steps} steps`)
  using restored = Shard.from(chunks, TIME_MS)
  assertSame(restored.state, shard.state)
})

test('it is given up when all keys are removed, or replaced by those of another snapshot', () => {
  for (const act of [
    (shard: Shard) => shard.run(0, 'FLUSHALL'),
    (shard: Shard) => shard.machine.restore([...shard.machine.snapshot()]),
  ]) {
    using shard = new Shard()
    fill(shard, new Picker(1))
    const parts = shard.machine.stateParts(SMALLEST)
    for (let step = 0; step < 20; step += 1) parts.next()
    assert.equal(parts.isGivenUp, false)
    act(shard)
    assert.equal(parts.isGivenUp, true)
    // The next one is as any.
    const again = shard.machine.stateParts()
    const chunks: Uint8Array[] = []
    for (let given = again.next(); given !== undefined; given = again.next()) chunks.push(...given)
    using restored = Shard.from(chunks, shard.timeMs)
    assertSame(restored.state, shard.state)
  }
})

test('one that is wanted no more, or follows on another, costs changes nothing', () => {
  using shard = new Shard()
  fill(shard, new Picker(2))
  const first = shard.machine.stateParts(SMALLEST)
  first.next()
  shard.run(0, 'LPOP', 'long:list')
  const second = shard.machine.stateParts(SMALLEST)
  shard.run(0, 'LPOP', 'long:list')
  second.end()
  assert.equal(shard.table.unpacked, undefined)
  using _elements = counted(SnapshotWriter.prototype, 'text', () => assert.fail('nothing is to be written'))
  for (const command of [
    ['LPOP', 'long:list'],
    ['SPOP', 'long:set'],
    ['DEL', 'long:hash'],
    ['DEL', 'key:1'],
  ])
    shard.run(0, ...(command as [string, string]))
})

test('a snapshot at once beside one in steps disturbs neither', () => {
  using shard = new Shard()
  fill(shard, new Picker(3))
  const wanted = shard.state
  const parts = shard.machine.stateParts(SMALLEST)
  const chunks: Uint8Array[] = []
  let steps = 0
  for (let given = parts.next(); given !== undefined; given = parts.next(), steps += 1) {
    chunks.push(...given)
    if (steps % 500 !== 0) continue
    shard.run(0, 'LPOP', 'long:list')
    shard.run(0, 'HDEL', 'long:hash', `${steps % ELEMENTS}`)
    using now = Shard.from([...shard.machine.snapshot()], shard.timeMs)
    assertSame(now.state, shard.state)
  }
  using restored = Shard.from(chunks, TIME_MS)
  assertSame(restored.state, wanted)
})

test('the bound of the memory is what it was: the copies of what changes do not count', () => {
  using shard = new Shard()
  fill(shard, new Picker(4))
  const parts = shard.machine.stateParts(SMALLEST)
  using twin = Shard.from([...shard.machine.snapshot()], shard.timeMs)
  twin.index = shard.index
  for (let number = 0; number < 500; number += 1) {
    for (const each of [shard, twin]) each.run(0, 'APPEND', `key:${number}`, 'more')
    parts.next()
  }
  assert.equal(shard.machine.usedBytes, twin.machine.usedBytes)
})
