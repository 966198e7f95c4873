import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import { waitingRanksBytes } from '../../../../src/structures/distributed/waiting/waiting-ranks.ts'
import type { GroupStructures } from '../../../../src/structures/index.ts'
import { drawn } from '../../../support/drawn.ts'
import { FakeWorld } from '../fake-world.ts'
import { SimulatedWorld } from '../simulated-world.ts'
import { type Prepare, repeated, settings } from './waiting-scenes.ts'

/** Orders that are drawn for each thing that waits. */
const SEEDS = 30
/** Who sleeps and is told nothing looks after that long, and no earlier. In a world with a clock of its own. */
const LOOK_MS = 50
const MEMORY = 1024 * 1024
/** All wait by the same means. */
const scenes = drawn(Object.keys(settings), 5)

for (const what of scenes) {
  const setting = settings[what]!
  test(`who waits for ${what} is woken, in whatever order they look and change it`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const world = new FakeWorld(3, seed, MEMORY)
      const [waiting, changing] = world.structures as [GroupStructures, GroupStructures]
      const { wait, change } = await world.play(setting(waiting, changing))
      const before = world.nowMs
      // From before the first look until long after the last one before the sleep.
      const after = world.ranks[1]!.sleep((seed - 1) / 1000).then(change)
      await world.play(Promise.all([wait(), after]))
      assert.ok(world.nowMs - before < LOOK_MS, `seed ${seed}: woken after ${world.nowMs - before} ms`)
    }
  })

  test(`who waits for ${what} is woken by whoever changes it, or by the news of the death of one that was about to, at any step`, async () => {
    let changed = 0
    for (let steps = 0; steps < 40; steps += 1) {
      const world = new FakeWorld(3, steps + 1, MEMORY, [0])
      const [waiting, , changing] = world.structures as [GroupStructures, GroupStructures, GroupStructures]
      const { wait, change } = await world.play(setting(waiting, changing))
      const before = world.nowMs
      let woken = false
      const waited = wait().then(() => (woken = true))
      waited.catch(() => {})
      await world.play(world.ranks[0]!.sleep(5))
      world.ranks[2]!.stepsLeft = steps
      Promise.resolve(change()).catch(() => {})
      await world.play(world.ranks[0]!.sleep(5))
      // Where nothing was changed there is still nothing for some; a leader, a holder and a reader that die are as good
      // as gone.
      if (woken) changed += 1
      world.stop(2)
      await world.play(world.ranks[0]!.sleep(5))
      const isThere = woken
      await world.play(world.ranks[0]!.sleep(2 * LOOK_MS))
      assert.equal(woken, isThere, `${steps} steps: woken later, by a look of its own`)
      assert.ok(world.nowMs - before < 1000)
    }
    assert.ok(changed > 0)
  })
}

/** Wait and change, time and again, in one world: `round` gives what is waited for and what ends the waiting. */
async function again(rounds: number, prepare: Prepare): Promise<void> {
  const world = new FakeWorld(3, 5, MEMORY)
  const round = await world.play(prepare(world.structures as [GroupStructures, GroupStructures]))
  for (let at = 0; at < rounds; at += 1) {
    const { wait, change } = await world.play(round())
    const before = world.nowMs
    const waiting = wait()
    // Somewhere from before the first look to the sleep.
    await world.play(world.ranks[1]!.sleep((at % 25) / 1000))
    await world.play(Promise.all([waiting, change()]))
    assert.ok(world.nowMs - before < LOOK_MS, `round ${at}: woken after ${world.nowMs - before} ms`)
  }
}

for (const what of drawn(Object.keys(repeated), 4)) {
  const prepare = repeated[what]!
  test(`no change between the last look and the sleep is missed, in many rounds: ${what}`, async () => {
    await again(800, prepare)
  })
}

test('one is woken for each permit, and nobody sleeps for good: 20 ranks and one permit', async () => {
  const world = new FakeWorld(20, 1, 4 * MEMORY, [0])
  const semaphores = await world.play(
    Promise.all(world.structures.map((shared) => shared.semaphore('s', { permits: 1 }))),
  )
  const first = await world.play(semaphores[0]!.acquire())
  let holders = 0
  const work = Promise.all(
    semaphores.map(async (semaphore) => {
      const permit = await semaphore.acquire()
      holders += 1
      assert.equal(holders, 1)
      holders -= 1
      permit.release()
    }),
  )
  await world.play(world.ranks[0]!.sleep(20))
  const trips = world.ranks.reduce((sum, { roundTrips }) => sum + roundTrips, 0)
  const before = world.nowMs
  first.release()
  await world.play(work)
  assert.ok(world.nowMs - before < LOOK_MS, 'somebody was forgotten')
  // Rank 0 is told without a message.
  assert.ok(world.rings <= 20, `${world.rings} rings`)
  // Letting go, taking a mark away, a look and a swap, and what it takes to leave.
  const each = (world.ranks.reduce((sum, { roundTrips }) => sum + roundTrips, 0) - trips) / 20
  assert.ok(each < 8, `${each} round trips for each`)
})

