import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHUNK_BYTES, RECORD_BYTES_MAX } from '../../../src/index-service/memory/layout.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { TableReader } from '../../../src/index-service/memory/table-reader.ts'
import { Random } from '../../../src/runtime/index.ts'
import { isWhole, keyOf } from './written.ts'

const key = (name: string | number) => Buffer.from(`key ${name}`)
const text = (bytes: Uint8Array | string | undefined) =>
  bytes === undefined || typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1')

function opened(seed = 0): { table: RecordTable; reader: TableReader; [Symbol.dispose](): void } {
  const table = new RecordTable(seed)
  const reader = TableReader.open(process.pid, table.descriptor)
  assert.ok(reader)
  return {
    table,
    reader,
    [Symbol.dispose]() {
      reader.close()
      table.close()
    },
  }
}

/** Every key once or more, from cursor to cursor. */
function scanned(table: RecordTable, meanwhile: () => void = () => {}): Set<string> {
  const found = new Set<string>()
  let cursor = 0
  do {
    const { cursor: next, keys } = table.scan(cursor, 3)
    for (const each of keys) found.add(text(each)!)
    cursor = next
    meanwhile()
  } while (cursor !== 0)
  return found
}

test('a table and its reader hold what a Map holds, whatever is done', () => {
  using both = opened(7)
  const { table, reader } = both
  const model = new Map<string, string>()
  const random = new Random(1)
  for (let step = 0; step < 60_000; step += 1) {
    const name = key(random.below(step < 30_000 ? 10_000 : 300))
    const dice = random.below(20)
    if (dice < 14) {
      const value = Buffer.alloc(random.below(random.below(50) === 0 ? 9000 : 120), step & 0xff)
      table.set(name, value)
      model.set(text(name)!, text(value)!)
    } else if (dice < 18) assert.equal(table.delete(name), model.delete(text(name)!))
    else {
      assert.equal(text(table.get(name)), model.get(text(name)!))
      assert.equal(text(reader.get(name)), model.get(text(name)!))
    }
  }
  assert.equal(table.size, model.size)
  assert.deepEqual(scanned(table), new Set(model.keys()))
  for (const [name, value] of model) assert.equal(text(reader.get(Buffer.from(name, 'latin1'))), value)
  const { bytes, fixedBytes, liveBytes } = table.figures
  assert.ok(bytes - fixedBytes <= liveBytes / 0.8 + 2 * CHUNK_BYTES, JSON.stringify(table.figures))
  table.clear()
  assert.deepEqual([table.size, table.usedBytes, scanned(table).size], [0, 0, 0])
  assert.equal(reader.get(key(1)), 'unknown', 'before anything is applied to it')
  table.publish(1)
  assert.equal(reader.get(key(1)), undefined)
})

test('a reader finds every key that stays, at each step of the writer', () => {
  using both = opened(3)
  const { table, reader } = both
  const names = Array.from({ length: 300 }, (_, at) => key(at))
  const value = Buffer.alloc(40, 7)
  let stays: Buffer[] = []
  let looks = 0
  // All that the writer does step by step is done by these.
  const { store, add } = Atomics
  const look = (): void => {
    Object.assign(Atomics, { store, add })
    for (const name of stays) {
      const found = reader.get(name)
      looks += 1
      assert.ok(found !== undefined, `${text(name)} is missing, of ${stays.length}`)
    }
    Object.assign(Atomics, watched)
  }
  const watched = {
    store: (...args: Parameters<typeof store>) => {
      const stored = store(...args)
      look()
      return stored
    },
    add: (...args: Parameters<typeof add>) => {
      const added = add(...args)
      look()
      return added
    },
  }
  try {
    for (const [at, name] of names.entries()) {
      Object.assign(Atomics, watched)
      table.set(name, value)
      stays = [...names.slice(Math.max(0, at - 30), at + 1)]
    }
    for (const name of names.slice(0, 200)) {
      stays = [names[250]!, names[299]!]
      table.delete(name)
    }
  } finally {
    Object.assign(Atomics, { store, add })
  }
  assert.ok(looks > 10_000, `${looks}`)
})

test('memory that is written over and over stays as large as what is in it', () => {
  using both = opened()
  const { table } = both
  const random = new Random(2)
  const value = Buffer.alloc(1000, 1)
  const fill = (count: number) => {
    for (let step = 0; step < count; step += 1) table.set(key(random.below(30_000)), value)
  }
  fill(100_000)
  const { bytes } = table.figures
  fill(100_000)
  assert.equal(table.figures.bytes, bytes, 'it does not grow')
  assert.ok(bytes < 1.35 * table.figures.liveBytes + CHUNK_BYTES, JSON.stringify(table.figures))
})

