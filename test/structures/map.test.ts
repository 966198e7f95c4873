import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { structured } from '../../src/codecs/index.ts'
import { bytes, type Codec, json, number } from '../../src/structures/index.ts'
import { MAP_BODY_BYTES } from '../../src/structures/map/layout.ts'
import { type MapSettings, SharedMap } from '../../src/structures/map/shared-map.ts'
import { drawn } from '../support/drawn.ts'
import { type Inhabitant, settleMemory, Town } from './town.ts'

const plain = { codec: structured, ttlMs: 0, maxEntries: 0, valueBytesMax: 2 ** 20 }

function mapOf<V = unknown>(
  inhabitant: Inhabitant,
  settings: Partial<MapSettings<V>> = {},
  name: string = 'm',
): SharedMap<V> {
  const request = { kind: 'map', name, bodyBytes: MAP_BODY_BYTES, parameters: [] } as const
  const all = { ...plain, ...settings } as MapSettings<V>
  return new SharedMap<V>(name, inhabitant.heap, inhabitant.directory.open(request).offset, all)
}

test('what one puts in another finds, whatever it is', () => {
  const town = new Town()
  const [a, b] = [mapOf(town.settle()), mapOf(town.settle())]
  const values = [
    1,
    -0.5,
    Number.NaN,
    '',
    'text',
    'Zürich 🜁',
    true,
    false,
    null,
    new Uint8Array([1, 2, 3]),
    { a: [1, { b: 2 }] },
    new Map([[1, new Set([2])]]),
    new Date(5),
    12n,
    new Float64Array([1.5, 2.5]),
    'x'.repeat(100_000),
  ]
  for (const [index, value] of values.entries()) a.setSync(`key ${index}`, value)
  for (const [index, value] of values.entries()) assert.deepEqual(b.getSync(`key ${index}`), value)
  const array = b.getSync('key 14') as Float64Array
  b.getSync('key 4')
  assert.deepEqual([...array], [1.5, 2.5], 'a value is the caller’s')
  assert.equal(b.getSync('nothing'), undefined)
  assert.equal(a.sizeSync(), values.length)
})

test('keys are text, numbers and bytes, and differ by kind', async () => {
  const map = mapOf(new Town().settle())
  const keys = ['1', 1, Uint8Array.of(0x31), '', 'ü', 'u', '\ufeffmarked', 0.5, 'long '.repeat(200)]
  for (const [index, key] of keys.entries()) await map.set(key, index)
  for (const [index, key] of keys.entries()) assert.equal(await map.get(key), index)
  await map.set(-0, 'zero')
  assert.equal(await map.get(0), 'zero')
  const seen = []
  for await (const [key] of map) seen.push(key)
  assert.deepEqual(new Set(seen.map(String)), new Set([...keys, 0].map(String)))
  for (const key of ['x'.repeat(1025), 'ü'.repeat(513), new Uint8Array(1025)])
    assert.throws(() => map.setSync(key, 1), { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'key' })
  assert.throws(() => map.getSync({} as string), { argument: 'key' })
})

test('it behaves as a Map does, through thousands of changes and growth', () => {
  const inhabitant = new Town(4 * 2 ** 20).settle()
  const map = mapOf<number>(inhabitant)
  const model = new Map<string, number>()
  let random = 7
  const next = (below: number) => {
    random = (Math.imul(random, 1103515245) + 12345) >>> 0
    return (random >>> 8) % below
  }
  for (let turn = 0; turn < 40_000; turn += 1) {
    const key = `k${next(turn < 20_000 ? 3000 : 200)}`
    const value = next(1000)
    const what = next(10)
    if (what < 4) {
      map.setSync(key, value)
      model.set(key, value)
    } else if (what < 6) assert.equal(map.deleteSync(key), model.delete(key))
    else if (what < 7) {
      assert.equal(map.setIfAbsentSync(key, value), !model.has(key))
      if (!model.has(key)) model.set(key, value)
    } else if (what < 8) {
      const expected = model.get(key)
      assert.equal(map.compareAndSetSync(key, expected, value), true)
      assert.equal(map.compareAndSetSync(key, value + 1, 0), false)
      model.set(key, value)
    } else assert.equal(map.getSync(key), model.get(key))
    if (turn % 5000 === 0) assert.deepEqual(new Map(map.entriesSync()), model)
  }
  assert.equal(map.sizeSync(), model.size)
  map.clearSync()
  assert.equal(map.sizeSync(), 0)
})

