/** Keys in a snapshot: those that the addon writes and reads together are the same as if they came one by one. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import type { Records } from '../../../src/index-service/memory/records.ts'
import { MarkMode } from '../../../src/index-service/memory/use-marks.ts'
import { RecordKeys } from '../../../src/index-service/state/record-format.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'
import { Random } from '../../../src/runtime/index.ts'
import { stateOf } from '../support/shard-state.ts'

const TIME_MS = 1_700_000_000_000
const KEYS = 4000
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

class Shard implements Disposable {
  readonly table = new RecordTable()
  readonly machine: ShardMachine
  added = 0
  packed = 0
  #index = 0

  /** `isOneByOne`: nothing goes together. */
  constructor(isOneByOne: boolean = false) {
    const { table } = this
    const addStrings = table.addStrings.bind(table)
    const packStrings = table.packStrings.bind(table)
    const records = table as Partial<Pick<Records, 'addStrings' | 'packStrings' | 'reserve'>>
    if (isOneByOne)
      Object.assign(records, {
        addStrings: undefined,
        packStrings: undefined,
        reserve: undefined,
        setStrings: undefined,
      })
    else {
      records.addStrings = (part) => {
        const strings = addStrings(part)
        this.added += strings.count
        return strings
      }
      records.packStrings = (cursor, target, options) => {
        const strings = packStrings(cursor, target, options)
        this.packed += strings.count
        return strings
      }
    }
    this.machine = new ShardMachine({ records: table })
  }

  run(db: number, name: string, ...args: readonly (string | Uint8Array)[]): void {
    this.#index += 1
    const calls = [{ name, args: args.map((each) => (typeof each === 'string' ? bytes(each) : each)), db }]
    this.machine.apply({ calls }, { index: this.#index, timeMs: TIME_MS, term: 1 })
  }

  snapshot(): Buffer[] {
    return [...this.machine.snapshot()].map((chunk) => Buffer.from(chunk))
  }

  get state(): readonly unknown[] {
    return stateOf(this.machine, TIME_MS)
  }

  [Symbol.dispose](): void {
    this.table.close()
  }
}

/** Strings above all, in several databases, two of which were swapped. */
function fill(shard: Shard, random: Random, othersPercent: number): void {
  for (let number = 0; number < KEYS; number += 1) {
    const db = random.below(8) === 0 ? random.below(16) : 0
    const key = `key:${number}`
    const kind = random.below(100) < othersPercent ? random.below(8) : -1
    if (kind === 0) shard.run(db, 'SET', key, 'v', 'PX', '5000')
    else if (kind === 1) shard.run(db, 'HSET', key, 'one', 'of a hash', 'other', 'x'.repeat(random.below(300)))
    else if (kind === 2) shard.run(db, 'RPUSH', key, 'a', 'b')
    else if (kind === 3) shard.run(db, 'ZADD', key, '1', 'a')
    else if (kind === 4) shard.run(db, 'SET', Buffer.concat([Buffer.of(0, 2), bytes(key)]), 'of a tuple')
    else if (kind === 5) shard.run(db, 'SET', key, 'x'.repeat(random.below(4) === 0 ? 300_000 : 70_000))
    else if (kind === 6) shard.run(db, 'SET', 'k'.repeat(random.below(3000)), 'long key')
    else if (kind === 7) shard.run(db, 'DEL', `key:${random.below(KEYS)}`)
    else shard.run(db, 'SET', key, 'v'.repeat(random.below(200)))
  }
  shard.run(0, 'SWAPDB', '0', '3')
}

/** The same bytes in chunks of other lengths. */
function cutAgain(chunks: readonly Buffer[], lengthBytes: number): Buffer[] {
  const all = Buffer.concat(chunks)
  const count = Math.ceil(all.length / lengthBytes)
  return Array.from({ length: count }, (_, at) => all.subarray(at * lengthBytes, (at + 1) * lengthBytes))
}

for (const othersPercent of [0, 1, 30, 100])
  test(`a snapshot of a table with ${othersPercent} % of other keys than strings is that of its keys one by one`, () => {
    const random = new Random(othersPercent + 1)
    using shard = new Shard()
    fill(shard, random, othersPercent)
    const { state } = shard
    const chunks = shard.snapshot()
    if (othersPercent < 30) assert.ok(shard.packed > KEYS / 2, `${shard.packed} keys were written together`)

    for (const cut of [chunks, cutAgain(chunks, 65_536), cutAgain(chunks, 997)]) {
      using restored = new Shard()
      restored.machine.restore(cut)
      assert.deepEqual(restored.state, state)
      if (othersPercent < 30 && cut === chunks)
        assert.ok(restored.added > KEYS / 2, `${restored.added} keys were read together`)
    }

    using oneByOne = new Shard(true)
    oneByOne.machine.restore(chunks)
    assert.deepEqual(oneByOne.state, state)
    using last = new Shard()
    last.machine.restore(oneByOne.snapshot())
    assert.deepEqual(last.state, state)
  })

test('a snapshot is restored into a table that has buckets and memory from before', () => {
  using shard = new Shard()
  fill(shard, new Random(5), 1)
  using other = new Shard()
  fill(other, new Random(6), 1)
  for (let number = 0; number < 3 * KEYS; number += 1) other.run(0, 'SET', `more:${number}`, 'v')
  const { bytes: before } = other.table.figures
  for (let round = 0; round < 20; round += 1) {
    other.machine.restore(shard.snapshot())
    other.table.publish(1)
  }
  assert.deepEqual(other.state, shard.state)
  assert.ok(other.table.figures.bytes <= before + 2 * 2 ** 24, 'memory is used again')
})

test('a snapshot that is cut off is refused', () => {
  using shard = new Shard()
  fill(shard, new Random(7), 1)
  const whole = Buffer.concat(shard.snapshot())
  for (const lengthBytes of [whole.length - 1, whole.length - 2, whole.length >> 1, 3000]) {
    using restored = new Shard()
    assert.throws(() => restored.machine.restore([whole.subarray(0, lengthBytes)]), RangeError)
  }
})

test('keys of a snapshot are as if they were just used', () => {
  using shard = new Shard()
  for (let number = 0; number < 100; number += 1) shard.run(0, 'SET', `key:${number}`, 'v')
  const key = new RecordKeys().ofKey(bytes('key:7'), 0)
  for (const mode of [MarkMode.Recency, MarkMode.Frequency]) {
    using restored = new Shard()
    restored.table.mark(mode, TIME_MS - 100_000)
    restored.machine.restore(shard.snapshot())
    assert.ok(restored.added > 50)
    if (mode === MarkMode.Recency) assert.equal(restored.table.idleMs(key, TIME_MS + 1000), 1000)
    else assert.equal(restored.table.frequency(key, TIME_MS), 5)
  }
})
