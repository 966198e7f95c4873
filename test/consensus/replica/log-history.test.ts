import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { Entry } from '../../../src/consensus/replica/cell.ts'
import { LogHistory } from '../../../src/consensus/replica/log-history.ts'

const entry = (index: number, length = 72): Entry => ({
  ...{ index, term: 1024, timeMs: 0, flags: 0 },
  payload: new Uint8Array(length),
})

test('a new history has nothing, and ends where its snapshot does', () => {
  const history = new LogHistory(40, 1000)
  assert.deepEqual([history.base, history.last], [40, 40])
  assert.equal(history.get(40), undefined)
  assert.equal(history.get(41), undefined)
})

test('entries are found by their index', () => {
  const history = new LogHistory(40, 10_000)
  for (let index = 41; index <= 60; index += 1) history.push(entry(index))
  assert.deepEqual([history.base, history.last], [40, 60])
  for (let index = 41; index <= 60; index += 1) assert.equal(history.get(index)?.index, index)
  assert.equal(history.get(61), undefined)
})

test('the oldest are dropped, and what is left is found', () => {
  const history = new LogHistory(0, 200 * 10)
  for (let index = 1; index <= 5000; index += 1) {
    history.push(entry(index))
    assert.equal(history.last, index)
    assert.equal(history.get(index)?.index, index)
    assert.equal(history.get(history.base), undefined)
    assert.equal(history.get(history.base + 1)?.index, history.base + 1)
    assert.ok(history.last - history.base <= 10)
  }
  assert.equal(history.base, 4990)
})

test('the newest is kept, however long', () => {
  const history = new LogHistory(0, 1000)
  history.push(entry(1))
  history.push(entry(2, 5000))
  assert.equal(history.get(2)?.payload.length, 5000)
  assert.equal(history.get(1), undefined)
})

test('less is kept while no one may lag behind', () => {
  const history = new LogHistory(0, 64 * 2 ** 20)
  const MIB = 2 ** 20
  for (let index = 1; index <= 100; index += 1) history.push(entry(index, MIB), true)
  assert.equal(history.last - history.base, 3)
  for (let index = 101; index <= 200; index += 1) history.push(entry(index, MIB))
  assert.equal(history.last - history.base, 63)
})

test('what follows on a snapshot is held, up to four times the bytes', () => {
  const history = new LogHistory(0, 200 * 10)
  for (let index = 1; index <= 20; index += 1) history.push(entry(index))
  history.held = 15
  for (let index = 21; index <= 40; index += 1) history.push(entry(index))
  assert.deepEqual([history.base, history.last], [15, 40], 'what is before it goes')
  for (let index = 41; index <= 200; index += 1) history.push(entry(index))
  assert.equal(history.last - history.base, 40)
  history.held = undefined
  history.push(entry(201))
  assert.equal(history.last - history.base, 10)
})
