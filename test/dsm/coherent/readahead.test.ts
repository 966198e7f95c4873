import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Readahead } from '../../../src/dsm/coherent/readahead.ts'

test('the second fault in a row begins it; each marker that is touched doubles it, up to 32 pages', () => {
  const ahead = new Readahead(1000, 4096, Number.POSITIVE_INFINITY)
  assert.deepEqual(ahead.faulted(10), { from: 0, to: 0 })
  assert.deepEqual(ahead.faulted(11), { from: 12, to: 14 })
  assert.ok(ahead.isMarker(12) && !ahead.isMarker(13))
  assert.deepEqual(ahead.faulted(12), { from: 14, to: 18 })
  // Still on its way when it was touched: nothing new.
  assert.deepEqual(ahead.faulted(15), { from: 0, to: 0 })
  assert.deepEqual(ahead.faulted(14), { from: 0, to: 0 })
  assert.deepEqual(ahead.faulted(18), { from: 19, to: 27 })
  let { from, to } = ahead.faulted(19)
  assert.deepEqual([from, to], [27, 43])
  for (let round = 0; round < 3; round += 1) ({ from, to } = ahead.faulted(from))
  assert.equal(to - from, 32)
})

test('streams are told apart, jumps are none, and nothing is fetched beyond the end', () => {
  const ahead = new Readahead(100, 4096, Number.POSITIVE_INFINITY)
  for (const page of [50, 70, 10, 53, 75]) assert.deepEqual(ahead.faulted(page), { from: 0, to: 0 })
  assert.deepEqual(ahead.faulted(11), { from: 12, to: 14 })
  assert.deepEqual(ahead.faulted(76), { from: 77, to: 79 })
  assert.deepEqual(ahead.faulted(98), { from: 0, to: 0 })
  assert.deepEqual(ahead.faulted(99), { from: 100, to: 100 })
})

test('large pages and small caches are not flooded', () => {
  const window = (pageBytes: number, cachePages: number): number => {
    const ahead = new Readahead(1e6, pageBytes, cachePages)
    ahead.faulted(0)
    let { from, to } = ahead.faulted(1)
    for (let round = 0; round < 10; round += 1) ({ from, to } = ahead.faulted(from))
    return to - from
  }
  assert.deepEqual([window(2 ** 20, Number.POSITIVE_INFINITY), window(4096, 40), window(4096, 3)], [2, 10, 0])
})
