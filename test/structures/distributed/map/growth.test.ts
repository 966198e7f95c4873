import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupMap } from '../../../../src/structures/index.ts'
import { drawnSeeds } from '../../../support/drawn.ts'
import { FakeWorld } from '../fake-world.ts'
import { Histories } from '../histories.ts'
import { entriesOf, fill, openSmallTables, tablesOf } from './small-tables.ts'

const HOME = 2 * 1024 * 1024
const BUCKETS = 8
/** How many orders there are, of which some are played; AETHER_TEST_HISTORIES=1000 makes a soak of it. */
const HISTORIES = Math.ceil(Number(process.env['AETHER_TEST_HISTORIES'] ?? 150) / 5)
const seeds = drawnSeeds(HISTORIES, 5, 1, process.env['AETHER_TEST_HISTORIES'] !== undefined)

test('a map grows while all ranks write, read and go through it, and everything is there once', async () => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const world = new FakeWorld(3, seed, HOME, [0])
    const maps = await openSmallTables(world, BUCKETS)
    await world.play(fill(maps[0]!, 0, 20))
    const reading = async (map: GroupMap<number>): Promise<void> => {
      for (let round = 0; round < 10; round += 1) {
        for (let key = 0; key < 20; key += 1) assert.equal(await map.get(key), key)
        const found = await entriesOf(map)
        for (let key = 0; key < 20; key += 1) assert.equal(found.get(key), key)
      }
    }
    await world.play(Promise.all([...maps.map((map, rank) => fill(map, 20 + rank * 100, 100)), reading(maps[2]!)]))
    for (const map of maps) assert.equal(await world.play(map.size()), 320)
    const found = await world.play(entriesOf(maps[1]!))
    assert.deepEqual(
      [...found.keys()].sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 320 }, (_, at) => at),
    )
    // 56 slots a table.
    assert.ok((await tablesOf(world)).live.size >= 6)
    await world.play(maps[0]!.clear())
    assert.equal(await world.play(maps[1]!.size()), 0)
  }
})

test('a lookup takes two round trips at most where the tables are known, and one more where they are not', async () => {
  const world = new FakeWorld(2, 1, HOME, [0])
  const [one, two] = (await openSmallTables(world, BUCKETS)) as [GroupMap<number>, GroupMap<number>]
  const trips = async (call: () => Promise<unknown>): Promise<number> => {
    const before = world.ranks[1]!.roundTrips
    await world.play(call())
    return world.ranks[1]!.roundTrips - before
  }
  const seen = new Set<number>()
  for (let key = 0; key < 200; key += 1) {
    await world.play(one.set(key, key))
    // Also in the middle of a split.
    const stale = await trips(() => two.get(key))
    seen.add(stale)
    assert.ok(stale <= 4, `${stale}`)
    for (let known = 0; known <= key; known += 37) {
      await world.play(two.get(known))
      assert.equal(await trips(() => two.get(known)), 2)
    }
  }
  assert.ok(seen.has(2) && seen.has(4), [...seen].join(' '))
})

test('what ranks see of a map that grows, in any order of their steps, could have happened one after the other', async () => {
  let grown = 0
  for (const seed of seeds) {
    const world = new FakeWorld(3, seed, HOME, [0])
    const histories = new Histories(() => world.steps)
    const maps = await openSmallTables(world, BUCKETS)
    // Full but for some.
    await world.play(fill(maps[0]!, 0, 40))
    const clients = [...maps, ...maps].map((map, client) => histories.makeCalls(map, seed * 100 + client, 8, 3))
    await world.play(Promise.all([...clients, ...maps.map((map, rank) => fill(map, 1000 + rank * 100, 25))]))
    histories.check(`seed ${seed}`)
    if ((await tablesOf(world)).live.size > 1) grown += 1
    assert.equal(
      [...(await world.play(entriesOf(maps[2]!))).keys()].filter((key) => typeof key === 'number').length,
      115,
    )
  }
  assert.ok(grown > seeds.length / 2, `${grown}`)
})

test('the same where a rank is stopped at any step and another is paused; nothing is lost, and no table is left over', async () => {
  let left = 0
  for (const seed of seeds) {
    const world = new FakeWorld(3, seed, HOME, [0])
    const histories = new Histories(() => world.steps)
    const maps = await openSmallTables(world, BUCKETS)
    await world.play(fill(maps[1]!, 0, 44))
    world.ranks[1]!.stepsLeft = world.random.below(1200)
    const acknowledged: number[] = []
    const dying = async (): Promise<void> => {
      for (let key = 100; key < 200; key += 1) {
        await maps[1]!.set(key, key)
        acknowledged.push(key)
      }
    }
    void dying().catch(() => {})
    const living = [0, 2].map((rank) => histories.makeCalls(maps[rank]!, seed * 100 + rank, 8, 3))
    void world.ranks[0]!.sleep(world.random.below(300) / 1000).then(() => world.paused.add(2))
    void world.ranks[0]!.sleep(0.6).then(() => world.paused.delete(2))
    await world.play(Promise.all([...living, fill(maps[0]!, 300, 10)]))
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(2))
    const last = [0, 2].map((rank) => histories.makeCalls(maps[rank]!, seed * 100 + 50 + rank, 4, 3))
    await world.play(Promise.all([...last, fill(maps[2]!, 400, 40)]))
    histories.check(`seed ${seed}`)
    const found = await world.play(entriesOf(maps[0]!))
    for (const key of [...acknowledged, ...Array.from({ length: 44 }, (_, at) => at)])
      assert.equal(found.get(key), key, `seed ${seed}, ${key}`)
    const { live, taken } = await tablesOf(world)
    left += [...taken].filter((table) => !live.has(table)).length
  }
  assert.equal(left, 0)
})

test('a map that cannot grow for want of memory refuses new keys and takes the others; what is deleted makes room', async () => {
  const world = new FakeWorld(1, 3, 1024 * 1024)
  const [map] = (await openSmallTables(world, BUCKETS)) as [GroupMap<number>]
  let count = 0
  const grow = async (): Promise<void> => {
    for (; ; count += 1) await map.set(count, count)
  }
  await assert.rejects(world.play(grow()), { code: 'ERR_AETHER_HEAP_FULL' })
  assert.ok(count > 300, `${count}`)
  assert.equal(await world.play(map.size()), count)
  for (let key = 0; key < count; key += 7) await world.play(map.set(key, -key))
  assert.equal(await world.play(map.get(7)), -7)
  await world.play(map.clear())
  await world.play(map.set(count, 1))
  assert.equal(await world.play(map.size()), 1)
})
