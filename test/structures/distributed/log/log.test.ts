import assert from 'node:assert/strict'
import { test } from 'node:test'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import { LogBodyOffset } from '../../../../src/structures/distributed/log/body.ts'
import { bytes, type GroupLog, type LogOptions } from '../../../../src/structures/index.ts'
import { playChannel, playLog } from '../../log-suite.ts'
import { FakeWorld } from '../fake-world.ts'
import { SimulatedWorld } from '../simulated-world.ts'

/** Orders that each test draws. */
const SEEDS = 10
const MEMORY_BYTES = 1024 * 1024

function small(ranks: number, seed: number): FakeWorld {
  return new FakeWorld(ranks, seed, MEMORY_BYTES, [0])
}

async function opened<V>(world: FakeWorld, options: LogOptions<V>): Promise<GroupLog<V>[]> {
  return await world.play(Promise.all(world.structures.map((shared) => shared.log<V>('l', options))))
}

/** Blocks at rank 0 that something names. */
async function blocksNamed(world: FakeWorld): Promise<number> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  return (await world.play(takeCensus(home.on('a census')))).blocks.size
}

test('a log and a channel between machines do what they do on one', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(2, seed)
    const [one, two] = await opened<string | undefined>(world, { capacity: 4 })
    await world.play(playLog(one!, two!))
    const [here, there] = await world.play(
      Promise.all(world.structures.map((shared) => shared.channel<number>('news', { capacity: 50 }))),
    )
    await world.play(playChannel(here!, there!))
  }
})

test('the same over simulated adapters', async () => {
  using world = new SimulatedWorld(2, 5)
  const [one, two] = await world.play(
    Promise.all(world.structures.map((shared) => shared.log<string | undefined>('l', { capacity: 4 }))),
  )
  await world.play(playLog(one!, two!))
  const [here, there] = await world.play(
    Promise.all(world.structures.map((shared) => shared.channel<number>('news', { capacity: 50 }))),
  )
  await world.play(playChannel(here!, there!))
})

test('ranks append at once: every index has one value for all, whoever reads, and those of one rank are in the order of its calls', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(3, seed)
    const logs = await opened<number>(world, { capacity: 3, codec: number })
    const given = new Map<number, number>()
    const totals: number[] = []
    const follow = async (log: GroupLog<number>): Promise<void> => {
      let count = 0
      let last = -1
      for await (const { index, value, missed } of log) {
        count += missed + 1
        assert.equal(index, last + 1 + missed, `seed ${seed}`)
        last = index
        assert.equal(given.get(index) ?? value, value, `seed ${seed}: index ${index}`)
        given.set(index, value)
        if (index === 29) break
      }
      totals.push(count)
    }
    const append = async (log: GroupLog<number>, rank: number): Promise<void> => {
      const indexes = await Promise.all(Array.from({ length: 10 }, (_, call) => log.append(rank * 100 + call)))
      assert.deepEqual(
        indexes,
        [...indexes].sort((a, b) => a - b),
      )
      for (const [call, index] of indexes.entries()) {
        assert.equal(given.get(index) ?? rank * 100 + call, rank * 100 + call, `seed ${seed}`)
        given.set(index, rank * 100 + call)
      }
    }
    await world.play(Promise.all(logs.flatMap((log, rank) => [append(log, rank), follow(log)])))
    assert.deepEqual(totals, [30, 30, 30])
    assert.equal(given.size, 30)
    assert.equal(new Set(given.values()).size, 30)
    assert.deepEqual(await world.play(logs[0]!.bounds()), { first: 27, end: 30 })
    // The name, and what is kept.
    assert.equal(await blocksNamed(world), 4)
  }
})

test('who reads what is dropped and written anew meanwhile gets whole values or none', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(3, seed)
    const logs = await opened(world, { capacity: 2, codec: bytes })
    let appending = true
    const append = async (): Promise<void> => {
      for (let call = 0; call < 60; call += 1) await logs[1]!.append(new Uint8Array(150).fill(call))
      appending = false
    }
    const read = async (log: GroupLog<Uint8Array>): Promise<void> => {
      while (appending)
        for (const { index, value } of await log.read(0))
          assert.deepEqual(value, new Uint8Array(150).fill(index), `seed ${seed}`)
    }
    await world.play(Promise.all([append(), read(logs[0]!), read(logs[2]!), read(logs[2]!)]))
  }
})

test('how many round trips each call takes', async () => {
  const world = small(2, 1)
  const [log] = await opened<number>(world, { capacity: 100, codec: number })
  await world.play(log!.append(0))
  const calls: (readonly [number, () => Promise<unknown>])[] = [
    [1, () => log!.append(1)],
    [3, () => Promise.all([log!.append(2), log!.append(3), log!.append(4)])],
    [2, () => log!.read(0, 30)],
    [3, () => log!.tail(5)],
    [2, () => log!.bounds()],
    [3, () => log!.trim(3)],
  ]
  for (const [trips, call] of calls) {
    const before = world.ranks[0]!.roundTrips
    await world.play(call())
    assert.equal(world.ranks[0]!.roundTrips - before, trips, String(call))
  }
})

