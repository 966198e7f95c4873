/** When, or how often, records were used: told by whoever reads them. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import process from 'node:process'
import { test } from 'node:test'
import { RecordLooks } from '../../../src/index-service/memory/record-looks.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { TableReader } from '../../../src/index-service/memory/table-reader.ts'
import { MarkMode } from '../../../src/index-service/memory/use-marks.ts'
import { packHead, RecordKeys, RecordType } from '../../../src/index-service/state/record-format.ts'

const { Recency, Frequency } = MarkMode
const MINUTE_MS = 60_000
/** A time that is near enough to now: readers from outside look at the clock. */
const START_MS = Date.now() - 10 * MINUTE_MS

const keys = new RecordKeys()
const keyOf = (name: string | number): Uint8Array => Uint8Array.from(keys.ofKey(Buffer.from(`key ${name}`), 0))
const value = Buffer.alloc(20)
packHead(value, RecordType.String, { version: 1, expireAtMs: 0 })

function marked(mode: typeof Recency | typeof Frequency): RecordTable & Disposable {
  const table = new RecordTable(3)
  table.nowMs = START_MS
  table.mark(mode, START_MS)
  return Object.assign(table, { [Symbol.dispose]: () => table.close() })
}

test('without marks nothing is known', () => {
  const table = new RecordTable()
  table.nowMs = START_MS
  table.set(keyOf(1), value)
  table.get(keyOf(1))
  assert.equal(table.idleMs(keyOf(1), START_MS), undefined)
  assert.equal(table.frequency(keyOf(1), START_MS), undefined)
  table.close()
})

test('a record is idle since it was read, written or made; what is no use leaves it so', () => {
  using table = marked(Recency)
  table.set(keyOf(1), value)
  table.set(keyOf(2), value)
  table.nowMs = START_MS + 5000
  table.get(keyOf(2))
  table.nowMs = 0
  table.get(keyOf(1))
  assert.equal(table.idleMs(keyOf(1), START_MS + 7000), 7000)
  assert.equal(table.idleMs(keyOf(2), START_MS + 7000), 2000)
  assert.equal(table.frequency(keyOf(1), START_MS), undefined)
  // The clock was set back.
  assert.equal(table.idleMs(keyOf(2), START_MS), 0)
})

test('what is used often has a high count, which falls by one each minute', () => {
  using table = marked(Frequency)
  for (const name of ['rare', 'often', 'most']) table.set(keyOf(name), value)
  assert.equal(table.frequency(keyOf('rare'), START_MS), 5)
  for (let use = 0; use < 1000; use += 1) table.get(keyOf('often'))
  for (let use = 0; use < 100_000; use += 1) table.get(keyOf('most'))
  const often = table.frequency(keyOf('often'), START_MS)!
  const most = table.frequency(keyOf('most'), START_MS)!
  assert.ok(often > 8 && often < 40 && most > 100 && most < 200, `${often}, ${most}`)
  assert.equal(table.frequency(keyOf('most'), START_MS + 3 * MINUTE_MS), most - 3)
  assert.equal(table.frequency(keyOf('rare'), START_MS + 60 * MINUTE_MS), 0)
  assert.equal(table.frequency(keyOf('most'), START_MS - MINUTE_MS), most)
  assert.equal(table.idleMs(keyOf('most'), START_MS), undefined)
})

test('marks grow with the table, and keep what they say', () => {
  using table = marked(Recency)
  table.set(keyOf('first'), value)
  table.nowMs = START_MS + 60_000
  for (let record = 0; record < 300_000; record += 1) table.set(keyOf(record), value)
  // Of a mark that a few share, the last use counts.
  const idle = Array.from({ length: 1000 }, (_, record) => table.idleMs(keyOf(record * 300), START_MS + 90_000)!)
  assert.deepEqual(new Set(idle), new Set([30_000]))
  table.mark(undefined, 0)
  assert.equal(table.idleMs(keyOf(5), START_MS), undefined)
  // All begin as used now.
  table.mark(Recency, START_MS + 100_000)
  assert.equal(table.idleMs(keyOf('first'), START_MS + 100_500), 500)
})

test('few records share a mark', () => {
  using table = marked(Recency)
  for (let record = 0; record < 50_000; record += 1) table.set(keyOf(record), value)
  table.nowMs = START_MS + 60_000
  for (let record = 0; record < 50_000; record += 10) table.get(keyOf(record))
  let taken = 0
  for (let record = 0; record < 50_000; record += 1)
    if (record % 10 !== 0 && table.idleMs(keyOf(record), START_MS + 60_000) === 0) taken += 1
  assert.ok(taken < 0.1 * 50_000, `${taken} are taken for others`)
})

test('a process that reads the table from outside marks what it finds', () => {
  using table = marked(Recency)
  for (const name of ['read', 'left']) table.set(keyOf(name), value)
  const reader = TableReader.open(process.pid, table.descriptor)!
  assert.ok(reader.get(keyOf('read')) instanceof Uint8Array)
  reader.get(keyOf('none'))
  const now = Date.now()
  assert.ok(table.idleMs(keyOf('read'), now)! < 5 * MINUTE_MS)
  assert.ok(table.idleMs(keyOf('left'), now)! >= 9 * MINUTE_MS)
  reader.close()
})

test('so do reads that the addon answers', () => {
  for (const mode of [Recency, Frequency]) {
    using table = marked(mode)
    for (const name of ['read', 'left']) table.set(keyOf(name), value)
    const requests = Buffer.from('*2\r\n$3\r\nGET\r\n$8\r\nkey read\r\n'.repeat(2000))
    const looks = new RecordLooks(table.chunks)
    assert.equal(looks.answer(requests, Buffer.alloc(100_000), { db: 0, protocol: 2 }), requests.length)
    const now = Date.now()
    if (mode === Recency) {
      assert.ok(table.idleMs(keyOf('read'), now)! < 5 * MINUTE_MS)
      assert.ok(table.idleMs(keyOf('left'), now)! >= 9 * MINUTE_MS)
    } else {
      const count = table.frequency(keyOf('read'), now)!
      assert.ok(count > 10 && count < 50, `${count}`)
      assert.equal(table.frequency(keyOf('left'), START_MS), 5)
    }
  }
})
