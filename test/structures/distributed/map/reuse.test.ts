import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import type { GroupMap } from '../../../../src/structures/distributed/map/group-map.ts'
import type { MapKey } from '../../../../src/structures/index.ts'
import { drawnSeeds } from '../../../support/drawn.ts'
import { FakeWorld } from '../fake-world.ts'
import { openSmallTables } from './small-tables.ts'

const HOME = 4 * 1024 * 1024
const BUCKETS = 8
/** Entries of a map whose one table of 56 slots is about to be split. */
const FIRST = 38
/** So many that no entry comes to the place in a chunk where it was before: tables turn by four in each generation. */
const HELPED_BUCKETS = 16
const HELPED_FIRST = 76

async function fill(map: GroupMap<number>, from: number, count: number): Promise<void> {
  for (let key = from; key < from + count; key += 1) await map.set(key, key)
}

async function all(map: GroupMap<number>): Promise<Map<MapKey, number>> {
  const found = new Map<MapKey, number>()
  for await (const [key, value] of map) {
    assert.equal(found.has(key), false, String(key))
    found.set(key, value)
  }
  return found
}

/** Have rank 1 sleep from its step `steps` on, of `call`; false where it is done before. */
async function fallAsleep(world: FakeWorld, steps: number, call: Promise<unknown>): Promise<boolean> {
  let left = steps
  world.watch = (rank) => {
    if (rank !== 1) return
    left -= 1
    if (left === 0) world.paused.add(1)
  }
  if (steps === 0) world.paused.add(1)
  let done = false
  void call.then(() => (done = true))
  const waiting = async (): Promise<void> => {
    while (!done && !world.paused.has(1)) await world.ranks[0]!.sleep(0.02)
  }
  await world.play(waiting())
  world.watch = () => {}
  return world.paused.has(1)
}

/** The chunk of the first table of a map, while it has one. */
async function firstTable(world: FakeWorld): Promise<number> {
  const { tables } = await world.play(takeCensus(new HomeStructures(world.ranks[0]!, 0).on('a census')))
  assert.equal(tables.size, 1)
  return [...tables].map((table) => table / 65_536)[0]!
}

/** How often a chunk has been a table. */
async function generation(world: FakeWorld, chunk: number): Promise<number> {
  return (await world.play(new HomeStructures(world.ranks[0]!, 0).pool.chunks.at(chunk))).tagFloor
}

test('a reader that sleeps at any step of a lookup, while the chunk of its table is made another table, finds what is there', async () => {
  let slept = 0
  for (let steps = 0; steps < 12; steps += 1) {
    const world = new FakeWorld(2, steps + 1, HOME, [0])
    const [writer, reader] = (await openSmallTables(world, BUCKETS)) as [GroupMap<number>, GroupMap<number>]
    await world.play(fill(writer, 0, FIRST))
    const root = await firstTable(world)
    const answer = reader.get(7)
    const none = reader.get(-1)
    if (await fallAsleep(world, steps, Promise.all([answer, none]))) slept += 1
    await world.play(fill(writer, 1000, 250))
    await world.play(writer.set(7, -7))
    assert.ok((await generation(world, root)) > 1, 'the chunk is another table')
    world.paused.delete(1)
    // What was there when it began, or is now.
    assert.ok([7, -7].includes((await world.play(answer))!), `${steps}`)
    assert.equal(await world.play(none), undefined)
    assert.equal(await world.play(reader.get(7)), -7)
  }
  assert.ok(slept > 5, `${slept}`)
})

test('a helper that sleeps at any step of a split, while its chunks are made other tables, changes nothing in them', async () => {
  let slept = 0
  const turns = drawnSeeds(31, 3, 0)
  for (const steps of turns.map((turn) => 1 + 23 * turn)) {
    const world = new FakeWorld(2, steps, HOME, [0])
    const [writer, helper] = (await openSmallTables(world, HELPED_BUCKETS)) as [GroupMap<number>, GroupMap<number>]
    await world.play(fill(writer, 0, HELPED_FIRST))
    const root = await firstTable(world)
    // Until the table is full for one of them, and it begins to split it.
    const helping = fill(helper, 500, 30)
    if (await fallAsleep(world, steps, helping)) slept += 1
    const expected = new Map<number, number>()
    for (let key = 20; key < HELPED_FIRST; key += 1) expected.set(key, key)
    for (let key = 0; key < 20; key += 1) await world.play(writer.delete(key))
    for (let key = 1000; key < 1160; key += 1) expected.set(key, key)
    await world.play(fill(writer, 1000, 160))
    for (let key = 30; key < HELPED_FIRST; key += 1) expected.set(key, -key)
    for (let key = 30; key < HELPED_FIRST; key += 1) await world.play(writer.set(key, -key))
    world.paused.delete(1)
    await world.play(helping)
    for (let key = 500; key < 530; key += 1) expected.set(key, key)
    const found = await world.play(all(writer))
    assert.deepEqual(
      [...found].sort(([a], [b]) => Number(a) - Number(b)),
      [...expected].sort(([a], [b]) => a - b),
      `${steps}`,
    )
    for (const [key, value] of expected) assert.equal(await world.play(helper.get(key)), value, `${steps}, ${key}`)
    const made = await generation(world, root)
    assert.ok(made > 1 && made <= HELPED_BUCKETS / 4, `the chunk is another table, with other places: ${made}`)
  }
  assert.ok(slept > turns.length / 2, `${slept}`)
})
