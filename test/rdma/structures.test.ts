import assert from 'node:assert/strict'
import test from 'node:test'
import { number } from '../../src/codecs/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { GroupStructures } from '../../src/structures/distributed/group-structures.ts'
import { EventLoop } from '../../src/structures/distributed/verbs/event-loop.ts'
import { VerbsMemory } from '../../src/structures/distributed/verbs/verbs-memory.ts'
import type { GroupList } from '../../src/structures/index.ts'
import { openDevice } from '../../src/verbs/index.ts'
import { listKinds } from '../structures/distributed/list/list-histories.ts'
import { entriesOf, fill, openSmallTables, tablesOf } from '../structures/distributed/map/small-tables.ts'
import { assertBank, bankTurns, openBank } from '../structures/mvrlu-suite.ts'

const RANKS = 2
const BYTES = 1024 * 1024

/** Ranks that reach each other, and themselves, through the device. */
function openRanks(count: number, lengthBytes: number): VerbsMemory[] {
  const ranks: VerbsMemory[] = Array.from({ length: count }, (_, rank) => {
    const device = openDevice('rxe0')
    const runtime = new EventLoop()
    return new VerbsMemory({
      rank,
      ranks: count,
      device,
      lengthBytes,
      ownBytes: lengthBytes,
      runtime,
      timeoutMs: 60_000,
      ring: (to, home, place) => setImmediate(() => ranks[to]!.rung(home, place)),
    })
  })
  for (const one of ranks)
    for (const other of ranks) if (one !== other) one.connect(other.rank, other.endpointFor(one.rank), other.place)
  return ranks
}

test('the structures of a group over a real device: each rank over a queue pair to itself, and to the other', async () => {
  const ranks = openRanks(RANKS, BYTES)
  const all = ranks.map(({ rank }) => rank)
  const [one, two] = ranks.map((each) => new GroupStructures(each, all, async () => each.close())) as [
    GroupStructures,
    GroupStructures,
  ]
  const counters = await Promise.all([one, two].map((shared) => shared.counter('hits')))
  await Promise.all(
    counters.map(async (counter) => {
      for (let call = 0; call < 20; call += 1) await counter.add()
    }),
  )
  assert.deepEqual(await Promise.all(counters.map((counter) => counter.get())), [40, 40])

  const mutexes = await Promise.all([one, two].map((shared) => shared.mutex('stock')))
  let holders = 0
  await Promise.all(
    mutexes.map(async (mutex) => {
      for (let turn = 0; turn < 3; turn += 1) {
        using _hold = await mutex.lock()
        holders += 1
        assert.equal(holders, 1)
        await new Promise(setImmediate)
        holders -= 1
      }
    }),
  )

  const maps = await Promise.all([one, two].map((shared) => shared.map<number>('m', { spread: true })))
  await Promise.all(
    maps.map(async (map) => {
      for (let call = 0; call < 10; call += 1) await map.update(`k${call % 3}`, (value) => (value ?? 0) + 1)
    }),
  )
  const sum = (await Promise.all([0, 1, 2].map((key) => maps[0]!.get(`k${key}`)))).reduce<number>(
    (total, value) => total + (value ?? 0),
    0,
  )
  assert.equal(sum, 20)
  assert.equal(await maps[1]!.size(), 3)

  for (const kind of listKinds) {
    const lists: readonly GroupList<number>[] = await Promise.all(
      [one, two].map((shared) => shared[kind]<number>(`a ${kind}`)),
    )
    const [here, there] = lists as readonly [GroupList<number>, GroupList<number>]
    const values = Array.from({ length: 60 }, (_, at) => at)
    await Promise.all(values.map((value) => (value % 2 === 0 ? here : there).push(value)))
    const taken = await Promise.all(values.map((value) => (value % 2 === 0 ? there : here).pop()))
    assert.deepEqual(
      taken.sort((a, b) => a - b),
      values,
    )
    assert.equal(await here.tryPop(), undefined)
  }

  const objects = await Promise.all([one, two].map((shared) => shared.mvRlu<number>('o', { codec: number })))
  const bank = await openBank(objects[0]!, 3)
  const chance = new Random(7)
  const below = (bound: number): number => chance.below(bound)
  await Promise.all(objects.map((each) => bankTurns(each, bank, 6, below, () => new Promise(setImmediate))))
  await assertBank(objects[1]!, bank, 'over a real device')

  const logs = await Promise.all([one, two].map((shared) => shared.log<number>('log', { capacity: 8 })))
  const following = logs[1]!.follow()
  await Promise.all(
    logs.map(async (log, rank) => {
      for (let call = 0; call < 10; call += 1) await log.append(rank * 100 + call)
    }),
  )
  const values: number[] = []
  let given = 0
  for await (const { value, missed } of following) {
    values.push(value)
    given += 1 + missed
    if (given === 20) break
  }
  assert.deepEqual(await logs[0]!.bounds(), { first: 12, end: 20 })
  assert.deepEqual(
    (await logs[0]!.read(0)).map(({ value }) => value),
    values.slice(-8),
  )
  const news = await Promise.all([one, two].map((shared) => shared.channel<string>('news')))
  const subscription = news[1]!.subscribe()
  await subscription.ready
  await news[0]!.publish('open')
  assert.equal((await subscription.next()).value?.value, 'open')

  const cells = await Promise.all([one, two].map((shared) => shared.cell<number>('cell')))
  await one.rcu.assign(cells[0]!, 1)
  const section = two.rcu.readLock()
  assert.equal(await two.rcu.dereference(cells[1]!), 1)
  const state = one.rcu.getState()
  assert.equal(await one.rcu.pollState(state), false)
  await one.rcu.assign(cells[0]!, 2)
  section.readUnlock()
  await one.rcu.synchronize()
  assert.equal(await one.rcu.pollState(state), true)

  // The other end goes away without a word: its adapter refuses, and that is said.
  const far = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => one.homeOf(name) === 1)!
  const lost = await one.counter(far)
  await two.close()
  await assert.rejects(lost.add(), { code: 'ERR_AETHER_HOME_LOST', rank: 1 })
  await one.close()
})