test('many calls of one rank stand in line: one looks, and each has its turn', async () => {
  const world = new FakeWorld(2, 3, MEMORY, [0])
  const [one, two] = await world.play(Promise.all(world.structures.map((shared) => shared.mutex('m'))))
  const hold = await world.play(one!.lock())
  const order: number[] = []
  const work = Promise.all(
    Array.from({ length: 30 }, async (_, at) => {
      using _hold = await two!.lock()
      order.push(at)
    }),
  )
  await world.play(world.ranks[0]!.sleep(10))
  const trips = world.ranks[1]!.roundTrips
  await world.play(world.ranks[0]!.sleep(2000))
  assert.ok(world.ranks[1]!.roundTrips - trips < 20, `${world.ranks[1]!.roundTrips - trips} round trips in 2 s`)
  const before = world.nowMs
  hold.release()
  await world.play(work)
  assert.ok(world.nowMs - before < LOOK_MS)
  assert.deepEqual(
    order,
    order.map((_, at) => at),
  )
})

test('who waits and is told nothing looks a few times a second', async () => {
  const world = new FakeWorld(2, 1, MEMORY, [0])
  const [shared] = world.structures.slice(1) as [GroupStructures]
  const waiting = [
    await world.play(shared.flag('f').then((flag) => ({ call: flag.wait() }))),
    await world.play(shared.queue('q').then((queue) => ({ call: queue.pop() }))),
    await world.play(shared.log('l').then((log) => ({ call: log.follow().next() }))),
  ]
  for (const { call } of waiting) (call as Promise<unknown>).catch(() => {})
  await world.play(world.ranks[0]!.sleep(5000))
  const before = world.ranks[1]!.roundTrips
  await world.play(world.ranks[0]!.sleep(10_000))
  const each = (world.ranks[1]!.roundTrips - before) / 10 / waiting.length
  assert.ok(each > 1 && each < 5, `${each} round trips a second`)
})

test('a ring for one that has gone away is passed on: by one that is told to stop waiting, and by one that is served already', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = new FakeWorld(4, seed, MEMORY, [0])
    const queues = await world.play(Promise.all(world.structures.map((shared) => shared.queue<number>('q'))))
    const abort = new AbortController()
    const aborted = queues[1]!.pop({ signal: abort.signal }).catch(() => -1)
    const others = [2, 3].map((rank) => queues[rank]!.pop())
    await world.play(world.ranks[0]!.sleep(2))
    const before = world.nowMs
    void world.ranks[1]!.sleep(world.random.below(30) / 1000).then(() => abort.abort())
    const pushing = Promise.all([1, 2].map((value) => queues[0]!.push(value)))
    const got = await world.play(aborted)
    if (got !== -1) await world.play(queues[0]!.push(got))
    await world.play(Promise.all([pushing, ...others]))
    assert.ok(world.nowMs - before < LOOK_MS, `seed ${seed}: ${world.nowMs - before} ms`)
  }
})

test('one that was told and is stopped keeps what it was told of from nobody for more than a second', async () => {
  const world = new FakeWorld(3, 1, MEMORY, [0])
  const mutexes = await world.play(Promise.all(world.structures.map((shared) => shared.mutex('m'))))
  const hold = await world.play(mutexes[0]!.lock())
  mutexes[1]!.lock().catch(() => {})
  await world.play(world.ranks[0]!.sleep(1))
  const waiting = mutexes[2]!.lock()
  await world.play(world.ranks[0]!.sleep(10_000))
  world.paused.add(1)
  const before = world.nowMs
  hold.release()
  await world.play(waiting)
  assert.ok(world.nowMs - before <= 1001, `${world.nowMs - before} ms`)
})

/** The marks of who waits for the mutex `name` at rank 0. */
async function marksOf(world: FakeWorld, name: string): Promise<bigint[]> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  const makeBody = (): never => assert.fail('it is there')
  const { offset } = await world.play(home.names.open({ kind: 'mutex', name, parameters: [], makeBody }))
  const read = await world.play(home.on('marks').read(offset + 8, waitingRanksBytes(world.ranks.length)))
  return Array.from({ length: read.length / 8 }, (_, at) => read.word(at * 8))
}

