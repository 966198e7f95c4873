/** How often records are used while someone wants to know: counted by whoever reads them. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import process from 'node:process'
import { test } from 'node:test'
import { RecordLooks } from '../../../src/index-service/memory/record-looks.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { TableReader } from '../../../src/index-service/memory/table-reader.ts'
import type { UseWindow } from '../../../src/index-service/memory/use-counts.ts'
import {
  isOfKey,
  keyOfRecord,
  packHead,
  RecordKeys,
  RecordType,
} from '../../../src/index-service/state/record-format.ts'

const keys = new RecordKeys()
const keyOf = (name: string | number): Uint8Array => Uint8Array.from(keys.ofKey(Buffer.from(`key ${name}`), 0))
const value = Buffer.alloc(20)
packHead(value, RecordType.String, { version: 1, expireAtMs: 0 })

function filled(count: number): RecordTable & Disposable {
  const table = new RecordTable(3)
  for (let key = 0; key < count; key += 1) table.set(keyOf(key), value)
  return Object.assign(table, { [Symbol.dispose]: () => table.close() })
}

function usedMore(table: RecordTable, window: UseWindow, above: number): Record<string, number> {
  const found: Record<string, number> = {}
  let cursor = 0
  do {
    const options = { count: 100, above: () => above, accepts: isOfKey }
    cursor = table.usedMore(window, cursor, options, (key, uses) => {
      found[Buffer.from(keyOfRecord(key)).toString()] = uses
    })
  } while (cursor !== 0)
  return found
}

test('uses count while someone wants to know: of the owner, of readers from outside, and of native looks', () => {
  using table = filled(1000)
  const reader = TableReader.open(process.pid, table.descriptor)!
  const looks = new RecordLooks(table.chunks)
  const replies = Buffer.alloc(1000)
  const request = Buffer.from('*2\r\n$3\r\nGET\r\n$5\r\nkey 3\r\n')
  const useAll = (): void => {
    table.use(keyOf(1))
    for (let use = 0; use < 5; use += 1) reader.get(keyOf(2))
    for (let use = 0; use < 7; use += 1)
      assert.equal(looks.answer(request, replies, { db: 0, protocol: 2 }), request.length)
    reader.get(keyOf('none'))
    table.get(keyOf(4))
  }
  useAll()
  assert.equal(table.isCounting, false)
  const window = table.countUses()
  assert.deepEqual(usedMore(table, window, 0), {})
  assert.equal(table.isCounting, true)
  useAll()
  assert.deepEqual(usedMore(table, window, 0), { 'key 1': 1, 'key 2': 5, 'key 3': 7 })
  assert.deepEqual(usedMore(table, window, 5), { 'key 3': 7 })
  window.end()
  useAll()
  assert.deepEqual(usedMore(table, window, 0), { 'key 1': 1, 'key 2': 5, 'key 3': 7 })
  reader.close()
})

test('several may want to know at once: each sees what was used since it asked', () => {
  using table = filled(10)
  const first = table.countUses()
  table.use(keyOf(1))
  const second = table.countUses()
  table.use(keyOf(1))
  first.end()
  assert.equal(table.isCounting, true)
  table.use(keyOf(1))
  assert.deepEqual(usedMore(table, second, 0), { 'key 1': 2 })
  second.end()
  assert.equal(table.isCounting, false)
})

test('a key that is not used is taken for one that is only if both words are shared', () => {
  using table = filled(20_000)
  const window = table.countUses()
  for (let key = 0; key < 20; key += 1) for (let use = 0; use < 100; use += 1) table.use(keyOf(key))
  const found = usedMore(table, window, 0)
  for (let key = 0; key < 20; key += 1) assert.ok(found[`key ${key}`]! >= 100)
  assert.ok(Object.keys(found).length < 25, `${Object.keys(found).length} keys`)
  window.end()
})

test('a table that grows while uses are counted goes on with it', () => {
  using table = filled(10)
  const window = table.countUses()
  for (let key = 10; key < 5000; key += 1) table.set(keyOf(key), value)
  table.use(keyOf(4000))
  assert.deepEqual(usedMore(table, window, 0), { 'key 4000': 1 })
  window.end()
})
