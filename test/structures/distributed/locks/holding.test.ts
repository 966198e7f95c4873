import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeWorld } from '../fake-world.ts'

/** Orders that each test draws. */
const SEEDS = 20

test('one rank at a time holds a mutex, whatever the order, and its token rises', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = new FakeWorld(3, seed)
    let holders = 0
    const tokens: number[] = []
    const work = world.structures.map(async (shared, rank) => {
      const mutex = await shared.mutex('stock')
      for (let turn = 0; turn < 3; turn += 1) {
        using hold = await mutex.lock()
        holders += 1
        assert.equal(holders, 1)
        assert.equal(hold.abandoned, false)
        tokens.push(hold.token)
        await world.ranks[rank]!.sleep(0.01)
        holders -= 1
      }
    })
    await world.play(Promise.all(work))
    assert.deepEqual(tokens, [1, 2, 3, 4, 5, 6, 7, 8, 9])
  }
})

test('a mutex is not reentrant, is let go of once, and by closing', async () => {
  const world = new FakeWorld(2, 1)
  const [one, two] = await world.play(Promise.all(world.structures.map((shared) => shared.mutex('stock'))))
  const hold = await world.play(one!.lock())
  assert.equal(await world.play(one!.tryLock()), undefined)
  assert.equal(await world.play(two!.tryLock()), undefined)
  hold.release()
  hold.release()
  const other = await world.play(two!.lock())
  hold.release()
  assert.equal(await world.play(one!.tryLock()), undefined)
  assert.equal(other.token, 2)
  await world.play(world.structures[1]!.close())
  assert.equal((await world.play(one!.tryLock()))?.token, 3)
})

test('a rank that is stopped between any two steps of taking and letting go of a mutex holds up nobody', async () => {
  const seen = new Set<boolean>()
  for (let steps = 0; steps < 60; steps += 1) {
    const world = new FakeWorld(2, steps + 1, 1024 * 1024, [0])
    const mutex = await world.play(world.structures[0]!.mutex('stock'))
    const other = await world.play(world.structures[1]!.mutex('stock'))
    world.ranks[1]!.stepsLeft = steps % 10
    const taking = other.lock().then((hold) => hold.release())
    taking.catch(() => {})
    using hold = await world.play(mutex.lock())
    seen.add(hold.abandoned)
  }
  assert.deepEqual(seen, new Set([false, true]))
})

test('so many permits as there are, and those of a dead rank are free', async () => {
  const world = new FakeWorld(3, 4)
  const [one, two, three] = await world.play(
    Promise.all(world.structures.map((shared) => shared.semaphore('jobs', { permits: 2 }))),
  )
  const homeRank = world.structures[0]!.homeOf('jobs')
  const [first, second] = [one, two, three].filter((_, rank) => rank !== homeRank)
  const dying = [0, 1, 2].filter((rank) => rank !== homeRank)[0]!
  await world.play(first!.acquire())
  const held = await world.play(second!.acquire())
  assert.equal(await world.play(second!.tryAcquire()), undefined)
  assert.equal(await world.play(second!.available()), 0)
  const waiting = second!.acquire()
  world.stop(dying)
  await world.play(waiting)
  held.release()
  assert.equal(await world.play(second!.available()), 1)
  await assert.rejects(world.play(world.structures[homeRank]!.semaphore('jobs', { permits: 3 })), {
    code: 'ERR_AETHER_STRUCTURE_MISMATCH',
  })
})

test('what is to be done once is, also where it fails or its rank is stopped at first', async () => {
  for (let steps = 0; steps < 20; steps += 1) {
    const world = new FakeWorld(3, steps + 1, 1024 * 1024, [0])
    const onces = await world.play(Promise.all(world.structures.map((shared) => shared.once('migrate'))))
    world.ranks[2]!.stepsLeft = steps % 5
    let fails = true
    let done = 0
    const work = async (): Promise<void> => {
      if (fails) {
        fails = false
        throw new Error('at first')
      }
      done += 1
    }
    void onces[2]!.run(() => new Promise<never>(() => {})).catch(() => {})
    const run = async (rank: number): Promise<boolean> =>
      await onces[rank]!.run(work).catch(() => onces[rank]!.run(work))
    const waiting = Promise.all([run(0), run(1)])
    // One that does it for ever holds the others up, until it is gone.
    void world.ranks[0]!.sleep(5).then(() => world.stop(2))
    const said = await world.play(waiting)
    assert.deepEqual(said.sort(), [false, true])
    assert.equal(done, 1)
    assert.equal(await world.play(onces[0]!.isDone()), true)
  }
})

test('who closes the structures while it does what is to be done once is told that no one will know', async () => {
  const world = new FakeWorld(2, 1, 1024 * 1024, [0])
  const [one, two] = await world.play(Promise.all(world.structures.map((shared) => shared.once('migrate'))))
  const running = two!.run(() => world.structures[1]!.close())
  await assert.rejects(world.play(running), { code: 'ERR_AETHER_CLOSED' })
  assert.equal(await world.play(one!.isDone()), false)
  assert.equal(await world.play(one!.run(() => {})), true)
})

test('a limiter lets through its limit over all ranks, and more as time goes', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = new FakeWorld(3, seed)
    const limiters = await world.play(
      Promise.all(world.structures.map((shared) => shared.rateLimiter('calls', { limit: 5, intervalMs: 1e6 }))),
    )
    const verdicts = await world.play(Promise.all(limiters.flatMap((limiter) => [1, 2, 3].map(() => limiter.take()))))
    assert.equal(verdicts.filter(({ allowed }) => allowed).length, 5)
    const [limiter] = limiters
    const { retryAfterMs } = await world.play(limiter!.take())
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 200_000)
    await world.play(limiter!.wait())
    await world.play(limiter!.reset())
    assert.equal((await world.play(limiter!.take(5))).allowed, true)
  }
})

test('one rank leads; when it resigns, dies or is silent for a lease the next does, in the term after', async () => {
  const world = new FakeWorld(3, 1, 1024 * 1024, [0])
  const [one, two, three] = await world.play(
    Promise.all(world.structures.map((shared) => shared.leader('cron', { leaseMs: 30_000 }))),
  )
  const first = await world.play(one!.campaign())
  assert.equal(first.term, 1)
  assert.equal(await world.play(two!.tryCampaign()), undefined)
  await first.resign()
  const second = await world.play(two!.campaign())
  assert.equal(second.term, 2)
  assert.equal(second.isLeader, true)
  // It is paused, so nothing is renewed; the others see the same word for a lease and more.
  world.paused.add(1)
  const third = await world.play(three!.campaign())
  assert.equal(third.term, 3)
  assert.equal(second.isLeader, false)
  assert.equal(await world.play(one!.term()), 3)
  world.stop(2)
  const fourth = await world.play(one!.campaign())
  assert.equal(fourth.term, 4)
  await world.play(world.structures[0]!.close())
  assert.equal(fourth.isLeader, false)
})
