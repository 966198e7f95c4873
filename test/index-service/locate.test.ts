/** Where values lie: programs read them without this package, and can tell whether what they have read is whole. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { RecordTable } from '../../src/index-service/memory/record-table.ts'
import { TableReader } from '../../src/index-service/memory/table-reader.ts'
import type { Index } from '../../src/public/index-service.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { alone } from './support/alone.ts'

useRuntimeDirectory()
type Place = NonNullable<Awaited<ReturnType<Index['locate']>>>

function readFrom(path: string, offset: number, length: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(length)
    readSync(file, bytes, 0, length, offset)
    return bytes
  } finally {
    closeSync(file)
  }
}

/** The bytes at a place, and whether they are the value. */
function readAt(place: Place): { readonly bytes: Buffer; readonly isValue: boolean } {
  assert.ok(place.where === 'machine')
  const { path, offset, length, unchanged } = place
  const bytes = readFrom(path, offset, length)
  const isValue = unchanged.every((word) => readFrom(word.path, word.offset, 4).readUInt32LE() === word.value)
  return { bytes, isValue }
}

test('strings and fields are found where they lie, at a node and at a client', () =>
  alone({ shards: 2 }, async (node, client) => {
    const long = Buffer.alloc(3_000_000, 'long value ')
    await node.set('short', 'value')
    await node.set('long', long)
    await node.set('', 'of the empty key')
    await node.set(['tuple', 1], 7, { ttlMs: 600_000 })
    await node.hashAt('hash').set({ field: 'of a field', empty: '' })
    for (const index of [node, client]) {
      const found = async (place: Promise<Place | undefined>): Promise<string> => {
        const at = await place
        const { bytes, isValue } = readAt(at!)
        assert.equal(isValue, true)
        assert.ok(at?.where === 'machine' && at.processId === process.pid)
        return String(bytes)
      }
      assert.equal(await found(index.locate('short')), 'value')
      assert.equal(await found(index.locate('long')), String(long))
      assert.equal(await found(index.locate('')), 'of the empty key')
      assert.equal(await found(index.locate(['tuple', 1])), '7')
      assert.equal(await found(index.hashAt('hash').locate('field')), 'of a field')
      assert.equal(await found(index.hashAt('hash').locate('empty')), '')
      const place = await index.locate(['tuple', 1])
      assert.ok(place!.expiresAtMs! > Date.now() && place!.expiresAtMs! <= Date.now() + 600_000)
      assert.deepEqual(await index.versions([['tuple', 1]]), [place!.version])
      assert.equal((await index.locate('short'))!.expiresAtMs, undefined)
      assert.equal(await index.locate('none'), undefined)
      assert.equal(await index.hashAt('hash').locate('none'), undefined)
      assert.equal(await index.hashAt('none').locate('field'), undefined)
      const isWrongType = { code: 'ERR_AETHER_INDEX_WRONG_TYPE' }
      await assert.rejects(index.locate('hash'), isWrongType)
      await assert.rejects(index.hashAt('short').locate('field'), isWrongType)
    }
  }))

test('a value that was replaced, deleted or moved is told from one that is there', () =>
  alone({}, async (node, client) => {
    const changes: Record<string, () => Promise<unknown>> = {
      set: () => node.set('key', 'other'),
      append: () => node.call('APPEND', 'key', 'more'),
      expire: () => node.expire('key', 600_000),
      delete: () => node.delete('key'),
      clear: () => node.clear(),
      rename: () => node.call('RENAME', 'key', 'other key'),
      swap: () => node.atomic([['SWAPDB', '0', '1']]),
      'another type': async () => {
        await node.delete('key')
        await node.listAt('key').push('value')
      },
    }
    for (const [name, change] of Object.entries(changes)) {
      await node.set('key', 'value')
      const place = (await client.locate('key'))!
      assert.deepEqual(readAt(place), { bytes: Buffer.from('value'), isValue: true }, name)
      await change()
      assert.equal(readAt(place).isValue, false, name)
    }
    await node.hashAt('hash').set({ field: 1, other: 1 })
    for (const change of [() => node.hashAt('hash').set({ field: 2 }), () => node.delete('hash')]) {
      const place = (await client.hashAt('hash').locate('field'))!
      await node.hashAt('hash').set({ other: 3 })
      assert.equal(readAt(place).isValue, true)
      await change()
      assert.equal(readAt(place).isValue, false)
    }
  }))

