import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  COUNTERS_MAX,
  defineCounters,
  findLayout,
  PROFILING_AREA_BYTES,
  Profile,
  ProfilingArea,
} from '../../src/profiling/index.ts'

const AREA = PROFILING_AREA_BYTES
const reads = defineCounters('test.reads', ['operations', 'bytes'])

test('a counter written through one view of the area is read by name through another', () => {
  const memory = new SharedArrayBuffer(AREA)
  const counters = new ProfilingArea(memory, 0, AREA, 7).counters(reads)
  counters.add('bytes', 4096)
  counters.add('bytes', 4096)
  counters.set('operations', 2)
  const [reading] = Profile.read(memory).counters()
  const which = { name: 'test.reads', label: '', labelled: '', spread: '', rest: false, thread: 7, gauges: [] }
  assert.deepEqual(reading, { ...which, values: { operations: 2, bytes: 8192 } })
})

test('counts above 2^32 are exact', () => {
  const counters = new ProfilingArea(new SharedArrayBuffer(AREA)).counters(reads)
  counters.add('bytes', 2 ** 52)
  counters.add('bytes', 1)
  assert.equal(counters.get('bytes'), 2 ** 52 + 1)
})

test('the difference of two snapshots is what happened between them, and a new block counts from zero', () => {
  const memory = new SharedArrayBuffer(AREA)
  const area = new ProfilingArea(memory)
  const first = area.counters(reads)
  first.add('operations', 5)
  const before = Profile.read(memory)
  first.add('operations', 3)
  area.counters(reads).add('operations', 10)
  const change = Profile.read(memory).since(before)
  assert.deepEqual(
    change.counters().map((reading) => reading.values['operations']),
    [3, 10],
  )
  assert.equal(change.total('test.reads', 'operations'), 13)
})

test('areas at an offset do not see each other', () => {
  const memory = new SharedArrayBuffer(2 * AREA)
  new ProfilingArea(memory, 0).counters(reads).add('operations', 1)
  new ProfilingArea(memory, AREA).counters(reads).add('operations', 2)
  assert.equal(Profile.read(memory, 0).total('test.reads', 'operations'), 1)
  assert.equal(Profile.read(memory, AREA).total('test.reads', 'operations'), 2)
})

test('garbage in an area is skipped, and a header that claims too much is not believed', () => {
  const memory = new SharedArrayBuffer(AREA)
  const area = new ProfilingArea(memory)
  area.counters(reads).add('operations', 1)
  const bytes = new Uint8Array(memory)
  bytes.fill(255, 20 * 256, 23 * 256)
  const words = new Int32Array(memory)
  // A block's header, as it stands there, but for its length.
  const header = words.findIndex((word, index) => word === 0x46504541 && words[index + 1] === 1)
  words.set(words.subarray(header, header + 10), (30 * 256) / 4)
  assert.equal(Profile.read(memory).counters().length, 2)
  words[(30 * 256) / 4 + 5] = 9_000_000
  assert.equal(Profile.read(memory).counters().length, 1)
})

test('a layout is known by a number that changes with its names', () => {
  assert.equal(findLayout(reads.id)?.name, 'test.reads')
  assert.equal(defineCounters('test.reads', ['operations', 'bytes']).id, reads.id)
  assert.notEqual(defineCounters('test.reads', ['bytes', 'operations']).id, reads.id)
  assert.equal(findLayout(12_345), undefined)
})

test('a layout with a name twice or too many names is refused', () => {
  assert.throws(() => defineCounters('test.twice', ['a', 'a']), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  const many = Array.from({ length: COUNTERS_MAX + 1 }, (_, index) => `c${index}`)
  assert.throws(() => defineCounters('test.many', many), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  const most = new ProfilingArea(new SharedArrayBuffer(AREA)).counters(defineCounters('test.most', many.slice(1)))
  assert.equal(most.shared, true)
})
