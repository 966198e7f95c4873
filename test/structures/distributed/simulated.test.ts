import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../src/codecs/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { assertBank, bankTurns, openBank } from '../mvrlu-suite.ts'
import { SimulatedWorld } from './simulated-world.ts'
import { rough } from './through-a-stop.ts'

const SEEDS = 10

test('over simulated adapters that lose and delay, every sum is given once and every number is taken once', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    using world = new SimulatedWorld(3, seed, rough)
    const given = await world.play(
      Promise.all(
        world.structures.map(async (shared) => {
          const counter = await shared.counter('hits')
          const sequence = await shared.sequence('orders')
          const sums: number[] = []
          const numbers: number[] = []
          for (let call = 0; call < 10; call += 1) {
            sums.push(await counter.add())
            numbers.push(await sequence.next())
          }
          return { sums, numbers }
        }),
      ),
    )
    const counted = Array.from({ length: 30 }, (_, at) => at + 1)
    assert.deepEqual(
      given.flatMap(({ sums }) => sums).sort((a, b) => a - b),
      counted,
    )
    assert.deepEqual(
      given.flatMap(({ numbers }) => numbers).sort((a, b) => a - b),
      counted,
    )
  }
})

test('over simulated adapters that lose and delay, sections that change several objects see one moment each, one rank crashing', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    using world = new SimulatedWorld(3, seed, rough, [0])
    const random = new Random(seed)
    const below = (bound: number): number => random.below(bound)
    const all = await world.play(
      Promise.all(world.structures.map((shared) => shared.mvRlu<number>('o', { codec: number }))),
    )
    const bank = await world.play(openBank(all[0]!, 3))
    world.crash(2, world.cluster.nowNs + 50_000 + below(1_000_000))
    const turns = all.map((objects, rank) => bankTurns(objects, bank, 8, below, () => world.ranks[rank]!.sleep(0.01)))
    turns[2]!.catch(() => {})
    await world.play(Promise.all([turns[0], turns[1]]))
    await world.play(assertBank(all[1]!, bank, `seed ${seed}`))
  }
})

test('the same seed takes the same course', async () => {
  const course = async (): Promise<string> => {
    using world = new SimulatedWorld(2, 7, rough)
    await world.play(
      Promise.all(
        world.structures.map(async (shared) => {
          const counter = await shared.counter('n')
          for (let call = 0; call < 5; call += 1) await counter.set((await counter.get()) + 1)
        }),
      ),
    )
    return world.cluster.traceHash
  }
  assert.equal(await course(), await course())
})

test('a home that crashes is lost to those who use it, in bounded time, whether the group says so or the adapter', async () => {
  for (const told of [true, false]) {
    using world = new SimulatedWorld(2, 3)
    const shared = world.structures[0]!
    const name = ['a', 'b', 'c', 'd', 'e'].find((one) => shared.homeOf(one) === 1)!
    const counter = await world.play(shared.counter(name))
    if (told) world.crash(1, world.cluster.nowNs + 1000)
    else world.cluster.inject({ kind: 'crash', host: 1, atNs: world.cluster.nowNs + 1000 })
    const adding = async (): Promise<never> => {
      for (;;) await counter.add()
    }
    await assert.rejects(world.play(adding()), {
      code: 'ERR_AETHER_HOME_LOST',
      rank: 1,
      structure: `counter '${name}'`,
    })
    assert.ok(world.ranks[0]!.nowMs() < 60_000)
  }
})

test('a program that was stopped for longer than a home may take to answer has lost nothing: what it had under way goes on', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    using world = new SimulatedWorld(2, seed, {}, [1])
    const counter = await world.play(world.structures[0]!.counter('hits'))
    const calls = 200
    const adding = Promise.all(Array.from({ length: calls }, () => counter.add()))
    adding.catch(() => {})
    const atNs = world.cluster.nowNs + seed * 700
    world.cluster.inject({ kind: 'pause', host: 0, atNs, forNs: 2 * 60_000 * 1e6 })
    const sums = await world.play(adding)
    assert.deepEqual(
      sums.sort((a, b) => a - b),
      Array.from({ length: calls }, (_, at) => at + 1),
    )
  }
})
