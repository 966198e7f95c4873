import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../src/structures/codec/codecs.ts'
import { FakeWorld } from './fake-world.ts'
import { Histories } from './histories.ts'
import { SimulatedWorld } from './simulated-world.ts'

/** How many orders are drawn; AETHER_TEST_HISTORIES=10000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 150)
const RANKS = 3
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
    world.ranks[1]!.stepsLeft = world.random.below(60)
    const clients = [...maps, ...maps].map((map, client) => histories.makeCalls(map, seed * 100 + client, CALLS, 2))
    const living = clients.filter((_, client) => client % RANKS !== 1)
    void world.ranks[0]!.sleep(world.random.below(40) / 1000).then(() => world.paused.add(2))
    void world.ranks[0]!.sleep(0.1).then(() => world.paused.delete(2))
    await world.play(Promise.all(living))
    // What the one that was stopped left is settled, and everybody goes on.
    world.stop(1)
    await world.play(world.ranks[0]!.sleep(1))
    const last = [maps[0]!, maps[2]!].map((map, client) => histories.makeCalls(map, seed * 100 + 50 + client, CALLS, 2))
    await world.play(Promise.all(last))
    histories.check(`seed ${seed}`)
  }
})

test('what ranks see of a log and a cell, some stopped and some paused at any step, could have happened one after the other', async () => {
  for (let seed = 1; seed <= HISTORIES / 2; seed += 1) {
    const world = new FakeWorld(RANKS, seed, 1024 * 1024, [0])
    const histories = new Histories(() => world.steps)
    const logs = await world.play(Promise.all(world.structures.map((shared) => shared.log('l', { codec: number }))))
    const cells = await world.play(Promise.all(world.structures.map((shared) => shared.cell('x', { codec: number }))))
    if (seed % 2 === 0) world.ranks[1]!.stepsLeft = world.random.below(80)
    const clients = [...logs, ...logs].map((log, client) => histories.append(log, seed * 100 + client, CALLS))
    clients.push(...cells.map((cell, rank) => histories.assign(world.structures[rank]!.rcu, cell, CALLS)))
    const living = clients.filter((_, client) => seed % 2 === 1 || client % RANKS !== 1)
    void world.ranks[0]!.sleep(world.random.below(40) / 1000).then(() => world.paused.add(2))
    void world.ranks[0]!.sleep(0.1).then(() => world.paused.delete(2))
    await world.play(Promise.all(living))
    histories.check(`seed ${seed}`)
  }
})

/** What networks and adapters do when they are at their worst but work. */
const rough = {
  network: { loss: 0.01, duplicate: 0.01, tail: 0.05, tailNs: 50_000 },
  adapter: { tear: 0.3, earlyAcknowledge: 0.3, completionNs: 2000, lostWakeups: 0.05 },
}

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
    const { nowNs } = world.cluster
    if (seed % 3 === 0) world.crash(1, nowNs + 5000 + seed * 500)
    if (seed % 3 === 1) world.cluster.inject({ kind: 'pause', host: 2, atNs: nowNs + seed * 700, forNs: 40_000 })
    const clients = maps.flatMap((map, rank) => [
      histories.makeCalls(map, seed * 100 + rank, CALLS, 2),
      histories.makeCalls(map, seed * 100 + 50 + rank, CALLS, 2),
      histories.count(counters[rank]!, 3),
      histories.append(logs[rank]!, seed * 100 + rank, CALLS),
    ])
    // Those of a rank that has crashed never return, until the world ends.
    for (const client of clients) client.catch(() => {})
    const living = clients.filter((_, client) => seed % 3 !== 0 || Math.floor(client / 4) !== 1)
    await world.play(Promise.all(living))
    histories.check(`seed ${seed}`)
    assert.ok(histories.length > 30)
  }
})
