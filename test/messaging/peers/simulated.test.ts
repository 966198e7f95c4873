import assert from 'node:assert/strict'
import test from 'node:test'
import type { CollectiveName } from '../../../src/collectives/algorithms.ts'
import type { CollectiveError, PeerGroup } from '../../../src/messaging/index.ts'
import type { SimulationOptions } from '../../../src/providers/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { drawn, drawnSeeds } from '../../support/drawn.ts'
import { algorithmRounds, callAll, given, rangeOf } from './call-all.ts'
import { SimulatedMesh } from './simulated-mesh.ts'

const smooth: SimulationOptions = {}
const rough: SimulationOptions = {
  network: { jitterNs: 3000, tail: 0.05, tailNs: 20_000, loss: 0.005, duplicate: 0.05, reorder: 0.05 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
}
const watchful = { keepAliveMs: 200 }
/**
 * Virtual time from a loss to the last survivor's error: a silent peer is asked after two rounds of keep-alive at most,
 * the device gives up after its retries, and the note of who finds out first takes no longer than the retries of lost
 * packets.
 */
const TOLD_MS = 1500

type Work = (group: PeerGroup, of: (name: CollectiveName) => object) => Promise<unknown>

/** Every collective, for a rank to call in turn. */
const works: readonly Work[] = [
  (group, of) => group.broadcast(new Float64Array(300), { root: 1, ...of('broadcast') }),
  (group, of) => group.allReduce(given(group.rank, 900), 'sum', undefined, of('allReduce')),
  (group, of) => {
    const input = group.rank === 2 ? new Int32Array(group.size) : undefined
    return group.scatter(input, new Int32Array(1), { root: 2, ...of('scatter') })
  },
  (group, of) =>
    group.gather(Int32Array.of(1), group.rank === 0 ? new Int32Array(group.size) : undefined, of('gather')),
  (group, of) => group.allGather(given(group.rank, 40), new Float64Array(40 * group.size), of('allGather')),
  (group, of) => group.reduce(given(group.rank, 50), 'max', undefined, { root: 1, ...of('reduce') }),
  (group, of) =>
    group.reduceScatter(given(group.rank, 5 * group.size), 'sum', new Float64Array(5), of('reduceScatter')),
  (group, of) => group.scan(given(group.rank, 20), 'sum', undefined, of('scan')),
  (group, of) => group.exclusiveScan(given(group.rank, 21), 'sum', undefined, of('scan')),
  (group, of) => group.allToAll(given(group.rank, 30 * group.size), new Float64Array(30 * group.size), of('allToAll')),
  (group, of) => {
    const counts = rangeOf(group.size).map((other) => 7 * (group.rank + other))
    const length = counts.reduce((sum, count) => sum + count, 0)
    const lengths = { sendCounts: counts, receiveCounts: counts }
    return group.allToAllV(new Uint16Array(length), new Uint16Array(length), lengths, of('allToAllV'))
  },
  (group, of) => group.barrier(of('barrier')),
]

/** Collectives without a pause until one fails, each time round by other algorithms. */
async function untilLoss(group: PeerGroup, first: number): Promise<CollectiveError> {
  const rounds = algorithmRounds()
  for (let turn = first; ; turn += 1) {
    try {
      await works[turn % works.length]!(group, rounds[turn % rounds.length]!)
    } catch (error) {
      return error as CollectiveError
    }
  }
}

for (const [seed, size] of [
  [1, 3],
  [2, 4],
  [3, 5],
] as const) {
  test(`every collective of ${size} over a simulated network that loses, doubles, delays and tears, seed ${seed}`, async (t) => {
    const mesh = await SimulatedMesh.open(t, size, seed, rough)
    const groups = mesh.groups()
    for (const count of [0, 1, 400]) await mesh.drive(callAll(groups, count), 60_000)
    await mesh.close()
    for (const peers of mesh.peers) assert.equal(peers.lastError, undefined)
  })
}

const kinds = ['float32', 'int8', 'uint16', 'int64', 'float64', 'uint8clamped', 'uint32'] as const

const sizes = [
  [11, 2],
  [12, 3],
  [13, 5],
  [14, 8],
] as const
for (const [seed, size] of drawn(sizes, 2)) {
  test(`every algorithm by name of ${size} over such a network, odd lengths and several kinds, seed ${seed}`, async (t) => {
    // So few bytes go unasked that grants travel, too.
    const mesh = await SimulatedMesh.open(t, size, seed, rough, { eagerBytes: 200 })
    const groups = mesh.groups()
    for (const [round, options] of algorithmRounds().entries())
      for (const [index, count] of [1, 3, size > 5 ? 67 : 333].entries())
        await mesh.drive(callAll(groups, count, options, kinds[(round + index + size) % kinds.length]), 60_000)
    await mesh.close()
    for (const peers of mesh.peers) assert.equal(peers.lastError, undefined)
  })
}

test('the same seed takes the same course', async (t) => {
  const course = async (): Promise<string> => {
    const mesh = await SimulatedMesh.open(t, 3, 9, rough)
    await mesh.drive(callAll(mesh.groups(), 50), 60_000)
    const { traceHash } = mesh.cluster
    await mesh.close()
    t.mock.reset()
    return traceHash
  }
  assert.equal(await course(), await course())
})

test('a root that is far ahead goes on when the others have come nearer, and not when time has passed', async (t) => {
  const mesh = await SimulatedMesh.open(t, 3, 4, smooth, { requestsMax: 8 })
  const [root, ...others] = mesh.groups() as [PeerGroup, PeerGroup, PeerGroup]
  const receiving = async (group: PeerGroup) => {
    // Late, so that the root has to wait before anybody has an answer for it.
    await new Promise((resolve) => setTimeout(resolve, 5))
    for (let call = 0; call < 100; call += 1) {
      const [value] = await group.broadcast(new Float64Array(1))
      assert.equal(value, call)
    }
  }
  const sending = async () => {
    for (let call = 0; call < 100; call += 1) await root.broadcast(Float64Array.of(call))
  }
  // Ranks that wait for long say so after 100 ms, and would move it on by that.
  await mesh.drive(Promise.all([sending(), ...others.map(receiving)]), 50)
  await mesh.close()
})

for (const seed of drawnSeeds(16, 3, 0)) {
  const options = seed % 2 === 0 ? smooth : rough
  test(`a peer crashes at any moment, ${options === rough ? 'on a bad network, ' : ''}seed ${seed}: each other is told its name in bounded time, and they go on`, async (t) => {
    const random = new Random(1000 + seed)
    const size = 3 + random.below(4)
    const victim = random.below(size)
    const mesh = await SimulatedMesh.open(t, size, seed, options, watchful)
    const groups = mesh.groups()
    const first = random.below(works.length)
    const survivors = rangeOf(size).filter((number) => number !== victim)
    const losses = groups.map((group) => untilLoss(group, first))
    const afterMs = random.below(400) / 1000
    // Sometimes its adapter goes on with what it was told before.
    mesh.inject(afterMs, { kind: 'crash', host: victim, lingerNs: random.below(2) * 30_000 })
    const errors = await mesh.drive(Promise.all(survivors.map((number) => losses[number]!)), TOLD_MS)
    for (const error of errors) {
      assert.equal(error.code, 'ERR_AETHER_PEER_LOST', String(error))
      assert.deepEqual([error.rank, error.peer], [victim, victim])
    }
    // A link learns of it by itself, soon after.
    for (const number of survivors) {
      const peer = mesh.peers[number]!.get(victim)
      if (peer !== undefined) await mesh.drive(peer.gone, TOLD_MS)
      assert.match(String(mesh.peers[number]!.lastError), new RegExp(`peer ${victim} is lost`))
    }
    await mesh.drive(callAll(mesh.groups(survivors), 60), 60_000)
    await mesh.close()
  })
}

test('a peer crashes while all others only wait for it', async (t) => {
  const mesh = await SimulatedMesh.open(t, 4, 5, smooth, watchful)
  const groups = mesh.groups()
  const survivors = [1, 2, 3]
  const losses = survivors.map((number) => groups[number]!.broadcast(new Float64Array(1)).catch((error) => error))
  mesh.inject(10, { kind: 'crash', host: 0 })
  for (const error of await mesh.drive(Promise.all(losses), TOLD_MS)) {
    assert.equal(error.code, 'ERR_AETHER_PEER_LOST', String(error))
    assert.equal(error.peer, 0)
  }
  await mesh.drive(callAll(mesh.groups(survivors), 10), 60_000)
  await mesh.close()
})

for (const seed of drawnSeeds(4, 3)) {
  test(`the network is cut in two, seed ${seed}: each is told of somebody on the other side, and each side goes on`, async (t) => {
    const mesh = await SimulatedMesh.open(t, 5, seed, seed % 2 === 0 ? smooth : rough, watchful)
    const sides = [
      [0, 3],
      [1, 2, 4],
    ] as const
    const losses = mesh.groups().map((group) => untilLoss(group, seed))
    const afterMs = new Random(seed).below(300) / 1000
    for (const from of sides[0]) {
      for (const to of sides[1]) {
        mesh.inject(afterMs, { kind: 'cut', from, to })
        mesh.inject(afterMs, { kind: 'cut', from: to, to: from })
      }
    }
    const errors = await mesh.drive(Promise.all(losses), TOLD_MS)
    for (const [side, members] of sides.entries()) {
      for (const member of members) {
        assert.equal(errors[member]!.code, 'ERR_AETHER_PEER_LOST', String(errors[member]))
        assert.ok((sides[1 - side] as readonly number[]).includes(errors[member]!.peer), String(errors[member]))
      }
    }
    const both = sides.map((members) => callAll(mesh.groups(members), 30))
    await mesh.drive(Promise.all(both), 60_000)
    await mesh.close()
  })
}

test('one that is heard no more, though it hears the others: they name it, and it learns that it is alone', async (t) => {
  const mesh = await SimulatedMesh.open(t, 4, 11, smooth, watchful)
  const losses = mesh.groups().map((group) => untilLoss(group, 1))
  for (const to of [0, 1, 3]) mesh.inject(0.05, { kind: 'cut', from: 2, to })
  const errors = await mesh.drive(Promise.all(losses), TOLD_MS)
  for (const [number, { code, peer }] of errors.entries()) {
    assert.equal(code, 'ERR_AETHER_PEER_LOST')
    if (number !== 2) assert.equal(peer, 2)
    else assert.notEqual(peer, 2)
  }
  await mesh.drive(callAll(mesh.groups([0, 1, 3]), 20), 60_000)
  await mesh.close()
})

test('what passes is not a loss: cuts shorter than the retries, a slow path, a peer that stands still for a second', async (t) => {
  const mesh = await SimulatedMesh.open(t, 4, 21, rough, watchful)
  const groups = mesh.groups()
  const sums = groups.map(async (group) => {
    const results: Float64Array[] = []
    for (let turn = 0; turn < 60; turn += 1)
      results.push(await group.allReduce(Float64Array.of(turn, group.rank), 'sum'))
    return results
  })
  const passing = [
    { kind: 'cut', from: 0, to: 1 },
    { kind: 'cut', from: 3, to: 0 },
  ] as const
  for (const [index, fault] of passing.entries()) mesh.inject(0.1 + index / 10, { ...fault, forNs: 50e6 })
  mesh.inject(0.05, { kind: 'clog', from: 2, to: 3, delayNs: 1e6, forNs: 100e6 })
  mesh.inject(0.4, { kind: 'pause', host: 2, forNs: 1000e6 })
  for (const results of await mesh.drive(Promise.all(sums), 10_000))
    for (const [turn, sum] of results.entries()) assert.deepEqual(sum, Float64Array.of(4 * turn, 6))
  assert.ok(mesh.nowMs > 1000, 'the pause was part of it')
  await mesh.close()
})
