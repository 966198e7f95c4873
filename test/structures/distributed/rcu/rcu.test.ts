import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import { bytes, type GroupCell, type GroupRcu, type GroupStructures } from '../../../../src/structures/index.ts'
import { type AnyReader, playCell, playOverlaps, playPeriods } from '../../rcu-suite.ts'
import { FakeWorld } from '../fake-world.ts'
import { SimulatedWorld } from '../simulated-world.ts'

/** Orders that each test draws. */
const SEEDS = 20

function small(ranks: number, seed: number): FakeWorld {
  return new FakeWorld(ranks, seed, 1024 * 1024, [0])
}

async function readersOf(all: readonly GroupStructures[]): Promise<AnyReader[]> {
  return await Promise.all(
    all.map(async ({ rcu }, rank) => anyReader(rcu, await all[rank]!.cell('c', { codec: number }))),
  )
}

function anyReader(rcu: GroupRcu, cell: GroupCell<number>): AnyReader {
  return {
    readLock: () => rcu.readLock(),
    async present() {
      using _section = rcu.readLock()
      return await rcu.dereference(cell)
    },
    assign: (value) => rcu.assign(cell, value),
    update: (change) => rcu.update(cell, change),
    moment() {
      const state = rcu.getState()
      return () => rcu.pollState(state)
    },
  }
}

test('a cell between machines, its versions and grace periods are as on one', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(3, seed)
    const [a, b, c] = (await world.play(readersOf(world.structures))) as [AnyReader, AnyReader, AnyReader]
    await world.play(playCell(b, c))
    await world.play(playPeriods(a, [b, c]))
    await world.play(playOverlaps(b, a))
  }
})

test('the same over simulated adapters', async () => {
  using world = new SimulatedWorld(3, 9)
  const [a, b, c] = (await world.play(readersOf(world.structures))) as [AnyReader, AnyReader, AnyReader]
  await world.play(playCell(b, c))
  await world.play(playPeriods(a, [b, c]))
  await world.play(playOverlaps(b, a))
})

test('how many round trips each call takes', async () => {
  const world = small(2, 1)
  const [one, other] = world.structures as [GroupStructures, GroupStructures]
  const { rcu } = one
  const cell = await world.play(one.cell<number>('c'))
  const theirs = await world.play(other.cell<number>('c'))
  await world.play(rcu.assign(cell, 1))
  using _section = other.rcu.readLock()
  const calls: (readonly [number, () => Promise<unknown>, rank?: number])[] = [
    [0, async () => rcu.readLock().readUnlock()],
    [1, () => rcu.assign(cell, 2)],
    [2, () => other.rcu.dereference(theirs), 1],
    [1, () => other.rcu.dereference(theirs), 1],
    [2, () => rcu.update(cell, (value) => (value ?? 0) + 1)],
    [1, () => other.rcu.pollState(other.rcu.getState()), 1],
  ]
  for (const [trips, call, rank = 0] of calls) {
    const before = world.ranks[rank]!.roundTrips
    await world.play(call())
    assert.equal(world.ranks[rank]!.roundTrips - before, trips, String(call))
  }
})

test('callbacks run after a grace period, in order; a barrier waits for those before it', async () => {
  const world = small(2, 3)
  const [{ rcu }, other] = world.structures as [GroupStructures, GroupStructures]
  const ran: string[] = []
  const section = other.rcu.readLock()
  rcu.call(() => ran.push('first'))
  rcu.call(() => ran.push('second'))
  const barrier = rcu.barrier().then(() => ran.push('barrier'))
  const stop = new AbortController()
  const stopped = rcu.synchronize({ signal: stop.signal })
  await world.play(world.ranks[0]!.sleep(5))
  assert.deepEqual(ran, [])
  stop.abort(new Error('enough'))
  await assert.rejects(world.play(stopped), /enough/)
  const synchronized = rcu.synchronize()
  section.readUnlock()
  await world.play(Promise.all([barrier, synchronized]))
  assert.deepEqual(ran, ['first', 'second', 'barrier'])
})

test('a reader that is stopped in a section is waited for until the group knows, one that is paused until it goes on', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(3, seed)
    const [{ rcu }, paused, dying] = world.structures as [GroupStructures, GroupStructures, GroupStructures]
    const section = paused.rcu.readLock()
    dying.rcu.readLock()
    world.paused.add(1)
    let isOver = false
    const synchronizing = rcu.synchronize().then(() => (isOver = true))
    await world.play(world.ranks[0]!.sleep(3))
    world.stop(2)
    await world.play(world.ranks[0]!.sleep(3))
    assert.equal(world.ranks[0]!.isMember(2), false)
    assert.equal(isOver, false)
    world.paused.delete(1)
    section.readUnlock()
    await world.play(synchronizing)
    // Nobody asks one that is gone.
    await world.play(rcu.synchronize())
  }
})

