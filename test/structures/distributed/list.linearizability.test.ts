import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../src/structures/codec/codecs.ts'
import type { GroupList } from '../../../src/structures/index.ts'
import { FakeWorld } from './fake-world.ts'
import { ListHistories, type ListKind, listKinds } from './list-histories.ts'
import { SimulatedWorld } from './simulated-world.ts'

/** How many orders are drawn; AETHER_TEST_HISTORIES=10000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 50)
const RANKS = 3
const CALLS = 5
const CAPACITIES = [0, 2, 3]
/** So small that they are soon full: 8 places. */
const SEGMENT_BYTES = 128

/** Each rank's, after so many values have gone through that the next segment is near. */
async function opened(
  world: Pick<FakeWorld, 'structures' | 'play'>,
  kind: ListKind,
  seed: number,
): Promise<{ readonly lists: readonly GroupList<number>[]; readonly capacity: number }> {
  const capacity = CAPACITIES[seed % CAPACITIES.length] as number
  const options = { codec: number, ...(capacity === 0 ? {} : { capacity }) }
  const lists: readonly GroupList<number>[] = await world.play(
    Promise.all(world.structures.map((shared) => shared[kind]<number>('l', options))),
  )
  const [first, second] = lists as readonly [GroupList<number>, GroupList<number>]
  for (let value = 0; value < seed % 8; value += 1) {
    await world.play(first.push(-1))
    assert.equal(await world.play(second.pop()), -1)
  }
  return { lists, capacity: capacity || Number.POSITIVE_INFINITY }
}

for (const kind of listKinds) {
  test(`what ranks see of a ${kind}, in any order of their steps, could have happened one after the other`, async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const world = new FakeWorld(RANKS, seed, 1024 * 1024, undefined, SEGMENT_BYTES)
      const { lists, capacity } = await opened(world, kind, seed)
      const histories = new ListHistories(() => world.steps)
      const clients = [...lists, ...lists].map((list, client) => histories.makeCalls(list, seed * 100 + client, CALLS))
      await world.play(Promise.all(clients))
      await world.play(histories.drain(lists[1]!))
      histories.check(kind, capacity, `seed ${seed}`)
    }
  })

  test(`the same of a ${kind} where ranks are stopped and paused at any step`, async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const world = new FakeWorld(RANKS, seed, 1024 * 1024, [0], SEGMENT_BYTES)
      const { lists, capacity } = await opened(world, kind, seed)
      const histories = new ListHistories(() => world.steps)
      world.ranks[1]!.stepsLeft = world.random.below(60)
      const clients = [...lists, ...lists].map((list, client) => histories.makeCalls(list, seed * 100 + client, CALLS))
      const living = clients.filter((_, client) => client % RANKS !== 1)
      void world.ranks[0]!.sleep(world.random.below(40) / 1000).then(() => world.paused.add(2))
      void world.ranks[0]!.sleep(0.1).then(() => world.paused.delete(2))
      await world.play(Promise.all(living))
      // What the one that was stopped left is settled, and everybody goes on.
      world.stop(1)
      await world.play(world.ranks[0]!.sleep(1))
      const last = [lists[0]!, lists[2]!].map((list, client) =>
        histories.makeCalls(list, seed * 100 + 50 + client, CALLS),
      )
      await world.play(Promise.all(last))
      await world.play(histories.drain(lists[2]!))
      histories.check(kind, capacity, `seed ${seed}`)
    }
  })

  test(`the same of a ${kind} over simulated adapters, where ranks crash and pause`, async () => {
    for (let seed = 1; seed <= HISTORIES / 2; seed += 1) {
      using world = new SimulatedWorld(RANKS, seed, seed % 2 === 0 ? rough : {}, [0], SEGMENT_BYTES)
      const { lists, capacity } = await opened(world, kind, seed)
      const histories = new ListHistories(() => world.cluster.nowNs)
      const { nowNs } = world.cluster
      if (seed % 3 === 0) world.crash(1, nowNs + 5000 + seed * 500)
      if (seed % 3 === 1) world.cluster.inject({ kind: 'pause', host: 2, atNs: nowNs + seed * 700, forNs: 40_000 })
      const clients = [...lists, ...lists].map((list, client) => histories.makeCalls(list, seed * 100 + client, CALLS))
      // Those of a rank that has crashed never return, until the world ends.
      for (const client of clients) client.catch(() => {})
      const living = clients.filter((_, client) => seed % 3 !== 0 || client % RANKS !== 1)
      await world.play(Promise.all(living))
      histories.check(kind, capacity, `seed ${seed}`)
    }
  })
}

/** What networks and adapters do when they are at their worst but work. */
const rough = {
  network: { loss: 0.01, duplicate: 0.01, tail: 0.05, tailNs: 50_000 },
  adapter: { tear: 0.3, earlyAcknowledge: 0.3, completionNs: 2000, lostWakeups: 0.05 },
}
