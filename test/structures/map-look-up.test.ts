import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RegionWindow } from '../../src/dsm/region-window.ts'
import { native } from '../../src/native/index.ts'
import { Random } from '../../src/runtime/random.ts'
import { bytes, number } from '../../src/structures/index.ts'
import type { MapKey } from '../../src/structures/map/key.ts'
import { MAP_BODY_BYTES } from '../../src/structures/map/layout.ts'
import { ABSENT, ASK, LookUp } from '../../src/structures/map/look-up.ts'
import { SharedMap } from '../../src/structures/map/shared-map.ts'
import { type Inhabitant, Town } from './town.ts'

const MEMORY_BYTES = 4 * 2 ** 20
const plain = { codec: bytes, ttlMs: 0, maxEntries: 0, valueBytesMax: 2 ** 20 }
const request = { kind: 'map', name: 'm', bodyBytes: MAP_BODY_BYTES, parameters: [] } as const

/** A heap in memory that WebAssembly reaches. */
function regionTown(t: { after(done: () => void): void }): Town {
  const descriptor = native.createMemory('aether-look-up', MEMORY_BYTES, 0)
  const window = new RegionWindow(descriptor, 0, 0, MEMORY_BYTES)
  t.after(() => {
    window.close()
    native.closeDescriptor(descriptor)
  })
  return new Town(MEMORY_BYTES, window.bytes)
}

const bodyOf = (inhabitant: Inhabitant): number => inhabitant.directory.open(request).offset

/** As numbers, so that a difference is told. */
const asArray = (value: Uint8Array | undefined): number[] | undefined => value && [...value]

test('memory that is no view of a region has no program', () => {
  const inhabitant = new Town().settle()
  assert.equal(LookUp.of(inhabitant.heap, bodyOf(inhabitant), bytes), undefined)
})

test('the program says what the map says, for every kind of key and any length', (t) => {
  const inhabitant = regionTown(t).settle()
  const body = bodyOf(inhabitant)
  const map = new SharedMap<Uint8Array>('m', inhabitant.heap, body, plain)
  const lookUp = LookUp.of(inhabitant.heap, body, bytes)!
  assert.equal(lookUp.find('nothing', false), ABSENT, 'of a map without a table')
  const keys: MapKey[] = [
    '',
    'a',
    'ab',
    'abc',
    'abcd',
    'abcde',
    'ü',
    'Zürich 🜁',
    'long '.repeat(204),
    0,
    -0,
    1,
    0.5,
    2 ** 60,
  ]
  keys.push(new Uint8Array(0), new Uint8Array(7).fill(1), new Uint8Array(1024).fill(255))
  const lengths = [0, 1, 7, 8, 9, 63, 64, 65, 2047, 2048]
  for (const key of keys)
    for (const length of lengths) {
      const value = Uint8Array.from({ length }, (_, at) => at * 7 + length)
      map.setSync(key, value)
      assert.equal(lookUp.find(key, false), length)
      assert.deepEqual([...lookUp.value(length)], [...value])
    }
  for (const key of keys) {
    map.deleteSync(key)
    assert.equal(lookUp.find(key, false), ABSENT, `${key} was deleted`)
  }
  assert.throws(() => lookUp.find('x'.repeat(1025), false), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  assert.throws(() => lookUp.find(null as unknown as MapKey, false), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('what is long, is being moved, or is read inside an epoch, is left to the map', (t) => {
  const inhabitant = regionTown(t).settle()
  const body = bodyOf(inhabitant)
  const map = new SharedMap<Uint8Array>('m', inhabitant.heap, body, plain)
  const lookUp = LookUp.of(inhabitant.heap, body, bytes)!
  map.setSync('long', new Uint8Array(2049))
  map.setSync('short', Uint8Array.of(1))
  assert.equal(lookUp.find('long', false), ASK)
  assert.equal(lookUp.find('short', false), 1)
  const stay = inhabitant.heap.epochs.begin()
  assert.equal(lookUp.find('short', false), ASK)
  assert.deepEqual(asArray(map.getSync('short')), [1])
  inhabitant.heap.epochs.end(stay)
  // A table that fills up is moved with the writes that follow: at some time in between, both are asked.
  let asked = 0
  for (let index = 0; index < 2000; index += 1) {
    map.setSync(index, Uint8Array.of(index & 255))
    for (const key of ['short', index, index >> 1]) {
      const found = lookUp.find(key, false)
      if (found === ASK) asked += 1
      else assert.equal(found, 1)
      assert.deepEqual(asArray(map.getSync(key)), [key === 'short' ? 1 : Number(key) & 255])
    }
  }
  assert.ok(asked > 0 && asked < 6000, `the map was asked ${asked} times`)
})

test('what has an end of life is there until then', async (t) => {
  const inhabitant = regionTown(t).settle()
  const body = bodyOf(inhabitant)
  const map = new SharedMap<Uint8Array>('m', inhabitant.heap, body, plain)
  const lookUp = LookUp.of(inhabitant.heap, body, bytes)!
  map.setSync('late', Uint8Array.of(1), { ttlMs: 60_000 })
  map.setSync('soon', Uint8Array.of(1, 2), { ttlMs: 1 })
  assert.equal(lookUp.find('late', false), 1)
  await sleep(5)
  assert.equal(lookUp.find('soon', false), ABSENT)
  assert.equal(map.getSync('soon'), undefined)
  assert.equal(lookUp.find('late', false), 1)
})

test('a bounded map keeps what is read: an entry is marked', (t) => {
  const inhabitant = regionTown(t).settle()
  const body = bodyOf(inhabitant)
  const map = new SharedMap<number>('m', inhabitant.heap, body, { ...plain, codec: number, maxEntries: 100 })
  map.setSync('kept', 7)
  for (let index = 0; index < 2000; index += 1) {
    map.setSync(index, index)
    assert.equal(map.getSync('kept'), 7)
  }
  assert.ok(map.sizeSync() <= 101)
})

test('with others that write, grow and delete meanwhile, it says what a Map says', (t) => {
  const town = regionTown(t)
  const members = [town.settle(), town.settle(), town.settle()]
  const maps = members.map((member) => new SharedMap<Uint8Array>('m', member.heap, bodyOf(member), plain))
  const model = new Map<number, number[]>()
  const random = new Random(20)
  const next = (bound: number) => random.below(bound)
  for (let step = 0; step < 30_000; step += 1) {
    const map = maps[next(maps.length)]!
    const key = next(step < 15_000 ? 40 : 3000)
    const action = next(10)
    if (action < 2) {
      const value = Array.from({ length: next(40) }, () => next(256))
      map.setSync(key, Uint8Array.from(value))
      model.set(key, value)
    } else if (action === 2) assert.equal(map.deleteSync(key), model.delete(key))
    else assert.deepEqual(asArray(map.getSync(key)), model.get(key), `step ${step}, key ${key}`)
  }
})

test('memory that names places outside of it ends in an error or an answer, and nobody stays inside', (t) => {
  const inhabitant = regionTown(t).settle()
  const body = bodyOf(inhabitant)
  const map = new SharedMap<Uint8Array>('m', inhabitant.heap, body, plain)
  const lookUp = LookUp.of(inhabitant.heap, body, bytes)!
  map.setSync('key', Uint8Array.of(1))
  const { memory } = inhabitant.heap
  for (const damage of [0x3ffffff, 0x2000001, 0x1234567]) {
    memory.poke(body, damage)
    assert.equal(lookUp.find('key', false), ASK)
    assert.equal(inhabitant.heap.self.reservation, 0)
  }
})
