/** Which keys of a shard are used most, as the process that holds it counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RecordTable } from '../../src/index-service/memory/record-table.ts'
import { HotKeys } from '../../src/index-service/node/hot-keys.ts'
import { ShardMachine } from '../../src/index-service/state/shard-machine.ts'
import { callIn } from './support/differential.ts'

async function usesOf(leads: boolean): Promise<readonly string[]> {
  const table = new RecordTable()
  const shard = new ShardMachine({ records: table })
  let index = 0
  const write = (db: number, ...words: readonly string[]): void => {
    index += 1
    shard.apply({ calls: [callIn(db, words)] }, { index, timeMs: 1_000_000 + index, term: 1 })
  }
  write(0, 'SET', 'read', 'value')
  write(0, 'SET', 'written', 'value')
  const stop = new AbortController()
  const found = new HotKeys(table, shard, () => leads).find({ forMs: 50, count: 3 }, stop.signal)
  for (let use = 0; use < 3; use += 1) write(0, 'APPEND', 'written', 'more')
  write(2, 'MSET', 'one', 'value', 'two', 'value')
  write(2, 'INCR', 'gone')
  write(2, 'DEL', 'gone')
  shard.read(
    [callIn(0, ['GET', 'read']), callIn(0, ['STRLEN', 'read']), callIn(0, ['OBJECT', 'ENCODING', 'read'])],
    2e6,
  )
  shard.read([callIn(0, ['GET', 'none']), callIn(2, ['GET', 'two'])], 2e6)
  const keys = await found
  assert.equal(shard.onUse, undefined)
  await turn()
  table.close()
  return keys.map(({ db, key, uses }) => `${db} ${String(Buffer.from(key))}: ${uses}`)
}

test('each call counts once for each of its keys, and writes where the process leads', async () => {
  assert.deepEqual((await usesOf(true)).slice().sort(), ['0 read: 2', '0 written: 3', '2 two: 2'])
  assert.deepEqual((await usesOf(false)).slice().sort(), ['0 read: 2', '2 two: 1'])
})

test('an abort ends the count', async () => {
  const table = new RecordTable()
  const shard = new ShardMachine({ records: table })
  const stop = new AbortController()
  const found = new HotKeys(table, shard, () => true).find({ forMs: 600_000, count: 3 }, stop.signal)
  assert.equal(table.isCounting, true)
  assert.notEqual(shard.onUse, undefined)
  stop.abort()
  await assert.rejects(found)
  assert.equal(table.isCounting, false)
  assert.equal(shard.onUse, undefined)
  table.close()
})