test('update changes a value once, whoever else writes; undefined stands for none', async () => {
  const town = new Town()
  const [a, b] = [mapOf<number>(town.settle()), mapOf<number>(town.settle())]
  let disturbed = false
  const twice = a.updateSync('n', (value = 0) => {
    if (!disturbed) b.setSync('n', 10)
    disturbed = true
    return value + 1
  })
  assert.equal(twice, 11)
  assert.equal(await b.update('n', (value = 0) => value * 2), 22)
  assert.equal(
    a.updateSync('n', () => undefined),
    undefined,
  )
  assert.equal(b.hasSync('n'), false)
  assert.equal(
    a.updateSync('n', () => undefined),
    undefined,
  )
  assert.throws(() =>
    a.updateSync('n', () => {
      throw new Error('no')
    }),
  )
  a.setSync('n', 1)
})

test('codecs are what they say', () => {
  const [a] = [new Town().settle()]
  const roundTrip = <V>(codec: Codec<V>, value: V) => codec.decode(new Uint8Array(codec.encode(value)))
  assert.deepEqual(roundTrip(json, { a: [1, 'ü'] }), { a: [1, 'ü'] })
  assert.equal(roundTrip(number, 1.5), 1.5)
  assert.deepEqual(roundTrip(bytes, Uint8Array.of(1, 2)), Uint8Array.of(1, 2))
  assert.throws(() => json.encode(undefined), { argument: 'value' })
  assert.throws(() => number.encode('1' as unknown as number), { argument: 'value' })
  assert.throws(() => bytes.encode('1' as unknown as Uint8Array), { argument: 'value' })
  const map = mapOf(a)
  assert.throws(() => map.setSync('f', () => {}), /could not be cloned/)
  map.setSync('f', 1)
  const small = mapOf(a, { valueBytesMax: 100 })
  assert.throws(() => small.setSync('f', 'x'.repeat(100)), { code: 'ERR_AETHER_VALUE_TOO_LARGE' })
})

test('values of any length follow each other, and each that was read is a copy of its own', () => {
  const map = mapOf<Uint8Array>(new Town(4 * 2 ** 20).settle(), { codec: bytes })
  const lengths = [5, 1024, 0, 1023, 3000, 6000, 6001, 5, 3000, 5, 0]
  for (const [index, length] of lengths.entries()) map.setSync(index, new Uint8Array(length).fill(index + 1))
  const read = lengths.map((_, index) => map.getSync(index))
  for (const [index, length] of lengths.entries()) {
    assert.deepEqual(read[index], new Uint8Array(length).fill(index + 1), `value ${index}`)
    read[index]?.fill(99)
    assert.deepEqual(map.getSync(index), new Uint8Array(length).fill(index + 1), `value ${index}, once more`)
  }
})

test('entries expire, and their memory comes back as others write', async () => {
  const inhabitant = new Town().settle()
  const map = mapOf<string>(inhabitant, { ttlMs: 20 })
  for (let index = 0; index < 100; index += 1) map.setSync(`short ${index}`, 'gone soon')
  map.updateSync('made by update', () => 'gone soon')
  map.setSync('long', 'stays', { ttlMs: 1e9 })
  assert.equal(
    map.updateSync('long', (value) => `${value} on`),
    'stays on',
  )
  await sleep(40)
  assert.equal(map.getSync('short 1'), undefined)
  assert.equal(map.setIfAbsentSync('short 1', 'again', { ttlMs: 1e9 }), true)
  assert.equal(map.deleteSync('short 2'), false)
  for (let index = 0; index < 300; index += 1) map.setSync('long', 'stays', { ttlMs: 1e9 })
  assert.deepEqual([...map.entriesSync()].sort(), [
    ['long', 'stays'],
    ['short 1', 'again'],
  ])
  assert.equal(map.sizeSync(), 2)
  assert.throws(() => map.setSync('x', 'x', { ttlMs: -1 }), { argument: 'options.ttlMs' })
})

test('a map that is full of what has expired takes new entries', async () => {
  const map = mapOf<string>(new Town().settle(), { ttlMs: 400 })
  const fill = () => {
    for (let count = 0; ; count += 1) map.setSync(`key ${count}`, 'x'.repeat(200))
  }
  assert.throws(fill, { code: 'ERR_AETHER_HEAP_FULL' })
  await sleep(450)
  const value = 'y'.repeat(200)
  map.setSync('new', value, { ttlMs: 1e9 })
  assert.deepEqual([...map.entriesSync()], [['new', value]])
})