test('a map grows over a real device while one of its ranks goes away: nothing that was acknowledged is lost, and no table is left over', async () => {
  const ranks = openRanks(3, 2 * BYTES)
  const world = { ranks, play: <T>(work: Promise<T>): Promise<T> => work }
  const shared = ranks.map((each) => new GroupStructures(each, [0], async () => each.close()))
  const maps = await openSmallTables(world, 8)
  await fill(maps[0]!, 0, 44)
  const acknowledged: number[] = []
  const ending = async (): Promise<void> => {
    for (let key = 1000; ; key += 1) {
      await maps[1]!.set(key, key)
      acknowledged.push(key)
      // In the middle of a split, of which it has begun a part.
      if (acknowledged.length === 30) setImmediate(() => ranks[1]!.close())
    }
  }
  const reading = async (): Promise<void> => {
    for (let key = 0; key < 44; key += 1) assert.equal(await maps[2]!.get(key), key)
  }
  await Promise.all([assert.rejects(ending()), fill(maps[0]!, 2000, 40), fill(maps[2]!, 3000, 40), reading()])
  for (const rank of [0, 2]) {
    ranks[rank]!.memberEnded(1, 'it went away')
    await shared[rank]!.settle(1)
  }
  await fill(maps[2]!, 4000, 60)
  assert.ok(acknowledged.length >= 30)
  const found = await entriesOf(maps[0]!)
  for (const key of acknowledged) assert.equal(found.get(key), key)
  for (const [from, count] of [
    [0, 44],
    [2000, 40],
    [3000, 40],
    [4000, 60],
  ] as const)
    for (let key = from; key < from + count; key += 1) assert.equal(found.get(key), key)
  const { live, taken } = await tablesOf(world)
  assert.ok(live.size > 3, `${live.size}`)
  assert.deepEqual(
    [...taken].filter((table) => !live.has(table)),
    [],
  )
  await shared[2]!.close()
  await shared[0]!.close()
})