test('bytes that were written over are told from the value, also where the same value came back', () =>
  alone({ memoryBytes: 64 * 2 ** 20 }, async (node, client) => {
    await node.set('key', 'value')
    const place = (await client.locate('key'))!
    await node.delete('key')
    // Segments are used again until something else lies there.
    let isWrittenOver = false
    for (let round = 0; !isWrittenOver && round < 3000; round += 1) {
      await node.set('other', Buffer.alloc(60_000, round % 255))
      isWrittenOver = String(readAt(place).bytes) !== 'value'
    }
    assert.equal(isWrittenOver, true)
    assert.equal(readAt(place).isValue, false)
    await node.set('key', 'value')
    assert.equal(readAt(place).isValue, false)
    assert.equal(readAt((await client.locate('key'))!).isValue, true)
  }))

test('a slot that names the same place again does not make an old place good', () => {
  const table = new RecordTable()
  const reader = TableReader.open(process.pid, table.descriptor)!
  const find = () => {
    const found = reader.find(Buffer.from('key'))
    assert.ok(found !== undefined && found !== 'unknown')
    return found.place
  }
  table.set(Buffer.from('key'), Buffer.alloc(4000, 1))
  const first = find()
  let place = first
  for (let writes = 0; writes < 50_000 && (writes === 0 || place.unchanged[0]!.value !== first.unchanged[0]!.value); ) {
    writes += 1
    table.set(Buffer.from('key'), Buffer.alloc(4000, writes % 256))
    place = find()
  }
  assert.deepEqual(place.unchanged[0], first.unchanged[0])
  assert.deepEqual([place.chunk, place.offset], [first.chunk, first.offset])
  assert.notDeepEqual(place.unchanged, first.unchanged)
  reader.close()
  table.close()
})

/** It has nothing of this package: it reads places that it is told, and says what it found. */
const READER = `
const fs = require('node:fs')
const files = new Map()
const read = (path, offset, length) => {
  if (!files.has(path)) files.set(path, fs.openSync(path, 'r'))
  const bytes = Buffer.alloc(length)
  fs.readSync(files.get(path), bytes, 0, length, offset)
  return bytes
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { path, offset, length, unchanged } = JSON.parse(line)
  const seen = { whole: 0, torn: 0, others: 0, changed: 0 }
  for (let tries = 0; tries < 300; tries += 1) {
    const bytes = read(path, offset, length)
    const isValue = unchanged.every((word) => read(word.path, word.offset, 4).readUInt32LE() === word.value)
    const isWhole = bytes.equals(Buffer.alloc(length, bytes[0]))
    if (isValue) seen[isWhole ? 'whole' : 'torn'] += 1
    else seen[isWhole ? 'others' : 'changed'] += 1
  }
  console.log(JSON.stringify(seen))
})`

test('another program that reads while values change takes none that is torn for whole', () =>
  alone({ memoryBytes: 64 * 2 ** 20 }, async (node, client) => {
    const reader = spawn(process.execPath, ['-e', READER], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: reader.stdout })
    const sum: Record<string, number> = { whole: 0, torn: 0, others: 0, changed: 0 }
    try {
      for (let round = 0; round < 20; round += 1) {
        await node.set('key', Buffer.alloc(50_000, round))
        const place = await client.locate('key')
        let isOver = false
        const answered = once(lines, 'line').then(([line]) => {
          isOver = true
          return JSON.parse(String(line)) as Record<string, number>
        })
        reader.stdin.write(`${JSON.stringify(place)}\n`)
        for (let value = 0; !isOver; value += 1) await node.set('key', Buffer.alloc(50_000, value % 256))
        for (const [name, count] of Object.entries(await answered)) sum[name]! += count
      }
    } finally {
      reader.kill()
    }
    assert.equal(sum['torn'], 0, JSON.stringify(sum))
    assert.ok(sum['others']! + sum['changed']! > 0, JSON.stringify(sum))
  }))
