import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageKind } from '../../src/dsm/coherence/index.ts'
import { protocols } from '../../src/dsm/index.ts'
import {
  CACHE_CELLS,
  DIRECTORY_CELLS,
  EVENT_BYTES,
  EVENTS_KEPT,
  EVENTS_OFFSET,
  HEAD_BYTES,
  HEADS_OFFSET,
  HeadByte,
  LINK_FLOATS,
  LINKS_MAX,
  LINKS_OFFSET,
  MAPS_OFFSET,
  NAME_BYTES_MAX,
  OPERATIONS_MAX,
  OPERATIONS_OFFSET,
  PROTOCOL_BYTES_MAX,
  SHOWN_REGIONS_MAX,
  STATES_MAX,
  WAIT_PARTS,
  WAITS_OFFSET,
  waitPartBegin,
  waitPartOf,
} from '../../src/dsm/observation/journal-layout.ts'

test('no part of a journal lies on another', () => {
  const parts: readonly (readonly [from: number, length: number])[] = [
    [0, 0x1000],
    [LINKS_OFFSET, 8 * LINKS_MAX * LINK_FLOATS],
    [HEADS_OFFSET, SHOWN_REGIONS_MAX * HEAD_BYTES],
    [EVENTS_OFFSET, EVENTS_KEPT * EVENT_BYTES],
    [OPERATIONS_OFFSET, 16 * LINKS_MAX * OPERATIONS_MAX],
    [WAITS_OFFSET, 8 * LINKS_MAX * WAIT_PARTS],
    [MAPS_OFFSET, 1],
  ]
  const head: typeof parts = [
    [0, HeadByte.ProtocolLength + 4],
    [HeadByte.Name, NAME_BYTES_MAX],
    [HeadByte.Protocol, PROTOCOL_BYTES_MAX],
    [HeadByte.CacheCells, 4 * CACHE_CELLS],
    [HeadByte.DirectoryCells, 4 * DIRECTORY_CELLS],
    [HEAD_BYTES, 1],
  ]
  for (const list of [parts, head])
    list.forEach(([from, length], index) => {
      const next = list[index + 1]
      assert.ok(next === undefined || from + length <= next[0], `${from} + ${length} reaches ${next?.[0]}`)
    })
})

test('every protocol has a number for each of its states', () => {
  for (const { name, cache, directory } of protocols.values())
    assert.ok(Object.keys({ ...cache.states, ...directory.states }).length <= STATES_MAX, name)
})

test('every kind of message has a place among the operations, beside that of pages', () => {
  for (const [name, kind] of Object.entries(MessageKind)) assert.ok(kind > 0 && kind < OPERATIONS_MAX, name)
})

test('a wait is in the part in which it lies, however short or long', () => {
  for (let part = 0; part < WAIT_PARTS; part += 1) {
    assert.equal(waitPartOf(waitPartBegin(part)), part)
    assert.equal(waitPartOf(waitPartBegin(part + 1) - 1), part)
  }
  assert.equal(waitPartOf(0), 0)
  assert.equal(waitPartOf(1e12), WAIT_PARTS - 1)
})
