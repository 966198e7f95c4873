import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { bytes, number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import {
  BodyOffset,
  namesVersion,
  SLOT_BYTES,
  SLOTS_PER_TABLE,
  SlotOffset,
} from '../../../../src/structures/distributed/mvrlu/layout.ts'
import { ObjectSlots } from '../../../../src/structures/distributed/mvrlu/object-slots.ts'
import type { GroupMvRlu } from '../../../../src/structures/index.ts'
import { drawnSeeds } from '../../../support/drawn.ts'
import {
  assertBank,
  assertWhole,
  bankTurns,
  change,
  make,
  move,
  openBank,
  playFreeing,
  playHistory,
  playLocks,
  playMisuse,
  playSnapshots,
  someActions,
  valuesOf,
  work,
} from '../../mvrlu-suite.ts'
import { FakeWorld } from '../fake-world.ts'

type Three = readonly [GroupMvRlu<number>, GroupMvRlu<number>, GroupMvRlu<number>]

/** Three ranks, of which the first is the home, with the objects `o`. */
async function settle(seed: number): Promise<{ readonly world: FakeWorld; readonly all: Three }> {
  const world = new FakeWorld(3, seed, 1024 * 1024, [0])
  const opening = world.structures.map((shared) => shared.mvRlu<number>('o', { codec: number, valueBytesMax: 8 }))
  return { world, all: (await world.play(Promise.all(opening))) as unknown as Three }
}

/** Blocks that something names, by the home's own look. */
async function blocksIn(world: FakeWorld): Promise<number> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  return (await world.play(takeCensus(home.on('a census')))).blocks.size
}

/** No slot is locked or has anything to be cut off, and so many have a version. */
async function assertSlots(world: FakeWorld, objects: number, what: string): Promise<void> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  const request = { kind: 'mv-rlu', name: 'o', parameters: [], makeBody: () => assert.fail() } as const
  const { offset } = await world.play(home.names.open(request))
  const slots = new ObjectSlots(home, home.on('a look'), offset, [])
  assert.deepEqual(await world.play(slots.dirty()), [], what)
  const table = Number(await world.play(home.on('a look').load64(offset + BodyOffset.Tables)))
  const read = await world.play(home.on('a look').read(table, 65_536))
  const heads = Array.from({ length: SLOTS_PER_TABLE }, (_, at) => read.word(at * SLOT_BYTES + SlotOffset.Head))
  assert.equal(heads.filter(namesVersion).length, objects, what)
}

test('a section sees one moment, and its own changes; others see them from the commit on, together', async () => {
  const { world, all } = await settle(1)
  await world.play(playSnapshots(all[1], all[2]))
})

test('an object is locked by one section at a time; what was only read is not guarded, unless it is locked, too', async () => {
  const { world, all } = await settle(2)
  await world.play(playLocks(all[1], all[2]))
})

test('what is misused says so', async () => {
  const { world, all } = await settle(3)
  await world.play(playMisuse(all[1], [0, 2 ** 52, 2 ** 20 - 1]))
})

/** The name, and the last write set. */
const BLOCKS = 2

test('what is freed is gone for later sections, there for earlier ones, and then its memory is used again', async () => {
  const { world, all } = await settle(4)
  await world.play(playFreeing(all[1], all[2], 20, () => all[1].collect()))
  assert.equal(await blocksIn(world), BLOCKS)
})

test('sections of several ranks do what snapshots of one history do', async () => {
  let seed = 0
  await fc.assert(
    fc.asyncProperty(someActions(), async (actions) => {
      seed += 1
      const { world, all } = await settle(seed)
      await world.play(playHistory({ all, collect: (by) => all[by]!.collect() }, actions))
    }),
    { numRuns: 20 },
  )
})

test('round trips are those that are documented', async () => {
  const { world, all } = await settle(5)
  const [x, y] = (await world.play(make(all[1], [1, 2]))) as [number, number]
  await world.play(valuesOf(all[1], [all[1].root]))
  const trips = async <T>(expected: number, what: string, call: () => Promise<T>): Promise<T> => {
    const before = world.ranks[1]!.roundTrips
    const result = await world.play(call())
    assert.equal(world.ranks[1]!.roundTrips - before, expected, what)
    return result
  }
  const first = await trips(1, 'readLock', () => all[1].readLock())
  await trips(1, 'dereference of what this rank has committed', () => first.dereference(x))
  await trips(0, 'dereference again', () => first.dereference(x))
  await trips(1, 'tryLock of what this rank has committed lately', () => first.tryLock(x))
  await world.play(first.abort())
  await world.play(all[1].collect())
  const section = await trips(1, 'readLock', () => all[1].readLock())
  await trips(1, 'dereference of a version that is known', () => section.dereference(x))
  await trips(2, 'tryLock of what was cut off since', () => section.tryLock(x))
  await trips(2, 'tryLockConst', () => section.tryLockConst(y))
  await trips(0, 'assign', () => section.assign(x, 2))
  await trips(1, 'allocate', () => section.allocate(3))
  await trips(3, 'readUnlock', () => section.readUnlock())
  const aborted = await trips(1, 'readLock', () => all[1].readLock())
  await trips(1, 'tryLock', () => aborted.tryLock(x))
  await trips(1, 'abort', () => aborted.abort())
  const reader = await trips(1, 'readLock', () => all[1].readLock())
  await world.play(change(all[2], async (other) => move(other, x, y, 1)))
  await trips(3, 'dereference of what was changed since', () => reader.dereference(x))
  await trips(0, 'the end of a section that has locked nothing', () => reader.readUnlock())
  const later = await trips(2, 'readLock after a commit of another', () => all[1].readLock())
  await trips(2, 'tryLock of what another has committed lately', () => later.tryLock(x))
  await trips(1, 'abort', () => later.abort())
  const other = await world.play(all[0].readLock())
  const before = world.ranks[0]!.roundTrips
  await world.play(other.dereference(x))
  assert.equal(world.ranks[0]!.roundTrips - before, 2, 'dereference of a version that is new here')
  await world.play(other.abort())
})