test('a reader that cannot be reached is waited for for a bounded time, unless the group gives it up before', async () => {
  for (const givenUpAfterMs of [undefined, 5000]) {
    const world = small(3, 4)
    const [{ rcu }, other] = world.structures as [GroupStructures, GroupStructures]
    other.rcu.readLock()
    let hasRun = false
    rcu.call(() => (hasRun = true))
    const from = world.nowMs
    const lost = { code: 'ERR_AETHER_HOME_LOST', rank: 1, structure: 'rcu', message: /still in the group/ }
    await world.play(world.ranks[0]!.sleep(1))
    world.cut.add(1)
    const waits = Promise.allSettled([rcu.synchronize(), rcu.barrier()])
    if (givenUpAfterMs === undefined) {
      for (const outcome of await world.play(waits))
        assert.throws(() => {
          if (outcome.status === 'rejected') throw outcome.reason
        }, lost)
      assert.ok(world.nowMs - from >= 30_000 && world.nowMs - from < 32_000, `${world.nowMs - from}`)
      await assert.rejects(world.play(rcu.synchronize()), lost)
      assert.ok(world.nowMs - from < 32_000, 'it is not waited for again')
      // Nobody knows whether it has ended.
      assert.equal(await world.play(rcu.pollState(rcu.getState())), false)
      assert.equal(hasRun, false)
    } else await world.play(world.ranks[0]!.sleep(givenUpAfterMs))
    world.stop(1)
    for (const { status } of await world.play(waits))
      assert.equal(status, givenUpAfterMs === undefined ? 'rejected' : 'fulfilled')
    while (world.ranks[0]!.isMember(1)) await world.play(world.ranks[0]!.sleep(1))
    await world.play(rcu.barrier())
    assert.equal(hasRun, true)
  }
})