test('a bound is kept, and what is read stays', () => {
  const town = new Town()
  const [a, b] = [town.settle(), town.settle()]
  const maps = [mapOf<number>(a, { maxEntries: 100 }), mapOf<number>(b, { maxEntries: 100 })]
  for (let index = 0; index < 5000; index += 1) {
    maps[index % 2]?.setSync(index, index)
    if (index >= 10) for (let hot = 0; hot < 10; hot += 1) maps[0]?.getSync(hot)
    assert.ok((maps[0]?.sizeSync() ?? 0) <= 100)
  }
  for (let hot = 0; hot < 10; hot += 1) assert.equal(maps[1]?.getSync(hot), hot)
  assert.ok((maps[0]?.sizeSync() ?? 0) > 90)
})

test('a map with a bound makes room by itself when memory runs out; one without says so, and can still delete', () => {
  const cache = mapOf<Uint8Array>(new Town().settle(), { codec: bytes, maxEntries: 1e6 })
  for (let index = 0; index < 3000; index += 1) cache.setSync(index, new Uint8Array(1000))
  assert.deepEqual(cache.getSync(2999), new Uint8Array(1000))

  const map = mapOf<Uint8Array>(new Town().settle(), { codec: bytes })
  const fill = () => {
    for (let index = 0; ; index += 1) map.setSync(index, new Uint8Array(1000))
  }
  assert.throws(fill, { code: 'ERR_AETHER_HEAP_FULL' })
  const size = map.sizeSync()
  assert.ok(size > 350)
  map.clearSync()
  assert.equal(map.sizeSync(), 0)
  assert.throws(fill, { code: 'ERR_AETHER_HEAP_FULL' })
  assert.ok(map.sizeSync() > size * 0.9)
})

test('an iteration gives each entry that stays once, while the table grows under it', () => {
  const town = new Town(4 * 2 ** 20)
  const [a, b] = [mapOf<number>(town.settle()), mapOf<number>(town.settle())]
  for (let index = 0; index < 500; index += 1) a.setSync(`stays ${index}`, index)
  const seen = new Map<string, number>()
  let added = 0
  for (const [key] of a.entriesSync()) {
    seen.set(String(key), (seen.get(String(key)) ?? 0) + 1)
    for (let more = 0; more < 10 && added < 3000; more += 1) {
      added += 1
      b.setSync(`new ${added}`, 0)
    }
    b.setSync(`stays ${added % 500}`, added)
    b.deleteSync(`new ${added - 30}`)
  }
  for (let index = 0; index < 500; index += 1) assert.equal(seen.get(`stays ${index}`), 1, `stays ${index}`)
})

/** The same changes, for the one who is killed and for the model; the last one may have happened or not. */
const steps: readonly ((map: SharedMap<number>) => void)[] = [
  (map) => map.setSync('a', 1),
  (map) => map.setSync('b', 2),
  (map) => map.deleteSync('a'),
  (map) => map.updateSync('b', (value = 0) => value + 5),
  (map) => map.setIfAbsentSync('a', 9),
]

function statesAfterEachStep(): readonly string[] {
  const map = mapOf<number>(new Town().settle())
  const states = ['[]']
  for (const step of steps) {
    step(map)
    states.push(contents(map))
  }
  return states
}

function contents(map: SharedMap<number>): string {
  return JSON.stringify([...map.entriesSync()].filter(([key]) => String(key).length === 1).sort())
}

for (const others of drawn([0, 36, 38, 39, 40], 2)) {
  // With so many entries the table of 64 slots begins to be moved somewhere among the steps.
  test(`killed at any access while it changes a map of ${others} entries, each change is whole and nothing is lost`, () => {
    const allowed = new Set(statesAfterEachStep())
    for (let calls = 0, done = false; !done; calls += others === 0 ? 3 : 7) {
      const town = new Town()
      const survivor = town.settle()
      const map = mapOf<number>(survivor)
      for (let index = 0; index < others; index += 1) map.setSync(`other ${index}`, index)
      const victim = town.settle()
      done = victim.killedAfter(calls, () => {
        const theirs = mapOf<number>(victim)
        for (const step of steps) step(theirs)
      })
      town.bury(victim)
      settleMemory(survivor.heap)
      const found = contents(map)
      assert.ok(allowed.has(found), `after ${calls} accesses: ${found}`)
      assert.equal(map.sizeSync(), [...map.entriesSync()].length, `after ${calls} accesses`)
      for (let index = 0; index < others; index += 1) assert.equal(map.getSync(`other ${index}`), index)
      map.setSync('a', 0)
      map.clearSync()
      // What is left is the map itself, its table and the marks of deleted keys.
      settleMemory(survivor.heap)
      const { usedBytes } = survivor.heap.usage()
      assert.ok(usedBytes <= 1536 + 1024 + (others + 3) * 64, `${usedBytes} after ${calls} accesses`)
    }
  })
}

