import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeWorld } from './fake-world.ts'

/** Seeds of each test that draws an order. */
const SEEDS = 20

test('ranks find the same structures by name, each at the home that its name says', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = new FakeWorld(3, seed)
    const names = ['hits', 'logins', 'a', 'b', 'c', 'd']
    await world.play(
      Promise.all(
        world.structures.map(async (shared) => {
          for (const name of names) await (await shared.counter(name)).add(1)
        }),
      ),
    )
    const [shared] = world.structures
    for (const name of names) assert.equal(await world.play(shared!.counter(name).then((counter) => counter.get())), 3)
    const listed = await world.play(shared!.list())
    assert.deepEqual(
      listed.map(({ name, kind }) => `${kind} ${name}`),
      [...names].sort().map((name) => `counter ${name}`),
    )
    for (const { name, home } of listed) assert.equal(home, shared!.homeOf(name))
    assert.ok(new Set(listed.map(({ home }) => home)).size > 1)
  }
})

test('a home that is lost while structures are listed has none, as one that was lost before', async () => {
  const kept: number[] = []
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = new FakeWorld(3, seed)
    const [shared] = world.structures as [(typeof world.structures)[0]]
    const names = ['hits', 'logins', 'a', 'b', 'c', 'd']
    for (const name of names) await world.play(shared.counter(name))
    world.ranks[1]!.stepsLeft = world.random.below(20)
    const ending = world.structures[1]!.list()
    ending.catch(() => {})
    const listed = await world.play(shared.list())
    kept.push(listed.filter(({ home }) => home === 1).length)
    for (const { name, home } of listed) assert.equal(home, shared.homeOf(name))
    const others = names.filter((name) => shared.homeOf(name) !== 1)
    assert.deepEqual(
      listed.filter(({ home }) => home !== 1).map(({ name }) => name),
      others.sort(),
    )
  }
  assert.ok(kept.includes(0) && kept.some((count) => count > 0), kept.join(' '))
})

test('a name is of one kind, with one set of options', async () => {
  const world = new FakeWorld(2, 1)
  const [one, two] = world.structures as [(typeof world.structures)[0], (typeof world.structures)[0]]
  await world.play(one.counter('x'))
  await assert.rejects(world.play(two.flag('x')), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
  await assert.rejects(world.play(two.flag('')), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('a counter adds, sets and compares, below zero as well', async () => {
  const world = new FakeWorld(2, 1)
  const counter = await world.play(world.structures[1]!.counter('n'))
  assert.equal(await world.play(counter.add()), 1)
  assert.equal(await world.play(counter.add(-5)), -4)
  assert.equal(await world.play(counter.set(7)), -4)
  assert.equal(await world.play(counter.compareAndSet(-4, 1)), 7)
  assert.equal(await world.play(counter.compareAndSet(7, -2)), 7)
  assert.equal(await world.play(counter.get()), -2)
  await assert.rejects(world.play(counter.add(0.5)), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('a sequence gives each number once', async () => {
  const world = new FakeWorld(3, 5)
  const taken = await world.play(
    Promise.all(
      world.structures.map(async (shared) => {
        const sequence = await shared.sequence('orders')
        return [await sequence.next(), await sequence.next(3), await sequence.next()]
      }),
    ),
  )
  const first = taken.flat().sort((a, b) => a - b)
  assert.equal(new Set(first).size, 9)
  assert.equal(await world.play(world.structures[0]!.sequence('orders').then((sequence) => sequence.last())), 15)
})

test('who waits for a flag is told, and an abort ends the waiting', async () => {
  const world = new FakeWorld(2, 1)
  const [one, two] = await world.play(Promise.all(world.structures.map((shared) => shared.flag('up'))))
  const abort = new AbortController()
  const inVain = one!.wait({ signal: abort.signal })
  abort.abort(new Error('enough'))
  await assert.rejects(world.play(inVain), /enough/)
  assert.equal(await world.play(two!.isRaised()), false)
  const waiting = one!.wait()
  assert.equal(await world.play(two!.raise()), true)
  assert.equal(await world.play(two!.raise()), false)
  await world.play(waiting)
  assert.equal(await world.play(one!.lower()), true)
  assert.equal(await world.play(one!.lower()), false)
})

test('each call on a word is one round trip', async () => {
  const world = new FakeWorld(2, 1)
  const [memory] = world.ranks
  const shared = world.structures[0]!
  const counter = await world.play(shared.counter('n'))
  const sequence = await world.play(shared.sequence('s'))
  const flag = await world.play(shared.flag('f'))
  const calls: (readonly [number, () => Promise<unknown>])[] = [
    [1, () => counter.add()],
    [1, () => counter.get()],
    [2, () => counter.set(3)],
    [1, () => counter.compareAndSet(3, 4)],
    [1, () => sequence.next()],
    [1, () => sequence.last()],
    [1, () => flag.raise()],
    [1, () => flag.isRaised()],
    [1, () => flag.lower()],
  ]
  for (const [trips, call] of calls) {
    const before = memory!.roundTrips
    await world.play(call())
    assert.equal(memory!.roundTrips - before, trips, String(call))
  }
})

test('a structure whose home is lost says so, the others go on', async () => {
  const world = new FakeWorld(2, 3)
  const shared = world.structures[0]!
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const lost = names.find((name) => shared.homeOf(name) === 1)!
  const kept = names.find((name) => shared.homeOf(name) === 0)!
  const [far, near] = await world.play(Promise.all([shared.counter(lost), shared.counter(kept)]))
  world.stop(1)
  await assert.rejects(world.play(far!.add()), {
    code: 'ERR_AETHER_HOME_LOST',
    rank: 1,
    structure: `counter '${lost}'`,
  })
  await assert.rejects(world.play(shared.flag(lost)), { code: 'ERR_AETHER_HOME_LOST', rank: 1 })
  assert.equal(await world.play(near!.add()), 1)
})

test('a rank that is stopped between any two steps of making a structure leaves it made or not', async () => {
  for (let steps = 0; steps < 40; steps += 1) {
    const world = new FakeWorld(2, steps + 1, 1024 * 1024, [0])
    world.ranks[1]!.stepsLeft = steps
    const making = world.structures[1]!.counter('n').then((counter) => counter.add())
    making.catch(() => {})
    const counter = await world.play(world.structures[0]!.counter('n'))
    await world.play(counter.add(10))
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(1))
    const value = await world.play(counter.get())
    assert.ok(value === 10 || value === 11, `${steps}: ${value}`)
  }
})