test('the mark of one that is killed while it waits goes away at the next ring, and it is waited for by nobody; with more ranks than bits in a word', async () => {
  const world = new FakeWorld(70, 1, 8 * MEMORY, [0])
  const mutexes = await world.play(Promise.all(world.structures.map((shared) => shared.mutex('m'))))
  const hold = await world.play(mutexes[0]!.lock())
  for (const rank of [3, 68]) mutexes[rank]!.lock().catch(() => {})
  const waiting = mutexes[69]!.lock()
  await world.play(world.ranks[0]!.sleep(10))
  assert.deepEqual(await marksOf(world, 'm'), [1n << 3n, (1n << 4n) | (1n << 5n)])
  for (const rank of [3, 68]) world.stop(rank)
  await world.play(world.ranks[0]!.sleep(1))
  const before = world.nowMs
  hold.release()
  const next = await world.play(waiting)
  assert.ok(world.nowMs - before < LOOK_MS)
  next.release()
  await world.play(world.ranks[0]!.sleep(5))
  assert.deepEqual(await marksOf(world, 'm'), [0n, 0n])
})

test('who is told to stop waiting stops at once, asleep or in line', async () => {
  const world = new FakeWorld(2, 1, MEMORY, [0])
  const [one, two] = await world.play(Promise.all(world.structures.map((shared) => shared.mutex('m'))))
  await world.play(one!.lock())
  const aborts = [0, 1, 2].map(() => new AbortController())
  const waiting = aborts.map(({ signal }) => assert.rejects(two!.lock({ signal }), { name: 'AbortError' }))
  await world.play(world.ranks[0]!.sleep(5000))
  for (const at of [1, 0, 2]) {
    const before = world.nowMs
    aborts[at]!.abort()
    await world.play(waiting[at]!)
    assert.ok(world.nowMs - before < 1, `${world.nowMs - before} ms`)
  }
})

test('who is told to stop waiting takes its mark away, and leaves that of one who came meanwhile', async () => {
  for (let seed = 1; seed <= 4 * SEEDS; seed += 1) {
    const world = new FakeWorld(4, seed, MEMORY, [0])
    const mutexes = await world.play(Promise.all(world.structures.map((shared) => shared.mutex('m'))))
    const hold = await world.play(mutexes[0]!.lock())
    const aborts = [1, 2].map(() => new AbortController())
    const given = aborts.map(({ signal }, at) => assert.rejects(mutexes[at + 1]!.lock({ signal })))
    await world.play(world.ranks[0]!.sleep(world.random.below(20) / 1000))
    for (const abort of aborts) abort.abort()
    await world.play(Promise.all(given))
    if (seed % 2 === 0) {
      await world.play(world.ranks[0]!.sleep(5))
      assert.deepEqual(await marksOf(world, 'm'), [0n], `seed ${seed}`)
      continue
    }
    // The marks of those are on their way to be taken away still.
    const again = [1, 2].map(async (rank) => {
      using _hold = await mutexes[rank]!.lock()
    })
    await world.play(world.ranks[0]!.sleep(5))
    const before = world.nowMs
    hold.release()
    await world.play(Promise.all(again))
    assert.ok(world.nowMs - before < LOOK_MS, `seed ${seed}: ${world.nowMs - before} ms`)
  }
})

test('all who wait for a flag are woken, at 70 ranks, several calls at each', async () => {
  const world = new FakeWorld(70, 2, 8 * MEMORY, [0])
  const flags = await world.play(Promise.all(world.structures.map((shared) => shared.flag('f'))))
  const waiting = Promise.all(flags.flatMap((flag) => [flag.wait(), flag.wait()]))
  await world.play(world.ranks[0]!.sleep(40))
  const before = world.nowMs
  await world.play(Promise.all([flags[1]!.raise(), waiting]))
  assert.ok(world.nowMs - before < LOOK_MS)
  assert.equal(world.rings, 69)
})

/** As rough as may be, but that nothing is lost: what was lost is sent again after half a second. */
const rough = {
  network: { duplicate: 0.01, tail: 0.05, tailNs: 50_000 },
  adapter: { tear: 0.3, earlyAcknowledge: 0.3, completionNs: 2000, lostWakeups: 0.05 },
}

for (const what of scenes) {
  const setting = settings[what]!
  test(`who waits for ${what} is woken, over simulated adapters`, async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      using world = new SimulatedWorld(2, seed, rough)
      const [waiting, changing] = world.structures as [GroupStructures, GroupStructures]
      const { wait, change } = await world.play(setting(waiting, changing))
      const before = world.ranks[0]!.nowMs()
      const after = world.ranks[1]!.sleep(seed / 100).then(change)
      await world.play(Promise.all([wait(), after]))
      const tookMs = world.ranks[0]!.nowMs() - before
      assert.ok(tookMs < LOOK_MS, `seed ${seed}: woken after ${tookMs} ms`)
    }
  })
}