/** More than a section takes. */
const STEPS_MAX = 1000

test('a rank that is stopped between any two steps of a section has committed it or not, and leaves nothing', async () => {
  const outcomes = new Set<number>()
  let isOver = false
  for (const steps of drawnSeeds(STEPS_MAX, 5, 0)) {
    if (isOver) break
    const { world, all } = await settle(steps + 1)
    const [x, y] = (await world.play(make(all[2], [100, 0]))) as [number, number]
    // Of each rank one, so that all have blocks.
    await world.play(work(all[1], x, y))
    await world.play(work(all[2], x, y))
    world.ranks[1]!.stepsLeft = steps
    void work(all[1], x, y).then(() => (isOver = true))
    // Others are about the same meanwhile, in every second order.
    const others = steps % 2 === 1 ? world.play(work(all[2], x, y)) : undefined
    await (others ?? world.play(world.ranks[0]!.sleep(0.5)))
    world.stop(1)
    const done = steps % 2 === 1 ? 3 : 2
    const what = `after ${steps} steps`
    outcomes.add((await world.play(assertWhole(all[2], x, y, isOver ? [done + 1] : [done, done + 1], what))) - done)
    const found = await world.play(work(all[2], x, y).then(() => assertWhole(all[0], x, y, [done + 1, done + 2], what)))
    await world.play(work(all[0], x, y))
    await world.play(assertWhole(all[2], x, y, [found + 1], what))
    await world.play(world.ranks[0]!.sleep(5))
    await world.play(all[2].collect())
    await world.play(all[0].collect())
    // x, y, the root, and what it refers to.
    assert.equal(await blocksIn(world), BLOCKS + 4, what)
    await assertSlots(world, 4, what)
  }
  assert.ok(isOver)
  assert.deepEqual(outcomes, new Set([0, 1]))
})

test('ranks that change the same objects, one of them stopped at any step, see one moment each, and no memory is lost', async () => {
  for (const seed of drawnSeeds(12, 3)) {
    const { world, all } = await settle(seed)
    const below = (bound: number): number => world.random.below(bound)
    const bank = await world.play(openBank(all[2], 4))
    world.ranks[1]!.stepsLeft = below(1500)
    const turns = all.map((objects, rank) =>
      bankTurns(objects, bank, 30, below, () => world.ranks[rank]!.sleep(below(20) / 100)),
    )
    turns[1]!.catch(() => {})
    const moves = await world.play(Promise.all([turns[0], turns[2]]))
    assert.ok(
      moves.every((count) => (count ?? 0) > 0),
      `seed ${seed}: ${moves.join()}`,
    )
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(5))
    await world.play(assertBank(all[0], bank, `seed ${seed}`))
    for (const rank of [2, 0] as const) await world.play(all[rank].collect())
    assert.equal(await blocksIn(world), BLOCKS + 4, `seed ${seed}`)
    await assertSlots(world, 4, `seed ${seed}`)
  }
})

test('what a dead rank had on its way when its lock was taken over is refused, or was committed before', async () => {
  const outcomes = new Set<number>()
  for (const seed of drawnSeeds(60, 3)) {
    const { world, all } = await settle(seed)
    const [x, y] = (await world.play(make(all[2], [100, 0]))) as [number, number]
    const dying = await world.play(all[1].readLock())
    assert.equal(await world.play(move(dying, x, y, 1)), true)
    // The commit is on its way, and arrives until the home is told; the other may be told before.
    world.ranks[1]!.stepsLeft = seed % 10
    void dying.readUnlock()
    await setImmediate()
    if (seed % 10 === 0) world.stop(1)
    let moved = 0
    const taking = change(all[2], async (section) => {
      const got = await move(section, x, y, 10)
      if (!got) await world.ranks[2]!.sleep(0.01)
      return got
    }).then(() => (moved = 10))
    await world.play(taking)
    await world.play(world.ranks[0]!.sleep(5))
    const [left, right] = await world.play(valuesOf(all[0], [x, y]))
    outcomes.add(right! - moved)
    assert.deepEqual([left! + right!, moved], [100, 10], `seed ${seed}`)
    await world.play(all[2].collect())
    await world.play(all[0].collect())
    assert.equal(await blocksIn(world), BLOCKS + 2, `seed ${seed}`)
    await assertSlots(world, 2, `seed ${seed}`)
  }
  assert.deepEqual(outcomes, new Set([0, 1]))
})