test('what is read outside of a section is refused, and so is whatever is asked of structures that are closed', async () => {
  const world = small(2, 3)
  const [{ rcu }, other] = world.structures as [GroupStructures, GroupStructures]
  const cell = await world.play(world.structures[0]!.cell<number>('c', { codec: number }))
  for (const read of [() => rcu.dereference(cell), () => rcu.dereferenceBytes(cell)])
    await assert.rejects(read(), { code: 'ERR_AETHER_READ_SECTION' })
  await assert.rejects(world.play(other.cell('c')), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
  const text = await world.play(other.cell<string>('text', { valueBytesMax: 10 }))
  await assert.rejects(world.play(other.rcu.assign(text, 'more than ten bytes')), {
    code: 'ERR_AETHER_VALUE_TOO_LARGE',
  })
  await assert.rejects(other.cell('other', { valueBytesMax: 61_441 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  // Closing ends sections: who waits for readers goes on.
  const section = other.rcu.readLock()
  const synchronizing = rcu.synchronize()
  await world.play(other.close())
  await world.play(synchronizing)
  section.readUnlock()
  assert.throws(() => other.rcu.readLock(), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(other.rcu.synchronize(), { code: 'ERR_AETHER_CLOSED' })
  await world.play(rcu.synchronize())
})

test('a cell whose home is lost says so', async () => {
  const world = new FakeWorld(2, 3, 1024 * 1024, [1])
  const [{ rcu }] = world.structures as [GroupStructures]
  const cell = await world.play(world.structures[0]!.cell<number>('c', { codec: number }))
  await world.play(rcu.assign(cell, 1))
  using _section = rcu.readLock()
  world.stop(1)
  const lost = { code: 'ERR_AETHER_HOME_LOST', rank: 1, structure: "rcu cell 'c'" }
  for (const call of [() => rcu.dereference(cell), () => rcu.assign(cell, 2), () => rcu.update(cell, () => 3)])
    await assert.rejects(world.play(call()), lost)
})

test('a rank that is stopped between any two steps of assign has done it or not, and leaves nothing', async () => {
  const outcomes = new Set<number | undefined>()
  for (let steps = 0; steps < 25; steps += 1) {
    const world = small(3, steps + 1)
    const [a, b, c] = (await world.play(readersOf(world.structures))) as [AnyReader, AnyReader, AnyReader]
    await world.play(c.assign(1))
    world.ranks[1]!.stepsLeft = steps
    let done = false
    void b.update((value) => (value ?? 0) + 1).then(() => (done = true))
    if (steps % 2 === 1) await world.play(c.present())
    await world.play(world.ranks[0]!.sleep(0.5))
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(2))
    const value = await world.play(a.present())
    outcomes.add(value)
    if (done) assert.equal(value, 2)
    await world.play(c.assign(7))
    assert.equal(await world.play(a.present()), 7)
    const home = new HomeStructures(world.ranks[0]!, 0)
    const { blocks } = await world.play(takeCensus(home.on('a census')))
    assert.equal(blocks.size, 2, `${steps}`)
    const taken = await world.play(home.pool.chunks.taken())
    assert.deepEqual(
      taken.filter(({ owner }) => owner === 1),
      [],
      `${steps}`,
    )
  }
  assert.deepEqual(outcomes, new Set([1, 2]))
})

/** Takes elements out of the cell one after the other, and counts for each how many grace periods have passed since. */
async function tortureWrite(
  { rcu }: GroupStructures,
  cell: GroupCell<Uint8Array>,
  ages: number[],
  updates: number,
): Promise<void> {
  for (let update = 0; update < updates; update += 1) {
    ages.push(0)
    const length = 8 + (update % 90)
    await rcu.assign(cell, new Uint8Array(length).fill(update))
    if (update > 0) ages[update - 1] = 1
    await (update % 2 === 0 ? rcu.synchronize() : rcu.barrier())
    // All that were out before are a grace period older.
    for (let out = 0; out < update; out += 1) ages[out] = ages[out]! + 1
  }
}

/** How old the elements were by the end of the sections in which they were read. */
async function tortureRead(
  world: FakeWorld,
  rank: number,
  cell: GroupCell<Uint8Array>,
  ages: number[],
  seen: number[],
): Promise<void> {
  const { rcu } = world.structures[rank]!
  for (let turn = 0; turn < 40; turn += 1) {
    using _section = rcu.readLock()
    const element = await rcu.dereference(cell)
    if (element === undefined) continue
    const [first] = element
    assert.ok(element.length === 8 + (first! % 90) && element.every((byte) => byte === first), 'torn')
    await world.ranks[rank]!.sleep(world.random.below(20) / 100)
    seen.push(ages[first!]!)
  }
}

test('who dereferences what is replaced meanwhile, time and again, gets whole values', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(3, seed)
    const cells = await world.play(
      Promise.all(world.structures.map((shared) => shared.cell<Uint8Array>('c', { codec: bytes }))),
    )
    let assigning = true
    const assign = async (): Promise<void> => {
      for (let call = 1; call <= 60; call += 1)
        assert.equal(await world.structures[1]!.rcu.assign(cells[1]!, new Uint8Array(150).fill(call)), call)
      assigning = false
    }
    const read = async (rank: number): Promise<void> => {
      const { rcu } = world.structures[rank]!
      for (let last = 0; assigning; ) {
        using _section = rcu.readLock()
        const value = (await rcu.dereferenceBytes(cells[rank]!)) ?? new Uint8Array(150)
        assert.deepEqual(value, new Uint8Array(150).fill(value[0]!), `seed ${seed}`)
        assert.ok(value[0]! >= last)
        last = value[0]!
      }
    }
    await world.play(Promise.all([assign(), read(0), read(2)]))
  }
})

test('torture: nobody sees an element two grace periods after it was taken out, some readers stopped, and no bytes are mixed', async () => {
  const histogram = new Map<number, number>()
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(4, seed)
    const cells = await world.play(
      Promise.all(world.structures.map((shared) => shared.cell<Uint8Array>('c', { codec: bytes }))),
    )
    const ages: number[] = []
    const seen: number[] = []
    const reading = [0, 2, 3].map((rank) => tortureRead(world, rank, cells[rank]!, ages, seen))
    for (const one of reading) one.catch(() => {})
    world.ranks[3]!.stepsLeft = world.random.below(100)
    await world.play(Promise.all([tortureWrite(world.structures[1]!, cells[1]!, ages, 25), reading[0], reading[1]]))
    for (const age of seen) histogram.set(age, (histogram.get(age) ?? 0) + 1)
  }
  assert.deepEqual([...histogram.keys()].sort(), [0, 1], JSON.stringify([...histogram]))
})
