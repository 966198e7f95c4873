import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../src/structures/codec/codecs.ts'
import { FakeWorld } from './fake-world.ts'
import { Histories } from './histories.ts'
import { SimulatedWorld } from './simulated-world.ts'
import { LEFT, playThroughACrash, playThroughAStop, RANKS, rough, settleTheStop } from './through-a-stop.ts'

/** How many orders are drawn; AETHER_TEST_HISTORIES=10000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 150)
const CALLS = 5

test('what ranks see of a map, in any order of their steps, could have happened one after the other', async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const world = new FakeWorld(RANKS, seed)
    const histories = new Histories(() => world.steps)
    const maps = await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number }))))
    const clients = [...maps, ...maps].map((map, client) => histories.makeCalls(map, seed * 100 + client, CALLS, 2))
    await world.play(Promise.all(clients))
    histories.check(`seed ${seed}`)
  }
})

test('the same where ranks are stopped and paused at any step', async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const world = new FakeWorld(RANKS, seed, 1024 * 1024, [0])
    const histories = new Histories(() => world.steps)
    const maps = await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number }))))
    const makeCalls = (rank: number, client: number): Promise<void> =>
      histories.makeCalls(maps[rank]!, seed * 100 + client, CALLS, 2)
    await playThroughAStop(world, 60, (rank) => [makeCalls(rank, rank), makeCalls(rank, RANKS + rank)])
    // What the one that was stopped left is settled, and everybody goes on.
    await settleTheStop(world)
    await world.play(Promise.all(LEFT.map((rank) => makeCalls(rank, 50 + rank))))
    histories.check(`seed ${seed}`)
  }
})

test('what ranks see of a log and a cell, some stopped and some paused at any step, could have happened one after the other', async () => {
  for (let seed = 1; seed <= HISTORIES / 2; seed += 1) {
    const world = new FakeWorld(RANKS, seed, 1024 * 1024, [0])
    const histories = new Histories(() => world.steps)
    const logs = await world.play(Promise.all(world.structures.map((shared) => shared.log('l', { codec: number }))))
    const cells = await world.play(Promise.all(world.structures.map((shared) => shared.cell('x', { codec: number }))))
    await playThroughAStop(world, seed % 2 === 0 ? 80 : undefined, (rank) => [
      histories.append(logs[rank]!, seed * 100 + rank, CALLS),
      histories.append(logs[rank]!, seed * 100 + RANKS + rank, CALLS),
      histories.assign(world.structures[rank]!.rcu, cells[rank]!, CALLS),
    ])
    histories.check(`seed ${seed}`)
  }
})

test('the same over simulated adapters, where ranks crash and pause', async () => {
  for (let seed = 1; seed <= HISTORIES / 5; seed += 1) {
    using world = new SimulatedWorld(RANKS, seed, seed % 2 === 0 ? rough : {}, [0])
    const histories = new Histories(() => world.cluster.nowNs)
    const [maps, counters, logs] = await world.play(
      Promise.all([
        Promise.all(world.structures.map((shared) => shared.map('m', { codec: number }))),
        Promise.all(world.structures.map((shared) => shared.counter('c'))),
        Promise.all(world.structures.map((shared) => shared.log('l', { codec: number }))),
      ]),
    )
    await playThroughACrash(world, seed, (rank) => [
      histories.makeCalls(maps[rank]!, seed * 100 + rank, CALLS, 2),
      histories.makeCalls(maps[rank]!, seed * 100 + 50 + rank, CALLS, 2),
      histories.count(counters[rank]!, 3),
      histories.append(logs[rank]!, seed * 100 + rank, CALLS),
    ])
    histories.check(`seed ${seed}`)
    assert.ok(histories.length > 30)
  }
})