test('there are more tables as they are needed, at several ranks at a time, and nothing is made twice', async () => {
  const { world, all } = await settle(6)
  const makeMany = (objects: GroupMvRlu<number>, values: readonly number[]): Promise<number[]> =>
    objects.update(
      async (section) => {
        const made: number[] = []
        for (const value of values) made.push(await section.allocate(value))
        return made
      },
      { objectsMax: 2000 },
    )
  const values = Array.from({ length: 1500 }, (_, at) => at)
  const made = await world.play(Promise.all(all.map((objects) => makeMany(objects, values))))
  const objects = made.flat()
  assert.equal(new Set(objects).size, 4500)
  assert.deepEqual(await world.play(valuesOf(all[0], objects)), [...values, ...values, ...values])
  // Of each table that nobody else has met.
  assert.deepEqual(await world.play(valuesOf(all[1], [objects[0]!, objects[4499]!])), [0, 1499])
})

test('where there is no memory a section can only be aborted, and the next one finds what was freed', async () => {
  const { world } = await settle(7)
  const objects = await world.play(world.structures[1]!.mvRlu<Uint8Array>('long', { codec: bytes }))
  const value = new Uint8Array(3000)
  const made: number[] = []
  const makeSome = (): Promise<number[]> =>
    objects.update((each) => Promise.all(Array.from({ length: 10 }, () => each.allocate(value))))
  const makeAll = async (): Promise<never> => {
    for (;;) made.push(...(await makeSome()))
  }
  await assert.rejects(world.play(makeAll()), { code: 'ERR_AETHER_HEAP_FULL' })
  assert.ok(made.length > 100)
  const section = await world.play(objects.readLock())
  const filling = async (): Promise<never> => {
    for (;;) await section.allocate(value)
  }
  await assert.rejects(world.play(filling()), { code: 'ERR_AETHER_HEAP_FULL' })
  await assert.rejects(world.play(section.readUnlock()), { code: 'ERR_AETHER_READ_SECTION' })
  await world.play(section.abort())
  await assert.rejects(world.play(makeSome()), { code: 'ERR_AETHER_HEAP_FULL' })
  const freeing = objects.update(async (each) => {
    for (const object of made.slice(0, 10)) {
      assert.equal(await each.tryLock(object), true)
      await each.free(object)
    }
  })
  await world.play(freeing)
  // What was freed is found by whoever needs it.
  await world.play(makeSome())
})

test('a structure whose home is lost says so; one that was closed in a section leaves no lock', async () => {
  const { world, all } = await settle(8)
  const [x] = (await world.play(make(all[2], [1]))) as [number]
  const section = await world.play(all[1].readLock())
  assert.equal(await world.play(section.tryLock(x)), true)
  await world.play(world.structures[1]!.close())
  await assert.rejects(world.play(section.dereference(x)), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(world.play(all[1].readLock()), { code: 'ERR_AETHER_CLOSED' })
  await world.play(change(all[2], async (each) => await each.tryLock(x)))
  const open = await world.play(all[2].readLock())
  world.stop(0)
  const lost = { code: 'ERR_AETHER_HOME_LOST', rank: 0, structure: "mv-rlu 'o'" }
  await assert.rejects(world.play(open.dereference(x)), lost)
  await assert.rejects(world.play(all[2].readLock()), lost)
})

test('what a dead rank has replaced in an object that a living one has locked is cut off when that one lets go of it', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const { world, all } = await settle(seed)
    const [x, y] = (await world.play(make(all[2], [100, 0]))) as [number, number]
    await world.play(all[2].collect())
    await world.play(work(all[1], x, y))
    const reader = await world.play(all[2].readLock())
    const living = await world.play(all[2].readLock())
    // Before the home looks, or while it waits for the reader.
    if (seed % 2 === 0) assert.equal(await world.play(living.tryLock(x)), true)
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(5))
    if (seed % 2 === 1) assert.equal(await world.play(living.tryLock(x)), true)
    await world.play(reader.abort())
    await world.play(world.ranks[0]!.sleep(5))
    // Each second of these it commits, and cuts off what it finds there itself.
    if (seed % 4 < 2) await world.play(living.assign(x, 7).then(() => living.readUnlock()))
    else await world.play(living.abort())
    await world.play(world.ranks[0]!.sleep(3000))
    if (seed % 4 < 2) await world.play(all[2].collect())
    await assertSlots(world, 4, `seed ${seed}`)
    assert.equal(await blocksIn(world), BLOCKS + 4, `seed ${seed}`)
  }
})
