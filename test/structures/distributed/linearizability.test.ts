import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../src/codecs/index.ts'
import { checkLinearizable, type EntryInput, type HistoryCall } from '../../../tools/linearizability/index.ts'
import { drawnSeeds } from '../../support/drawn.ts'
import { FakeWorld } from './fake-world.ts'
import { goingEntryModel, Histories } from './histories.ts'
import { SimulatedWorld } from './simulated-world.ts'
import { LEFT, playThroughACrash, playThroughAStop, RANKS, rough, settleTheStop } from './through-a-stop.ts'

/** How many orders there are, of which some are played; AETHER_TEST_HISTORIES=10000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 150)
const seeds = drawnSeeds(HISTORIES, 5, 1, process.env['AETHER_TEST_HISTORIES'] !== undefined)
const CALLS = 5

test('what ranks see of a map, in any order of their steps, could have happened one after the other', async () => {
  for (const seed of seeds) {
    const world = new FakeWorld(RANKS, seed)
    const histories = new Histories(() => world.steps)
    const maps = await world.play(Promise.all(world.structures.map((shared) => shared.map('m', { codec: number }))))
    const clients = [...maps, ...maps].map((map, client) => histories.makeCalls(map, seed * 100 + client, CALLS, 2))
    await world.play(Promise.all(clients))
    histories.check(`seed ${seed}`)
  }
})

test('the same where ranks are stopped and paused at any step', async () => {
  for (const seed of seeds) {
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

test('a key whose entry may go is not given back a value that was replaced, nor one that was missed', () => {
  const call = (at: number, input: EntryInput, output: number): HistoryCall<EntryInput, number> => ({
    input,
    calledAt: at,
    returned: { at: at + 1, output },
  })
  const set = (at: number, value: number): HistoryCall<EntryInput, number> => call(at, { type: 'set', value }, 1)
  const get = (at: number, output: number): HistoryCall<EntryInput, number> => call(at, { type: 'get' }, output)
  const could = (...calls: HistoryCall<EntryInput, number>[]): boolean =>
    checkLinearizable(goingEntryModel, calls).verdict === 'linearizable'
  assert.equal(could(set(0, 7), get(10, 7), get(20, 0), get(30, 0)), true)
  assert.equal(could(set(0, 7), call(10, { type: 'setIfAbsent', value: 8 }, 1), get(20, 8)), true)
  assert.equal(could(set(0, 7), get(10, 0), get(20, 7)), false)
  assert.equal(could(set(0, 7), set(10, 8), get(20, 7)), false)
  assert.equal(could(set(0, 7), call(10, { type: 'compareAndSet', expected: 6, value: 8 }, 1)), false)
})

test('what ranks see of a map that evicts, and whose entries expire, some stopped and some paused at any step, is that, or nothing', async () => {
  const gone = { evicted: 0, over: 0 }
  for (const seed of seeds) {
    const world = new FakeWorld(RANKS, seed, 1024 * 1024, [0])
    const histories = new Histories(() => world.steps)
    // Of four keys; and in every second order a millisecond passes now and then.
    const options = seed % 2 === 0 ? { maxEntries: 2 } : { maxEntries: 3, ttlMs: 1 }
    const maps = await world.play(
      Promise.all(world.structures.map((shared) => shared.map('m', { codec: number, ...options }))),
    )
    world.watch = () => {
      if (seed % 2 === 1 && world.random.below(150) === 0) world.nowMs += 0.7
    }
    const makeCalls = (rank: number, client: number): Promise<void> =>
      histories.makeCalls(maps[rank]!, seed * 100 + client, CALLS, 4)
    await playThroughAStop(world, seed % 3 === 0 ? undefined : 80, (rank) => [
      makeCalls(rank, rank),
      makeCalls(rank, RANKS + rank),
    ])
    if (seed % 3 !== 0) await settleTheStop(world)
    await world.play(Promise.all(LEFT.map((rank) => makeCalls(rank, 50 + rank))))
    histories.check(`seed ${seed}`, { goes: true })
    assert.ok((await world.play(maps[0]!.size())) <= options.maxEntries + RANKS, `seed ${seed}`)
    if (!histories.isExplained) gone[seed % 2 === 0 ? 'evicted' : 'over'] += 1
  }
  // Entries went in most of them: no order explains what was seen without that.
  assert.ok(gone.evicted > seeds.length / 5 && gone.over > seeds.length / 5, JSON.stringify(gone))
})

test('what ranks see of a log and a cell, some stopped and some paused at any step, could have happened one after the other', async () => {
  for (const seed of seeds.filter((each) => each <= HISTORIES / 2)) {
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
  for (const seed of seeds.filter((each) => each <= HISTORIES / 5)) {
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
