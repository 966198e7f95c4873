import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import type { Command } from '../../../../src/structures/distributed/memory/command.ts'
import type { GroupMap, MapKey } from '../../../../src/structures/index.ts'
import { drawn, drawnSeeds } from '../../../support/drawn.ts'
import { FakeWorld } from '../fake-world.ts'
import { openSmallTables } from './small-tables.ts'

const HOME = 1024 * 1024

/** A map as each rank has it. Home is rank 0. */
async function opened(world: FakeWorld, maxEntries: number): Promise<GroupMap<number>[]> {
  return await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number, maxEntries }))))
}

async function keysOf(map: GroupMap<number>): Promise<MapKey[]> {
  const keys: MapKey[] = []
  for await (const [key, value] of map) {
    assert.equal(value, key)
    keys.push(key)
  }
  return keys
}

async function fill(map: GroupMap<number>, from: number, count: number): Promise<void> {
  for (let key = from; key < from + count; key += 1) await map.set(key, key)
}

/** How many batches of a rank were carried out from the begin to the end of a call: those that it waited for. */
async function waitedFor(world: FakeWorld, rank: number, call: () => Promise<unknown>): Promise<number> {
  const memory = world.ranks[rank]!
  const run = memory.run.bind(memory)
  let done = 0
  memory.run = async (home: number, what: string, batch: readonly Command[]): Promise<void> => {
    await run(home, what, batch)
    done += 1
  }
  try {
    return await world.play(call().then(() => done))
  } finally {
    memory.run = run
  }
}

test('nothing goes before the bound, and beyond it one for each that comes', async () => {
  for (const maxEntries of drawn([1, 2, 10, 56, 300], 2)) {
    const world = new FakeWorld(2, maxEntries, HOME, [0])
    const [one, two] = (await opened(world, maxEntries)) as [GroupMap<number>, GroupMap<number>]
    for (let key = 0; key < 2 * maxEntries + 5; key += 1) {
      await world.play((key % 2 === 0 ? one : two).set(key, key))
      assert.equal(await world.play(one.get(key)), key)
      assert.equal(await world.play(two.size()), Math.min(key + 1, maxEntries))
    }
  }
})

test('what was not used for longest goes first; a get uses, has does not', async () => {
  const world = new FakeWorld(2, 3, HOME, [0])
  const [one, two] = (await opened(world, 10)) as [GroupMap<number>, GroupMap<number>]
  await world.play(fill(one, 0, 10))
  // In another order than that in which they came.
  for (const key of [3, 1, 4]) assert.equal(await world.play(two.get(key)), key)
  assert.equal(await world.play(two.has(0)), true)
  await world.play(one.set(5, 5))
  await world.play(fill(two, 100, 6))
  assert.deepEqual(new Set(await world.play(keysOf(one))), new Set([1, 3, 4, 5, 100, 101, 102, 103, 104, 105]))
})

test('of a map with more than one look at it sees, those that are used stay, but for few', async () => {
  const world = new FakeWorld(2, 5, HOME, [0])
  const [one, two] = (await opened(world, 400)) as [GroupMap<number>, GroupMap<number>]
  await world.play(fill(one, 0, 400))
  for (let key = 0; key < 100; key += 1) await world.play(one.get(key))
  for (let key = 1000; key < 2000; key += 1) {
    await world.play(two.set(key, key))
    await world.play(two.get(key % 100))
  }
  const there = new Set(await world.play(keysOf(one)))
  const stayed = Array.from({ length: 100 }, (_, key) => there.has(key)).filter(Boolean).length
  assert.ok(stayed > 90, `${stayed}`)
  assert.equal(Array.from({ length: 300 }, (_, key) => there.has(key + 100)).filter(Boolean).length, 0)
})

test('deleted entries do not count, whoever deletes them', async () => {
  const world = new FakeWorld(2, 7, HOME, [0])
  const [one, two] = (await opened(world, 20)) as [GroupMap<number>, GroupMap<number>]
  for (let round = 0; round < 5; round += 1) {
    await world.play(fill(one, 0, 20))
    for (let key = 0; key < 10; key += 1) assert.equal(await world.play(two.delete(key)), true)
    await world.play(fill(two, 20, 10))
    assert.equal(await world.play(one.size()), 20)
    assert.equal(await world.play(one.get(10)), 10)
    await world.play(two.clear())
    assert.equal(await world.play(one.size()), 0)
  }
})

test('a get waits for two round trips at most, marks included, and a set of a full map for no more than of any', async () => {
  const world = new FakeWorld(2, 9, HOME, [0])
  const [one] = (await opened(world, 50)) as [GroupMap<number>]
  await world.play(fill(one, 0, 50))
  const posted = world.ranks[0]!.roundTrips
  for (let key = 0; key < 50; key += 1) {
    assert.equal(await waitedFor(world, 0, () => one.get(key)), 2)
    assert.ok((await waitedFor(world, 0, () => one.get(-1 - key))) <= 2)
  }
  // Marks were posted, and nobody waited for them.
  assert.ok(world.ranks[0]!.roundTrips - posted > 150)
  const news: number[] = []
  for (let key = 100; key < 300; key += 1) {
    news.push(await waitedFor(world, 0, () => one.set(key, key)))
    assert.equal(await world.play(one.size()), 50)
    assert.equal(await waitedFor(world, 0, () => one.set(key, key)), 3)
    if (key % 10 === 0) {
      assert.equal(await waitedFor(world, 0, () => one.delete(key)), 3)
      await world.play(one.set(key, key))
    }
  }
  // Look, claim, confirm; two more where a fingerprint is the same by chance, in one of ten. Blocks come from a sweep
  // now and then.
  assert.ok(news.filter((trips) => trips <= 5).length > 195, news.join(' '))
  assert.ok(news.filter((trips) => trips === 3).length > 150, news.join(' '))
})

