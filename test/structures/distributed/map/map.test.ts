import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import type { GroupMap, MapKey } from '../../../../src/structures/index.ts'
import { FakeWorld } from '../fake-world.ts'

const HOME = 1024 * 1024

/** A map as each rank has it. Home is rank 0. */
async function opened(world: FakeWorld, options: object = {}): Promise<GroupMap<number>[]> {
  return await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number, ...options }))))
}

async function all(map: GroupMap<number>): Promise<Map<MapKey, number>> {
  const found = new Map<MapKey, number>()
  for await (const [key, value] of map) {
    assert.equal(found.has(key), false)
    found.set(key, value)
  }
  return found
}

test('a map does what a Map does, whatever the values and keys', async () => {
  const world = new FakeWorld(2, 1, HOME, [0])
  const [here, there] = (await world.play(Promise.all(world.structures.map((shared) => shared.map<unknown>('m'))))) as [
    GroupMap<unknown>,
    GroupMap<unknown>,
  ]
  const values = [
    undefined,
    null,
    true,
    0,
    'text',
    'ü'.repeat(500),
    { a: [1, new Date(0)] },
    new Uint8Array(5000).fill(7),
  ]
  const keys = [1, '1', new Uint8Array([49]), 'k'.repeat(1000), 'a', 'b', 'c', 'd']
  for (const [at, key] of keys.entries()) await world.play(there.set(key, values[at]))
  for (const [at, key] of keys.entries()) assert.deepEqual(await world.play(here.get(key)), values[at])
  assert.equal(await world.play(here.size()), keys.length)
  assert.equal(await world.play(here.get('none')), undefined)
  assert.equal(await world.play(here.has('1')), true)
  assert.equal(await world.play(there.delete('1')), true)
  assert.equal(await world.play(there.delete('1')), false)
  assert.equal(await world.play(here.has('1')), false)
  await world.play(here.clear())
  assert.equal(await world.play(there.size()), 0)
  await assert.rejects(world.play(here.set('big', new Uint8Array(61 * 1024))), { code: 'ERR_AETHER_VALUE_TOO_LARGE' })
})

test('what depends on what is there', async () => {
  const [map] = await opened(new FakeWorld(1, 1)).then((maps) => maps)
  const world = new FakeWorld(2, 1, HOME, [0])
  const [one] = await opened(world)
  assert.ok(map !== undefined && one !== undefined)
  assert.equal(await world.play(one.setIfAbsent('a', 1)), true)
  assert.equal(await world.play(one.setIfAbsent('a', 2)), false)
  assert.equal(await world.play(one.compareAndSet('a', 2, 3)), false)
  assert.equal(await world.play(one.compareAndSet('a', 1, 3)), true)
  assert.equal(await world.play(one.compareAndSet('b', 1, 3)), false)
  assert.equal(await world.play(one.compareAndSet('b', undefined, 4)), true)
  assert.equal(await world.play(one.update('a', (value) => (value ?? 0) + 1)), 4)
  assert.equal(await world.play(one.update('a', () => undefined)), undefined)
  assert.deepEqual(await world.play(all(one)), new Map([['b', 4]]))
})

test('entries with an end to their life are there until then', async () => {
  const world = new FakeWorld(2, 1, HOME, [0])
  const [one, two] = (await opened(world, { ttlMs: 1000 })) as [GroupMap<number>, GroupMap<number>]
  await world.play(one.set('a', 1))
  await world.play(one.set('b', 2, { ttlMs: 9000 }))
  assert.equal(await world.play(two.get('a')), 1)
  world.nowMs += 2000
  assert.equal(await world.play(two.get('a')), undefined)
  assert.deepEqual(await world.play(all(two)), new Map([['b', 2]]))
  assert.equal(await world.play(two.setIfAbsent('a', 3)), true)
  await world.play(two.update('b', (value) => (value ?? 0) + 1))
  world.nowMs += 8000
  assert.equal(await world.play(one.has('b')), false)
})