test('a rank that has not looked for hundreds of rounds appends and reads where the end is by now', async () => {
  const rounds = { 1: [49, 51, 64, 66, 128, 255, 256, 257], 3: [65, 256] }
  for (const capacity of [1, 3] as const) {
    for (const behind of rounds[capacity]) {
      const world = small(3, behind)
      const [busy, asleep, late] = await opened<number>(world, { capacity, codec: number })
      await world.play(asleep!.append(1))
      const other = busy!
      for (let call = 1; call < behind * capacity; call += 1) await world.play(other.append(call))
      const what = `${capacity}, ${behind}`
      assert.equal(await world.play(asleep!.append(-7)), behind * capacity, what)
      const [last] = await world.play(late!.tail(1))
      assert.deepEqual(last, { index: behind * capacity, value: -7, missed: 0 }, what)
      assert.equal((await world.play(late!.read(0))).length, capacity, what)
      assert.equal((await world.play(asleep!.read(behind * capacity + 1))).length, 0, what)
    }
  }
})

test('where the mark of the end is as far behind as it may be, all find the end', async () => {
  for (const capacity of [1, 3]) {
    const world = small(3, capacity)
    const [busy, other, third] = await opened<number>(world, { capacity, codec: number })
    for (let call = 0; call < 70 * capacity; call += 1) await world.play(busy!.append(call))
    const home = new HomeStructures(world.ranks[0]!, 0)
    const place = await world.play(
      home.names.open({
        kind: 'log',
        name: 'l',
        parameters: [],
        makeBody: () => Promise.reject(new Error('it is there')),
      }),
    )
    const mark = new BigUint64Array(world.memories[0]!.buffer, place.offset + LogBodyOffset.End, 1)
    mark[0] = BigInt(6 * capacity)
    assert.deepEqual(await world.play(other!.tail(1)), [
      { index: 70 * capacity - 1, value: 70 * capacity - 1, missed: 0 },
    ])
    mark[0] = BigInt(6 * capacity)
    assert.equal(await world.play(third!.append(-1)), 70 * capacity)
    assert.ok(mark[0] >= BigInt(7 * capacity))
  }
})

test('of values as many are kept as have so many bytes, though always the newest, whoever appends', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = small(2, seed)
    const logs = await opened(world, { capacity: 100, capacityBytes: 100, codec: bytes })
    let kept: number[] = []
    for (let call = 0; call < 30; call += 1) {
      const length = world.random.below(call % 7 === 6 ? 200 : 40)
      await world.play(logs[world.random.below(2)]!.append(new Uint8Array(length)))
      kept.push(length)
      while (kept.length > 1 && kept.reduce((sum, one) => sum + one) > 100) kept = kept.slice(1)
      if (call === 12) {
        await world.play(logs[0]!.trim(100))
        kept = []
      }
      const found = await world.play(logs[0]!.read(0))
      assert.deepEqual(
        found.map(({ value }) => value.length),
        kept,
        `seed ${seed}, ${call}`,
      )
    }
    await world.play(Promise.all([0, 1, 2, 3].flatMap(() => logs.map((log) => log.append(new Uint8Array(30))))))
    const sum = (await world.play(logs[1]!.read(0))).reduce((total, { value }) => total + value.length, 0)
    assert.ok(sum === 90 || sum === 60, `seed ${seed}: ${sum}`)
  }
})

type Act = readonly [name: string, options: LogOptions<number>, act: (log: GroupLog<number>) => Promise<unknown>]

const acts: readonly Act[] = [
  ['append', { capacity: 10 }, (log) => log.append(100)],
  ['append to a full log', { capacity: 3 }, (log) => log.append(100)],
  ['append to a log with as many bytes as it may have', { capacity: 10, capacityBytes: 24 }, (log) => log.append(100)],
  ['trim', { capacity: 10 }, (log) => log.trim(2)],
  ['read', { capacity: 10 }, (log) => log.read(0)],
]

for (const [name, options, act] of acts) {
  test(`a rank that is stopped between any two steps of ${name} has done it or not, holds up nobody, and leaves nothing`, async () => {
    const outcomes = new Set<string>()
    for (let steps = 0; steps < 40; steps += 1) {
      const world = small(3, steps + 1)
      const logs = await opened<number>(world, { codec: number, ...options })
      for (const value of [0, 1, 2]) await world.play(logs[2]!.append(value))
      world.ranks[1]!.stepsLeft = steps
      let done = false
      void act(logs[1]!).then(() => (done = true))
      if (steps % 2 === 1) await world.play(logs[2]!.read(0))
      await world.play(world.ranks[0]!.sleep(0.5))
      world.stop(1)
      await world.play(world.ranks[0]!.sleep(2))
      const values = (await world.play(logs[0]!.read(0))).map(({ value }) => value)
      if (done) outcomes.add('done')
      outcomes.add(values.join(' '))
      assert.deepEqual(
        (await world.play(logs[2]!.read(0))).map(({ value }) => value),
        values,
      )
      // Others go on, and what is kept is bounded as before.
      const { end } = await world.play(logs[2]!.bounds())
      assert.equal(await world.play(logs[2]!.append(7)), end)
      const after = (await world.play(logs[0]!.read(0))).map(({ value }) => value)
      assert.equal(after.at(-1), 7)
      assert.ok(after.length <= Math.min(options.capacity!, (options.capacityBytes ?? 1000) / 8), `${steps}`)
      await assertNothingLeft(world, after.length, steps)
    }
    assert.ok(outcomes.has('done'))
    assert.ok(name === 'read' ? outcomes.size === 2 : outcomes.size >= 3, [...outcomes].join(', '))
    for (const outcome of outcomes) assert.match(outcome, /^(done|(0 )?(1 )?2( 100)?)$/)
  })
}

