import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { BANKS, HeadWord, LOOK_BYTES, ReplicaLayout } from '../../../src/consensus/replica/layout.ts'
import { defaultSettings } from '../../../src/consensus/replica/settings.ts'

const layout = new ReplicaLayout({ ...defaultSettings, window: 16, frames: 3, cellBytes: 512 })

/** Where each part begins, and how long it is. */
function parts(): (readonly [begin: number, length: number])[] {
  const { window, frames, cellBytes } = layout
  const all: (readonly [number, number])[] = Object.values(HeadWord).map((offset) => [offset, 8])
  for (let frame = 0; frame < frames; frame += 1) {
    all.push([layout.owner(frame), 8], [layout.commit(frame), 8])
    for (let bank = 0; bank < BANKS; bank += 1)
      for (let place = 0; place < window; place += 1) all.push([layout.cell(frame, bank, place), cellBytes])
  }
  for (let place = 0; place < window; place += 1) all.push([layout.slot(place), 8])
  return all
}

test('no two parts share a byte, and none goes beyond the end', () => {
  const sorted = parts().sort(([one], [other]) => one - other)
  for (const [at, [begin, length]] of sorted.entries()) {
    assert.ok(begin + length <= (sorted[at + 1]?.[0] ?? layout.lengthBytes), `the part at ${begin}`)
    assert.equal(begin % 8, 0)
  }
})

test('entries a window apart share a place, and others do not', () => {
  for (const index of [1, 15, 16, 1000]) {
    assert.equal(layout.slot(index), layout.slot(index + 16))
    assert.equal(layout.cell(2, 1, index), layout.cell(2, 1, index + 16))
    for (let other = 1; other < 16; other += 1) assert.notEqual(layout.slot(index), layout.slot(index + other))
  }
})

test('what others look at regularly is at the start, and everything but cells in the head', () => {
  const { Counter, Taken, Promise: Promised, Left, Check } = HeadWord
  assert.ok([Counter, Taken, Promised, Left, Check].every((offset) => offset + 8 <= LOOK_BYTES))
  assert.ok(Object.values(HeadWord).every((offset) => offset + 8 <= layout.owners))
  assert.ok(layout.slot(15) + 8 <= layout.headBytes)
  assert.ok(layout.headBytes <= layout.cells)
})
