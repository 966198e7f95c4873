import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import type { GroupMap } from '../../../../src/structures/index.ts'
import { FakeWorld } from '../fake-world.ts'

const HOME = 1024 * 1024

/** A map as each rank has it. Home is rank 0. */
async function opened(world: FakeWorld, options: object): Promise<GroupMap<number>[]> {
  return await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number, ...options }))))
}

async function fill(map: GroupMap<number>, from: number, count: number): Promise<void> {
  for (let key = from; key < from + count; key += 1) await map.set(key, key)
}

/** Blocks that something at the home names, but for the map's own. */
async function entriesOf(world: FakeWorld): Promise<number> {
  // What nobody waited for.
  await world.play(world.ranks[0]!.sleep(5))
  return (await world.play(takeCensus(new HomeStructures(world.ranks[0]!, 0).on('a census')))).blocks.size - 1
}

const passers: readonly (readonly [string, (map: GroupMap<number>) => Promise<unknown>, unknown])[] = [
  ['get', (map) => map.get(3), undefined],
  ['has', (map) => map.has(3), false],
  ['compareAndSet', (map) => map.compareAndSet(3, 3, 4), false],
  ['delete', (map) => map.delete(3), false],
  ['update', (map) => map.update(3, (value) => value), undefined],
]

for (const [name, pass, said] of passers) {
  test(`who meets an entry whose life is over removes it: ${name}`, async () => {
    const world = new FakeWorld(2, 1, HOME, [0])
    const [one, two] = (await opened(world, { ttlMs: 1000 })) as [GroupMap<number>, GroupMap<number>]
    await world.play(fill(one, 0, 5))
    await world.play(one.set(3, 3, { ttlMs: 500 }))
    world.nowMs += 700
    assert.equal(await world.play(two.size()), 5)
    assert.deepEqual(await world.play(pass(two)), said)
    assert.equal(await entriesOf(world), 4)
    assert.equal(await world.play(two.size()), 4)
    assert.equal(await world.play(two.get(4)), 4)
  })
}

test('an iteration gives none whose life is over, and removes them', async () => {
  const world = new FakeWorld(2, 2, HOME, [0])
  const [one, two] = (await opened(world, { maxEntries: 100 })) as [GroupMap<number>, GroupMap<number>]
  await world.play(fill(one, 0, 30))
  for (let key = 10; key < 30; key += 1) await world.play(one.set(key, key, { ttlMs: 100 }))
  world.nowMs += 200
  let count = 0
  const all = async (): Promise<void> => {
    for await (const [key] of two) {
      count += 1
      assert.ok(Number(key) < 10)
    }
  }
  await world.play(all())
  assert.equal(count, 10)
  assert.equal(await entriesOf(world), 10)
  // They do not count towards the bound any more.
  await world.play(fill(one, 1000, 90))
  assert.equal(await world.play(two.size()), 100)
  assert.equal(await world.play(two.get(5)), 5)
})

test('a get of an entry whose life is over waits for two round trips, as every get does', async () => {
  const world = new FakeWorld(1, 3, HOME)
  const [map] = (await opened(world, { ttlMs: 10 })) as [GroupMap<number>]
  await world.play(map.set('k', 1))
  world.nowMs += 20
  const memory = world.ranks[0]!
  const before = memory.roundTrips
  assert.equal(await world.play(map.get('k')), undefined)
  // Two, and one that nobody waits for.
  assert.equal(memory.roundTrips - before, 3)
})

test('what nobody asks for is removed by those who write other keys, in no more round trips', async () => {
  const world = new FakeWorld(2, 4, HOME, [0])
  const options = { maxEntries: 200, ttlMs: 1000 }
  const [one, two] = (await opened(world, options)) as [GroupMap<number>, GroupMap<number>]
  await world.play(fill(one, 0, 150))
  world.nowMs += 1500
  // A few keys over and over: these never reach the bound.
  for (let round = 0; round < 6; round += 1) await world.play(fill(two, 1000, 45))
  // 45 that live, and those in buckets that none of them may be in.
  const left = await entriesOf(world)
  assert.ok(left < 90, `${left}`)
  const memory = world.ranks[1]!
  const before = memory.roundTrips
  await world.play(two.set(1000, 1))
  assert.ok(memory.roundTrips - before <= 4)
})

test('memory of entries that expired is used again by who wrote them', async () => {
  const world = new FakeWorld(2, 5, HOME, [0])
  const [one, two] = (await world.play(
    Promise.all(world.structures.map((shared) => shared.map<Uint8Array>('big', { ttlMs: 1000 }))),
  )) as [GroupMap<Uint8Array>, GroupMap<Uint8Array>]
  for (let round = 0; round < 8; round += 1) {
    for (let key = 0; key < 30; key += 1) await world.play(one.set(`${round} ${key}`, new Uint8Array(14_000)))
    world.nowMs += 1500
    for (let key = 0; key < 30; key += 1) assert.equal(await world.play(two.get(`${round} ${key}`)), undefined)
    assert.equal(await world.play(two.size()), 0)
  }
})
