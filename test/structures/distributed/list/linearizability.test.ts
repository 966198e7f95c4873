import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import type { GroupList } from '../../../../src/structures/index.ts'
import { drawnSeeds } from '../../../support/drawn.ts'
import { FakeWorld } from '../fake-world.ts'
import { SimulatedWorld } from '../simulated-world.ts'
import { LEFT, playThroughACrash, playThroughAStop, RANKS, rough, settleTheStop } from '../through-a-stop.ts'
import { ListHistories, type ListKind, listKinds } from './list-histories.ts'

/** How many orders there are, of which some are played; AETHER_TEST_HISTORIES=10000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 50)
const seeds = drawnSeeds(HISTORIES, 5, 1, process.env['AETHER_TEST_HISTORIES'] !== undefined)
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
  const capacity = CAPACITIES[seed % CAPACITIES.length]!
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
    for (const seed of seeds) {
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
    for (const seed of seeds) {
      const world = new FakeWorld(RANKS, seed, 1024 * 1024, [0], SEGMENT_BYTES)
      const { lists, capacity } = await opened(world, kind, seed)
      const histories = new ListHistories(() => world.steps)
      const makeCalls = (rank: number, client: number): Promise<void> =>
        histories.makeCalls(lists[rank]!, seed * 100 + client, CALLS)
      await playThroughAStop(world, 60, (rank) => [makeCalls(rank, rank), makeCalls(rank, RANKS + rank)])
      // What the one that was stopped left is settled, and everybody goes on.
      await settleTheStop(world)
      await world.play(Promise.all(LEFT.map((rank) => makeCalls(rank, 50 + rank))))
      await world.play(histories.drain(lists[2]!))
      histories.check(kind, capacity, `seed ${seed}`)
    }
  })

  test(`the same of a ${kind} over simulated adapters, where ranks crash and pause`, async () => {
    for (const seed of seeds.filter((each) => each <= HISTORIES / 2)) {
      using world = new SimulatedWorld(RANKS, seed, seed % 2 === 0 ? rough : {}, [0], SEGMENT_BYTES)
      const { lists, capacity } = await opened(world, kind, seed)
      const histories = new ListHistories(() => world.cluster.nowNs)
      await playThroughACrash(world, seed, (rank) => [
        histories.makeCalls(lists[rank]!, seed * 100 + rank, CALLS),
        histories.makeCalls(lists[rank]!, seed * 100 + RANKS + rank, CALLS),
      ])
      histories.check(kind, capacity, `seed ${seed}`)
    }
  })
}
