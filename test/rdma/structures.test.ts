import assert from 'node:assert/strict'
import test from 'node:test'
import { EventLoop } from '../../src/structures/distributed/event-loop.ts'
import { GroupStructures } from '../../src/structures/distributed/group-structures.ts'
import { VerbsWords } from '../../src/structures/distributed/verbs-words.ts'
import { openDevice } from '../../src/verbs/index.ts'

const RANKS = 2
const BYTES = 1024 * 1024

test('the structures of a group over a real device: each rank over a queue pair to itself, and to the other', async () => {
  const words = Array.from({ length: RANKS }, (_, rank) => {
    const device = openDevice('rxe0')
    return new VerbsWords({
      rank,
      ranks: RANKS,
      device,
      lengthBytes: BYTES,
      ownBytes: BYTES,
      runtime: new EventLoop(),
      timeoutMs: 60_000,
    })
  })
  for (const one of words)
    for (const other of words) if (one !== other) one.connect(other.rank, other.endpointFor(one.rank), other.place)
  const all = words.map(({ rank }) => rank)
  const [one, two] = words.map((each) => new GroupStructures(each, all, async () => each.close())) as [
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

  // The other end goes away without a word: its adapter refuses, and that is said.
  const far = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => one.homeOf(name) === 1) as string
  const lost = await one.counter(far)
  await two.close()
  await assert.rejects(lost.add(), { code: 'ERR_AETHER_HOME_LOST', rank: 1 })
  await one.close()
})
