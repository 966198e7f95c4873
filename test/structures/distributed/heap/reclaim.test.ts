import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytes } from '../../../../src/codecs/index.ts'
import type { GroupMap } from '../../../../src/structures/index.ts'
import { HeapFullError } from '../../../../src/structures/index.ts'
import { FakeWorld } from '../fake-world.ts'

const HOME = 1024 * 1024
const VALUE = new Uint8Array(14_000)

/** A map as each rank has it. Home is rank 0. */
async function opened(world: FakeWorld): Promise<GroupMap<Uint8Array>[]> {
  return await world.play(Promise.all(world.structures.map((shared) => shared.map<Uint8Array>('m'))))
}

/** Put values until there is no memory. How many there was room for, and the error. */
async function fill(map: GroupMap<Uint8Array>, value: Uint8Array = VALUE): Promise<[number, HeapFullError]> {
  for (let count = 0; ; count += 1) {
    try {
      await map.set(count, value)
    } catch (error) {
      if (!(error instanceof HeapFullError)) throw error
      return [count, error]
    }
  }
}

test('what one rank filled and emptied another uses, for values of any length, while the first does nothing', async () => {
  const world = new FakeWorld(3, 1, HOME, [0])
  const [, one, two] = (await opened(world)) as [unknown, GroupMap<Uint8Array>, GroupMap<Uint8Array>]
  const [many] = await world.play(fill(one))
  assert.ok(many > 30, `${many}`)
  await world.play(one.clear())
  assert.equal((await world.play(fill(two)))[0], many)
  // Also where it was another who deleted it, and in chunks of another class.
  await world.play(one.clear())
  const [more] = await world.play(fill(one, new Uint8Array(1000)))
  assert.ok(more > 8 * many, `${more}`)
  await world.play(two.clear())
  assert.equal((await world.play(fill(two)))[0], many)
})

test('memory that one rank gave up makes room for a table and a log of another', async () => {
  const world = new FakeWorld(2, 2, HOME, [0])
  const [one] = (await opened(world)) as [GroupMap<Uint8Array>]
  await world.play(fill(one))
  await world.play(one.clear())
  await world.play(world.structures[1]!.log('l', { capacity: 30_000 }))
  await world.play(world.structures[1]!.map('n', { capacity: 15_000 }))
})

test('a home that is full says so in bounded time, and that no rank has any memory to release', async () => {
  const world = new FakeWorld(3, 3, HOME, [0])
  const [, one, two] = (await opened(world)) as [unknown, GroupMap<Uint8Array>, GroupMap<Uint8Array>]
  await world.play(fill(one))
  const began = world.nowMs
  await assert.rejects(world.play(two.set('x', VALUE)), {
    code: 'ERR_AETHER_HEAP_FULL',
    message: /kept at rank 0; no rank has any to release/,
  })
  assert.ok(world.nowMs - began < 1000)
})

test('a rank that is paused is waited for, for a bounded time, and the error says that it did not answer', async () => {
  const world = new FakeWorld(3, 4, HOME, [0])
  const [, one, two] = (await opened(world)) as [unknown, GroupMap<Uint8Array>, GroupMap<Uint8Array>]
  await world.play(fill(one))
  await world.play(one.clear())
  world.paused.add(1)
  const began = world.nowMs
  await assert.rejects(world.play(two.set('x', VALUE)), { message: /1 of 2 other ranks did not answer in time/ })
  assert.ok(world.nowMs - began < 1500, `${world.nowMs - began}`)
  world.paused.delete(1)
  await world.play(world.ranks[0]!.sleep(500))
  await world.play(two.set('x', VALUE))
})

test('a rank that is stopped at any step of giving back loses nothing: its memory is the home’s', async () => {
  for (let steps = 0; steps < 60; steps += 3) {
    const world = new FakeWorld(3, steps + 1, HOME, [0])
    const [, one, two] = (await opened(world)) as [unknown, GroupMap<Uint8Array>, GroupMap<Uint8Array>]
    const [many] = await world.play(fill(one))
    await world.play(one.clear())
    world.ranks[1]!.stepsLeft = steps
    await world.play(two.set(0, VALUE).catch(() => {}))
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(500))
    await world.play(two.clear())
    assert.ok((await world.play(fill(two)))[0] >= many, `${steps}`)
  }
})

test('old versions of objects make room for whatever there is no memory for, also of a rank that has not opened the objects', async () => {
  for (const asked of [0, 1, 2] as const) {
    const world = new FakeWorld(3, 5 + asked, HOME, [0])
    const maps = (await opened(world)) as [GroupMap<Uint8Array>, GroupMap<Uint8Array>, GroupMap<Uint8Array>]
    const objects = await world.play(world.structures[1]!.mvRlu<Uint8Array>('o', { codec: bytes }))
    const replace = (): Promise<void> =>
      objects.update(async (section) => {
        assert.equal(await section.tryLock(objects.root), true)
        await section.assign(objects.root, VALUE)
      })
    await world.play(replace())
    const [many] = await world.play(fill(maps[asked]))
    await world.play(maps[asked].clear())
    // Fewer than are collected after by themselves.
    for (let count = 0; count < 20; count += 1) await world.play(replace())
    // But for the rest of a chunk or two.
    const [again] = await world.play(fill(maps[asked]))
    assert.ok(again >= many - 6, `${again} of ${many}`)
    const section = await world.play(objects.readLock())
    assert.deepEqual(await world.play(section.dereference(objects.root)), VALUE)
  }
})

test('versions that a section wants are kept, whoever is short of memory, and given back when it has ended', async () => {
  const world = new FakeWorld(3, 8, HOME, [0])
  const [, , map] = (await opened(world)) as [unknown, unknown, GroupMap<Uint8Array>]
  const objects = await world.play(world.structures[1]!.mvRlu<Uint8Array>('o', { codec: bytes }))
  const replace = (value: Uint8Array): Promise<void> =>
    objects.update(async (section) => {
      assert.equal(await section.tryLock(objects.root), true)
      await section.assign(objects.root, value)
    })
  await world.play(replace(VALUE))
  const section = await world.play(objects.readLock())
  for (let count = 0; count < 20; count += 1) await world.play(replace(new Uint8Array(14_000).fill(count)))
  const [few] = await world.play(fill(map))
  assert.deepEqual(await world.play(section.dereference(objects.root)), VALUE)
  await world.play(section.abort())
  const [more] = await world.play(fill(map))
  assert.ok(more >= few + 10, `${more}, ${few}`)
})