test('values that leave the end of each segment unused are written over, again and again, in memory that is bounded', () => {
  // Of the second, two and a half fit into a segment; the third are mixed.
  for (const lengths of [[65_536], [100_000], [100, 100, 140_000, 65_536, 20_000]]) {
    using both = opened()
    const { table } = both
    const random = new Random(3)
    const values = lengths.map((length) => Buffer.alloc(length, 1))
    for (let step = 0; step < 2500; step += 1) table.set(key(random.below(400)), values[random.below(values.length)]!)
    const { bytes, liveBytes } = table.figures
    assert.ok(bytes < 2 * liveBytes + CHUNK_BYTES, `${lengths}: ${bytes} for ${liveBytes}`)
  }
})

test('values of any length, up to half a chunk', () => {
  using both = opened()
  const { table, reader } = both
  const lengths = [0, 1, 7, 8, 9, 65_536, 262_128, 262_144, 262_145, 1_000_000, 8_000_000]
  for (let round = 0; round < 4; round += 1)
    for (const length of lengths) {
      const value = Buffer.alloc(length, round)
      table.set(key(length), value)
      assert.ok(value.equals(table.get(key(length))!), `${length}`)
      assert.ok(value.equals(reader.get(key(length)) as Uint8Array), `${length}`)
    }
  assert.throws(() => table.set(key('long'), Buffer.alloc(RECORD_BYTES_MAX)), /longer than its writer may make it/)
  for (const length of lengths) assert.ok(table.delete(key(length)))
  assert.equal(table.usedBytes, 0)
  const { bytes } = table.figures
  for (let round = 0; round < 4; round += 1) table.set(key('again'), Buffer.alloc(8_000_000, round))
  assert.equal(table.figures.bytes, bytes, 'what was freed is used again')
})

test('a value that was just read may be stored under another name', () => {
  using both = opened()
  const { table } = both
  table.set(key(0), Buffer.alloc(900, 5))
  for (let step = 1; step < 30_000; step += 1) {
    table.set(key(step % 7), table.get(key((step - 1) % 7))!)
    assert.equal(table.get(key(step % 7))![899], 5)
  }
})

test('a scan visits every key that stays, though the table grows meanwhile', () => {
  using both = opened()
  const { table } = both
  for (let name = 0; name < 500; name += 1) table.set(key(name), key(name))
  let added = 500
  const found = scanned(table, () => {
    for (const end = added + 20; added < end; added += 1) table.set(key(added), key(added))
    table.delete(key(added - 1))
  })
  for (let name = 0; name < 500; name += 1) assert.ok(found.has(`key ${name}`), `${name}`)
})

test('a scan goes on in another table of the same seed', () => {
  using one = opened(3)
  using other = opened(3)
  for (let name = 0; name < 4000; name += 1) one.table.set(key(name), key(name))
  for (let name = 0; name < 9000; name += 1) other.table.set(key(name), key(name))
  const found = new Set<string>()
  let cursor = 0
  for (let turn = 0; turn === 0 || cursor !== 0; turn += 1) {
    const { cursor: next, keys } = (turn % 2 === 0 ? one : other).table.scan(cursor, 10)
    for (const each of keys) found.add(text(each)!)
    cursor = next
  }
  for (let name = 0; name < 4000; name += 1) assert.ok(found.has(`key ${name}`), `${name}`)
})

test('another process reads whole values, and none that was replaced before, while the owner writes', async () => {
  const writer = fork(fileURLToPath(new URL('writer-main.js', import.meta.url)))
  try {
    const [descriptor] = (await once(writer, 'message')) as [number]
    const reader = TableReader.open(writer.pid!, descriptor)
    assert.ok(reader)
    const newest = new Map<number, number>()
    let reads = 0
    for (const end = performance.now() + 1500; performance.now() < end; reads += 1) {
      const number = reads % 500
      const value = reader.get(keyOf(number))
      assert.notEqual(value, undefined, `key ${number} is always there`)
      if (value === 'unknown' || value === undefined) continue
      const written = isWhole(number, value)
      assert.ok(written !== undefined, `read ${reads} of key ${number} is torn`)
      assert.ok(written >= (newest.get(number) ?? 0), `key ${number} went back`)
      newest.set(number, written)
    }
    assert.equal(newest.size, 500)
    const { processId, misses } = await ask(writer)
    assert.equal(processId, writer.pid)
    assert.equal(misses, 0, 'a key that is always there is never missing')
    for (let number = 0; number < 500; number += 1) assert.notEqual(reader.get(keyOf(number)), undefined)
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    // It may have been killed while it changed some of them.
    const left = Array.from({ length: 500 }, (_, number) => ({ number, value: reader.get(keyOf(number)) }))
    const known = left.filter(({ value }) => value !== 'unknown')
    assert.ok(known.length > 450, `${known.length} of what it left can be read`)
    for (const { number, value } of known) assert.notEqual(isWhole(number, value as Uint8Array), undefined)
    assert.equal(TableReader.open(writer.pid!, descriptor), undefined)
    reader.close()
  } finally {
    writer.kill('SIGKILL')
  }
})

async function ask(writer: ReturnType<typeof fork>): Promise<{ processId: number; misses: number }> {
  writer.send('figures')
  const [answer] = (await once(writer, 'message')) as [{ processId: number; misses: number }]
  return answer
}