test('ranks that put new keys at once keep the bound, but for as many as they are', async () => {
  for (const seed of drawnSeeds(20, 3)) {
    const world = new FakeWorld(3, seed, HOME, [0])
    const maps = await opened(world, 12)
    let over = 0
    const watching = async (): Promise<void> => {
      for (let look = 0; look < 20; look += 1) over = Math.max(over, (await maps[0]!.size()) - 12)
    }
    await world.play(Promise.all([...maps.map((map, rank) => fill(map, rank * 100, 40)), watching()]))
    assert.ok(over <= 3, `seed ${seed}: ${over}`)
    assert.ok((await world.play(maps[0]!.size())) <= 12, `seed ${seed}`)
    await world.play(fill(maps[1]!, 1000, 3))
    assert.equal(await world.play(maps[0]!.size()), 12, `seed ${seed}`)
  }
})

test('a map that grows keeps its bound, and how old its entries are', async () => {
  for (const seed of drawnSeeds(3, 3)) {
    const world = new FakeWorld(3, seed, 2 * HOME, [0])
    const maps = await openSmallTables(world, 8, 150)
    await world.play(fill(maps[0]!, 0, 30))
    for (let key = 100; key < 600; key += 3) {
      await world.play(Promise.all(maps.map((map, rank) => map.set(key + rank, key + rank))))
      for (let used = 0; used < 30; used += 6) assert.equal(await world.play(maps[key % 3]!.get(used)), used, `${key}`)
    }
    assert.ok((await world.play(maps[1]!.size())) <= 150 + 3)
    await world.play(fill(maps[2]!, 1000, 200))
    assert.equal(await world.play(maps[1]!.size()), 150)
    assert.equal((await world.play(keysOf(maps[1]!))).length, 150)
  }
})

test('memory that runs out before the bound makes entries go', async () => {
  const world = new FakeWorld(1, 1, HOME)
  const map = await world.play(world.structures[0]!.map<Uint8Array>('big', { maxEntries: 1000 }))
  for (let key = 0; key < 100; key += 1) await world.play(map.set(key, new Uint8Array(20_000).fill(key)))
  assert.equal((await world.play(map.get(99)))?.[19_999], 99)
  assert.ok((await world.play(map.size())) > 10)
})

test('a map that is spread bounds each part; another bound is refused, and both are shown', async () => {
  const world = new FakeWorld(3, 1, HOME)
  const options = { codec: number, maxEntries: 30, spread: true }
  const maps = await world.play(Promise.all(world.structures.map((shared) => shared.map('m', options))))
  for (let key = 0; key < 200; key += 1) await world.play(maps[key % 3]!.set(key, key))
  assert.equal(await world.play(maps[0]!.size()), 30)
  await assert.rejects(world.play(world.structures[1]!.map('m', { ...options, maxEntries: 33 })), {
    code: 'ERR_AETHER_STRUCTURE_MISMATCH',
    message: /made with maxEntries 30, opened with maxEntries 33/,
  })
  await assert.rejects(world.structures[0]!.map('x', { maxEntries: 1.5 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('a rank that is stopped at any step of an eviction leaves a map that keeps its bound', async () => {
  let seen = 0
  const stops = drawnSeeds(120, 5, 0)
  for (const steps of stops) {
    const world = new FakeWorld(3, steps + 1, HOME, [0])
    const maps = await opened(world, 8)
    await world.play(fill(maps[1]!, 0, 8))
    world.ranks[1]!.stepsLeft = steps
    let done = false
    void fill(maps[1]!, 100, 2).then(() => (done = true))
    if (steps % 2 === 1) await world.play(maps[2]!.get(3))
    await world.play(world.ranks[0]!.sleep(0.5))
    if (!done) seen += 1
    world.stop(1)
    // The home is told, and looks twice at what is there.
    await world.play(world.ranks[0]!.sleep(3))
    for (const [rank, from] of [
      [0, 200],
      [2, 300],
    ] as const) {
      await world.play(fill(maps[rank]!, from, 20))
      assert.equal(await world.play(maps[0]!.size()), 8, `${steps}`)
      assert.equal((await world.play(keysOf(maps[2]!))).length, 8, `${steps}`)
    }
    const { blocks, tentative } = await censusOf(world)
    assert.equal(tentative, 0, `${steps}`)
    // The name of the map, and its entries.
    assert.equal(blocks, 9, `${steps}`)
  }
  assert.ok(seen > stops.length / 3, `${seen}`)
})

async function censusOf(world: FakeWorld): Promise<{ blocks: number; tentative: number }> {
  const { blocks, tentative } = await world.play(takeCensus(new HomeStructures(world.ranks[0]!, 0).on('a census')))
  return { blocks: blocks.size, tentative: tentative.length }
}