/** Nothing belongs to the rank that was stopped, but what it appended and is there. */
async function assertNothingLeft(world: FakeWorld, entries: number, steps: number): Promise<void> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  const { blocks, tables } = await world.play(takeCensus(home.on('a census')))
  assert.equal(blocks.size, entries + 1, `${steps}`)
  const taken = await world.play(home.pool.chunks.taken())
  const lost = taken.filter(({ owner, index }) => owner === 1 && !tables.has(index * 65_536))
  assert.deepEqual(lost, [], `${steps}`)
}

test('memory of what was dropped is used again, whoever dropped it; a log that finds none refuses, a channel drops its oldest', async () => {
  const world = small(2, 3)
  const [one, two] = await opened(world, { codec: bytes, capacity: 20 })
  const big = new Uint8Array(12_000)
  for (let call = 0; call < 200; call += 1) await world.play((call % 3 === 0 ? two! : one!).append(big))
  assert.deepEqual(await world.play(one!.bounds()), { first: 180, end: 200 })
  await world.play(one!.trim(200))
  assert.equal(await blocksNamed(world), 1)
  const [shared] = world.structures
  const long = await world.play(shared!.log('long', { codec: bytes }))
  const channel = await world.play(shared!.channel('news', { codec: bytes }))
  const fill = async (): Promise<never> => {
    for (;;) await long.append(big)
  }
  await assert.rejects(world.play(fill()), { code: 'ERR_AETHER_HEAP_FULL' })
  const kept = await world.play(long.bounds())
  assert.ok(kept.first === 0 && kept.end > 20, JSON.stringify(kept))
  await world.play(long.trim(kept.end))
  for (let call = 0; call < 150; call += 1) assert.equal(await world.play(channel.publish(big)), call)
})

test('what is no index, count, capacity or value is refused, and so is another kind or capacity', async () => {
  const world = small(1, 1)
  const [shared] = world.structures
  const log = await world.play(shared!.log<string>('l', { valueBytesMax: 10 }))
  const bad = { code: 'ERR_AETHER_INVALID_ARGUMENT' }
  for (const from of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1' as unknown as number]) {
    await assert.rejects(world.play(log.read(from)), bad)
    assert.throws(() => log.follow({ from }), bad)
  }
  for (const count of [-1, 0.5, Number.NaN]) {
    await assert.rejects(world.play(log.read(0, count)), bad)
    await assert.rejects(world.play(log.tail(count)), bad)
    await assert.rejects(world.play(log.trim(count)), bad)
  }
  for (const capacity of [0, -1, 0.5, 2 ** 23]) await assert.rejects(shared!.log('other', { capacity }), bad)
  await assert.rejects(shared!.log('other', { valueBytesMax: 61_441 }), bad)
  await assert.rejects(shared!.channel('other', { capacity: 0 }), bad)
  await assert.rejects(world.play(log.append('more than ten bytes')), { code: 'ERR_AETHER_VALUE_TOO_LARGE' })
  const mismatch = { code: 'ERR_AETHER_STRUCTURE_MISMATCH' }
  await assert.rejects(world.play(shared!.log('l', { capacity: 5 })), mismatch)
  await assert.rejects(world.play(shared!.channel('l')), mismatch)
  assert.equal(await world.play(log.append('a')), 0)
})

test('a log whose home is lost says so, to those who append and to those who wait', async () => {
  const world = new FakeWorld(2, 3, MEMORY_BYTES, [1])
  const [log] = await opened<number>(world, { codec: number })
  const waiting = log!.follow().next()
  const lost = { code: 'ERR_AETHER_HOME_LOST', rank: 1, structure: "log 'l'" }
  await world.play(log!.append(1))
  await world.play(waiting)
  const next = log!.follow({ from: 'next' })
  const never = next.next()
  world.stop(1)
  await assert.rejects(world.play(never), lost)
  const calls: readonly (() => Promise<unknown>)[] = [
    () => log!.append(2),
    () => log!.read(0),
    () => log!.bounds(),
    () => log!.follow().next(),
  ]
  for (const call of calls) await assert.rejects(world.play(call()), lost)
})