test('a lookup takes two round trips at most, a write three, of a new key one more', async () => {
  const world = new FakeWorld(2, 1, HOME, [0])
  const [map] = (await opened(world)) as [GroupMap<number>]
  const memory = world.ranks[0]!
  const trips = async (call: () => Promise<unknown>): Promise<number> => {
    const before = memory.roundTrips
    await world.play(call())
    return memory.roundTrips - before
  }
  // The first takes memory for its block.
  await world.play(map.set('first', 0))
  const lookups: number[] = []
  for (let key = 0; key < 200; key += 1) {
    const missing = await trips(() => map.get(key))
    const inserted = await trips(() => map.set(key, key))
    assert.ok(missing <= 2 && inserted <= 5, `${missing} ${inserted}`)
    lookups.push(missing, inserted)
  }
  assert.deepEqual(
    [lookups.filter((count) => count === 1).length > 100, lookups.filter((count) => count === 3).length > 100],
    [true, true],
  )
  for (let key = 0; key < 200; key += 1) {
    assert.equal(await trips(() => map.get(key)), 2)
    if (key % 2 === 0) assert.equal(await trips(() => map.set(key, -key)), 3)
    else assert.equal(await trips(() => map.delete(key)), 3)
  }
})

test('counting in one key by all ranks at once loses nothing', async () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const world = new FakeWorld(3, seed, HOME, [0])
    const maps = await opened(world)
    await world.play(
      Promise.all(
        maps.map(async (map) => {
          for (let call = 0; call < 10; call += 1) await map.update('n', (value) => (value ?? 0) + 1)
        }),
      ),
    )
    assert.equal(await world.play(maps[0]!.get('n')), 30)
  }
})

test('of ranks that put one new key at once one does, and it is there once', async () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const world = new FakeWorld(3, seed, HOME, [0])
    const maps = await opened(world)
    const said = await world.play(Promise.all(maps.map((map, rank) => map.setIfAbsent('k', rank + 1))))
    assert.deepEqual([...said].sort(), [false, false, true], `seed ${seed}`)
    assert.deepEqual(await world.play(all(maps[1]!)), new Map([['k', said.indexOf(true) + 1]]), `seed ${seed}`)
  }
})

test('memory is used again: what was replaced and deleted, by whomever', async () => {
  const world = new FakeWorld(2, 5, HOME, [0])
  const [one, two] = (await world.play(Promise.all(world.structures.map((shared) => shared.map<Uint8Array>('m'))))) as [
    GroupMap<Uint8Array>,
    GroupMap<Uint8Array>,
  ]
  // Some ten times what there is.
  for (let round = 0; round < 200; round += 1) {
    const writer = round % 2 === 0 ? one : two
    const other = round % 2 === 0 ? two : one
    await world.play(Promise.all([1, 2, 3].map((key) => writer.set(key, new Uint8Array(15_000).fill(round)))))
    await world.play(other.delete(2))
    assert.equal((await world.play(other.get(3)))?.[14_999], round)
  }
  await assert.rejects(
    world.play(Promise.all(Array.from({ length: 60 }, (_, key) => one.set(`x${key}`, new Uint8Array(30_000))))),
    { code: 'ERR_AETHER_HEAP_FULL' },
  )
})

test('a map that is spread has a part at each home', async () => {
  const world = new FakeWorld(3, 1, HOME)
  const maps = await opened(world, { spread: true })
  for (let key = 0; key < 60; key += 1) await world.play(maps[key % 3]!.set(key, key))
  assert.equal((await world.play(all(maps[1]!))).size, 60)
  assert.equal(await world.play(maps[2]!.size()), 60)
  world.stop(2)
  const outcomes = await world.play(Promise.allSettled(Array.from({ length: 60 }, (_, key) => maps[0]!.get(key))))
  const kept = outcomes.filter(({ status }) => status === 'fulfilled').length
  assert.ok(kept > 25 && kept < 55, `${kept}`)
  await assert.rejects(world.play(world.structures[0]!.map('m', { codec: number })), {
    code: 'ERR_AETHER_STRUCTURE_MISMATCH',
  })
})