test('a codec that adopts bytes is given some that stay as they are', () => {
  const keeping: Codec<Uint8Array> = { ...bytes, name: 'keeping', decode: () => assert.fail('a copy of a copy') }
  const map = mapOf(new Town().settle(), { codec: keeping })
  const found = Array.from({ length: 300 }, (_, at) => {
    map.setSync('key', new Uint8Array(at * 10).fill(at & 0xff))
    return map.getSync('key')
  })
  for (const [at, value] of found.entries())
    assert.deepEqual(value, new Uint8Array(at * 10).fill(at & 0xff), `value ${at}`)
})

test('keys that come and go leave nothing: as many as one likes, one after the other', () => {
  const inhabitant = new Town().settle()
  const map = mapOf<number>(inhabitant, { codec: number })
  const usedAfter = (first: number): number => {
    for (let key = first; key < first + 3000; key += 1) {
      map.setSync(`key ${key}`, key)
      assert.equal(map.deleteSync(`key ${key}`), true)
    }
    settleMemory(inhabitant.heap)
    return inhabitant.heap.usage().usedBytes
  }
  const before = usedAfter(0)
  for (let turn = 1; turn < 4; turn += 1) {
    const after = usedAfter(turn * 3000)
    // The marks of those keys that were deleted since the table was made anew.
    assert.ok(after <= before + 64 * 64, `${after} bytes after ${before}`)
  }
})

test("while a table is moved, memory of what was deleted since is another map's, and not looked at any more", () => {
  const town = new Town()
  const people = [town.settle(), town.settle()] as const
  const [map, other] = people.map((each) => mapOf<number>(each, { codec: number })) as [
    SharedMap<number>,
    SharedMap<number>,
  ]
  const foreign = mapOf<number>(people[1], { codec: number }, 'foreign')
  const living = new Set<string>()
  for (let key = 0; key < 1500; key += 1) {
    map.setSync(`key ${key}`, key)
    living.add(`key ${key}`)
    if (key % 3 === 0) continue
    const gone = `key ${Math.floor(key / 2)}`
    assert.equal(other.deleteSync(gone), living.delete(gone))
    settleMemory(people[1].heap)
    foreign.setSync(`foreign ${key}`, -1)
    const found = [...map.entriesSync()]
    for (const [name, value] of found) assert.equal(name, `key ${value}`)
    assert.equal(new Set(found.map(([name]) => name)).size, living.size)
  }
})

for (const churns of drawn(['keys that come and go', 'keys that stay'] as const, 1)) {
  test(`killed at any access while a table is moved, with ${churns}, nothing is lost, and its memory is found`, () => {
    const play = (map: SharedMap<number>, from: number): void => {
      for (let key = from; key < from + 3; key += 1) {
        map.setSync(`new ${key}`, key)
        if (churns === 'keys that come and go') map.deleteSync(`new ${key}`)
      }
    }
    const used = (inhabitant: Inhabitant): number => {
      const map = mapOf<number>(inhabitant, { codec: number })
      map.clearSync()
      // Until the table is made anew, twice: it shrinks once, and what was marked is gone.
      let [turns, before] = [0, 0]
      for (let key = 0; turns < 4; key += 1) {
        map.setSync(`settle ${key}`, 0)
        map.deleteSync(`settle ${key}`)
        settleMemory(inhabitant.heap)
        const { usedBytes } = inhabitant.heap.usage()
        if (usedBytes < before) turns += 1
        before = usedBytes
      }
      return before
    }
    const expected = (() => {
      const alone = new Town().settle()
      play(mapOf<number>(alone, { codec: number }), 0)
      return used(alone)
    })()
    for (let calls = 0, done = false; !done; calls += 1) {
      const town = new Town()
      const [survivor, victim] = [town.settle(), town.settle()]
      const map = mapOf<number>(survivor, { codec: number })
      // Just before the first table of 64 slots is moved.
      for (let key = 0; key < 40; key += 1) map.setSync(`old ${key}`, key)
      for (let key = 0; key < 18; key += 1) map.deleteSync(`old ${key}`)
      done = victim.killedAfter(calls, () => play(mapOf<number>(victim, { codec: number }), 100))
      town.bury(victim)
      settleMemory(survivor.heap)
      for (let key = 18; key < 40; key += 1) assert.equal(map.getSync(`old ${key}`), key, `after ${calls} accesses`)
      assert.equal(map.sizeSync(), [...map.entriesSync()].length, `after ${calls} accesses`)
      if (calls % 48 === 0) assert.equal(used(survivor), expected, `after ${calls} accesses`)
    }
  })
}
