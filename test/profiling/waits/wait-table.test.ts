import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAIT_TABLE_BYTES, type Wait, WaitTable } from '../../../src/profiling/index.ts'

const wait: Wait = {
  kind: 'page',
  object: "page 812 of region 'ränks'",
  state: 'rank 1 has it',
  sinceNs: 123_456_789,
  ranks: [1, 3],
  processes: [4711],
}

test('what one thread writes another reads, the longest wait first', () => {
  const memory = new SharedArrayBuffer(WAIT_TABLE_BYTES)
  const [writer, reader] = [new WaitTable(memory), new WaitTable(memory)]
  const [first, second] = [writer.take()!, writer.take()!]
  writer.write(first, wait, 7)
  writer.write(second, { ...wait, sinceNs: 5, kind: 'lock' }, 8)
  assert.deepEqual(reader.read(), [
    { ...wait, sinceNs: 5, kind: 'lock', thread: 8 },
    { ...wait, thread: 7 },
  ])
  writer.write(first, { ...wait, state: 'rank 1 does not answer' }, 7)
  writer.free(second)
  assert.deepEqual(reader.read(), [{ ...wait, state: 'rank 1 does not answer', thread: 7 }])
  writer.free(first)
  assert.deepEqual(reader.read(), [])
})

test('what is too long is shortened, and what does not fit is not shown', () => {
  const table = new WaitTable()
  const slots: number[] = []
  for (let slot = table.take(); slot !== undefined; slot = table.take()) slots.push(slot)
  assert.equal(slots.length, 16)
  const ranks = Array.from({ length: 100 }, (_, rank) => 100 + rank)
  table.write(slots[0]!, { ...wait, object: 'o'.repeat(80), state: 'é'.repeat(500), ranks }, 1)
  const [read] = table.read()
  assert.equal(read?.object, 'o'.repeat(80))
  assert.deepEqual(read.ranks, ranks.slice(0, 8))
  assert.match(read.state, /^é+…$/)
})

test('garbage in the memory is not read', () => {
  const memory = new SharedArrayBuffer(WAIT_TABLE_BYTES)
  const table = new WaitTable(memory)
  for (const fill of [-1, 1, 0x22222222]) {
    new Int32Array(memory).fill(fill)
    assert.deepEqual(table.read(), [])
  }
})

test('a slot that its writer was killed in the middle of is passed over', () => {
  const memory = new SharedArrayBuffer(WAIT_TABLE_BYTES)
  const table = new WaitTable(memory)
  const slot = table.take()!
  table.write(slot, wait, 1)
  Atomics.add(new Int32Array(memory), (slot * 256) / 4 + 1, 1)
  assert.deepEqual(table.read(), [])
})
