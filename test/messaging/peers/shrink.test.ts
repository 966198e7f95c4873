import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import test, { type TestContext } from 'node:test'
import { type AgreementError, openPeers, type PeerAddress, type PeerGroup } from '../../../src/messaging/index.ts'
import type { SimulationOptions } from '../../../src/providers/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { drawnSeeds } from '../../support/drawn.ts'
import { memoryLinks } from '../../support/memory-links.ts'
import { callAll, rangeOf } from './call-all.ts'
import { Mesh } from './mesh.ts'
import { SimulatedMesh } from './simulated-mesh.ts'

/** Those that are left of a group agree on who goes on, and go on. */

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

/** Sums until one fails; then what is left. */
async function shrinkAfterLoss(group: PeerGroup, options: Parameters<PeerGroup['shrink']>[0] = {}): Promise<PeerGroup> {
  try {
    for (;;) await group.allReduce(Float64Array.of(1, 2), 'sum')
  } catch {
    return group.shrink(options)
  }
}

type Outcome = PromiseSettledResult<PeerGroup>
const groupOf = (outcome: Outcome): PeerGroup => {
  if (outcome.status === 'rejected') throw outcome.reason as Error
  return outcome.value
}
const errorOf = (outcome: Outcome): AgreementError => {
  assert.equal(outcome.status, 'rejected')
  return (outcome as PromiseRejectedResult).reason as AgreementError
}

test('after a death those that are left get the same group by `shrink`, and go on in it; and again', async () => {
  await using mesh = await Mesh.open(6)
  let groups = mesh.groups()
  let left = rangeOf(6)
  for (const victim of [0, 4]) {
    const calls = left
      .map((number, rank) => ({ number, group: groups[rank]! }))
      .filter(({ number }) => number !== victim)
      .map(({ group }) => shrinkAfterLoss(group))
    await turns(20)
    mesh.kill(victim)
    left = left.filter((number) => number !== victim)
    groups = await Promise.all(calls)
    for (const [rank, group] of groups.entries()) assert.deepEqual([group.rank, group.members], [rank, left])
    await callAll(groups, 40)
  }
})

test('`shrink` ends a group that has not failed, and gives the same group when it is called again', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const [one, two, three] = await Promise.all(groups.map((group) => group.shrink()))
  assert.deepEqual(one!.members, [0, 1, 2])
  assert.equal(await groups[0]!.shrink(), one)
  await assert.rejects(groups[1]!.barrier(), { code: 'ERR_AETHER_COLLECTIVE_ABANDONED' })
  await callAll([one!, two!, three!], 5)
})

test('a member that is started anew makes a group with those that are left, whatever groups there were before', async () => {
  await using mesh = await Mesh.open(3)
  await callAll(mesh.groups(), 5)
  await callAll(mesh.groups(), 5)
  mesh.kill(2)
  await turns(50)
  await using anew = openPeers({ number: 2 })
  await Promise.all(
    [0, 1].flatMap((number) => {
      const [here, there] = memoryLinks({ ringBytes: 4096, seed: number })
      return [mesh.peers[number]!.attach(here), anew.attach(there)]
    }),
  )
  const members = [0, 1, 2]
  await callAll(
    [mesh.peers[0]!, mesh.peers[1]!, anew].map((peers) => peers.group(members)),
    5,
  )
})

test('where one of those that go on has died meanwhile, the next that is agreed on does not wait for it', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const calls = groups.map((group) => group.shrink())
  const [one, two] = await Promise.all(calls)
  mesh.kill(2)
  await turns(50)
  // A silent one would be waited for as long as that.
  const options = { absentAfterMs: 60_000, timeoutMs: 120_000 }
  const left = await Promise.all([one!.shrink(options), two!.shrink(options)])
  for (const group of left) assert.deepEqual(group.members, [0, 1])
})

test('two that lose each other: one of them is left out, and told so', async () => {
  await using mesh = await Mesh.open(4)
  const calls = mesh.groups().map((group) => shrinkAfterLoss(group))
  await turns(20)
  mesh.cut(1, 2)
  const outcomes = await Promise.allSettled(calls)
  const error = errorOf(outcomes[2]!)
  assert.equal(error.code, 'ERR_AETHER_GROUP_EXCLUDED')
  assert.deepEqual(error.members, [0, 1, 3])
  assert.match(error.message, /peers 0, 1, 3 go on without this one, peer 2/)
  const groups = [0, 1, 3].map((rank) => groupOf(outcomes[rank]!))
  for (const group of groups) assert.deepEqual(group.members, [0, 1, 3])
  await callAll(groups, 12)
})

test('a member that takes no part: by closing the group at once, by silence after `absentAfterMs`; it is told when it asks', async () => {
  await using mesh = await Mesh.open(5)
  const groups = mesh.groups()
  groups[1]!.close()
  const calls = [0, 2, 4].map((rank) => groups[rank]!.shrink({ absentAfterMs: 200 }))
  const shrunk = await Promise.all(calls)
  for (const group of shrunk) assert.deepEqual(group.members, [0, 2, 4])
  await callAll(shrunk, 5)
  // The old group may be closed; what was agreed on is still known.
  for (const rank of [0, 2, 4]) groups[rank]!.close()
  await assert.rejects(groups[3]!.shrink(), { code: 'ERR_AETHER_GROUP_EXCLUDED', members: [0, 2, 4] })
  await assert.rejects(groups[3]!.barrier(), { code: 'ERR_AETHER_GROUP_EXCLUDED' })
  await assert.rejects(groups[1]!.shrink(), { code: 'ERR_AETHER_CLOSED' })
})

test('without a majority `shrink` says so at once, and `any` goes on all the same', async () => {
  await using mesh = await Mesh.open(4)
  const groups = mesh.groups()
  mesh.kill(2)
  mesh.kill(3)
  await turns(30)
  for (const rank of [0, 1]) {
    await assert.rejects(groups[rank]!.shrink(), (error: AgreementError) => {
      assert.equal(error.code, 'ERR_AETHER_GROUP_MINORITY')
      assert.match(error.message, /2 of the 4/)
      assert.deepEqual(error.members, [0, 1])
      return true
    })
  }
  const left = await Promise.all([0, 1].map((rank) => groups[rank]!.shrink({ quorum: 'any' })))
  for (const group of left) assert.deepEqual(group.members, [0, 1])
  await callAll(left, 5)
})

test('another quorum, times that cannot be, a signal, a context that is closed: each is told', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const [mine, other] = await Promise.allSettled([
    groups[0]!.shrink({ quorum: 'any', absentAfterMs: 100 }),
    groups[1]!.shrink({ absentAfterMs: 100, timeoutMs: 2000 }),
  ])
  const codes = [mine, other].map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'none'))
  assert.ok(codes.includes('ERR_AETHER_COLLECTIVE_MISMATCH'), String(codes))
  const again = mesh.groups()
  await assert.rejects(again[0]!.shrink({ quorum: 'all' as never }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await assert.rejects(again[0]!.shrink({ absentAfterMs: 0 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await assert.rejects(again[0]!.shrink({ timeoutMs: Number.NaN }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  const controller = new AbortController()
  const call = again[0]!.shrink({ signal: controller.signal })
  await turns(5)
  controller.abort(new Error('enough'))
  await assert.rejects(call, /enough/)
  // It may still take part.
  const all = await Promise.all(again.map((group) => group.shrink()))
  for (const group of all) assert.deepEqual(group.members, [0, 1, 2])
  const closing = mesh.groups()[0]!.shrink()
  await turns(5)
  await Promise.all([mesh.peers[0]!.close(), assert.rejects(closing, { code: 'ERR_AETHER_CLOSED' })])
})

// ---- over a simulated network
// --------------------------------------------------------------------------------------------------------

const smooth: SimulationOptions = {}
const rough: SimulationOptions = {
  network: { jitterNs: 3000, tail: 0.05, tailNs: 20_000, loss: 0.005, duplicate: 0.05, reorder: 0.05 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
}
const watchful = { keepAliveMs: 200 }
const options = { absentAfterMs: 2000, timeoutMs: 20_000 }
/**
 * A loss is noticed within this, see simulated.test.ts; then at most a few rounds follow, each after `absentAfterMs` at
 * most.
 */
const AGREED_MS = 40_000
/** Of each kind of fault. */
const seeds = drawnSeeds(6, 3, 0)

async function withMesh(
  t: TestContext,
  seed: number,
  size: number,
  use: (mesh: SimulatedMesh) => Promise<void>,
): Promise<void> {
  const mesh = await SimulatedMesh.open(t, size, seed, seed % 2 === 0 ? smooth : rough, watchful)
  await use(mesh)
  await mesh.close()
  t.mock.reset()
}

test(`${seeds.length} seeds on a simulated network: one dies in a collective, another while the rest agree; the rest go on`, async (t) => {
  for (const seed of seeds) {
    const random = new Random(5000 + seed)
    const size = 5 + random.below(3)
    const [first, second] = [random.below(size), random.below(size)]
    const dead = new Set([first, second])
    await withMesh(t, seed, size, async (mesh) => {
      const calls = mesh.groups().map((group) => shrinkAfterLoss(group, options))
      // The dead have nobody to hear of it.
      for (const victim of dead) calls[victim]!.catch(() => {})
      mesh.inject(random.below(300) / 1000, { kind: 'crash', host: first })
      // What follows the loss takes microseconds; when it is noticed is drawn, too.
      if (first !== second)
        mesh.inject(random.below(2000), { kind: 'crash', host: second, lingerNs: random.below(2) * 30_000 })
      const left = rangeOf(size).filter((number) => !dead.has(number))
      let groups = await mesh.drive(Promise.all(left.map((number) => calls[number]!)), AGREED_MS)
      for (const group of groups) {
        assert.deepEqual(group.members, groups[0]!.members, `seed ${seed}`)
        for (const number of left) assert.ok(group.members.includes(number), `seed ${seed}: ${number} lives`)
        assert.ok(!group.members.includes(first), `seed ${seed}: ${first} was known to be dead`)
      }
      // The second was still there when they agreed: then it is lost in the new group.
      if (groups[0]!.members.includes(second))
        groups = await mesh.drive(Promise.all(groups.map((group) => shrinkAfterLoss(group, options))), AGREED_MS)
      for (const group of groups) assert.deepEqual(group.members, left, `seed ${seed}`)
      await mesh.drive(callAll(groups, 20), 60_000)
    })
  }
})

test(`${seeds.length} seeds: the network is cut in two: the larger side goes on, the smaller one is told that it is the minority`, async (t) => {
  for (const seed of seeds) {
    const random = new Random(6000 + seed)
    const size = 3 + random.below(4)
    const small = rangeOf(size)
      .sort(() => random.below(3) - 1)
      .slice(0, 1 + random.below(Math.floor((size - 1) / 2)))
    const large = rangeOf(size).filter((number) => !small.includes(number))
    await withMesh(t, seed, size, async (mesh) => {
      const calls = mesh.groups().map((group) => shrinkAfterLoss(group, options))
      const afterMs = random.below(300) / 1000
      for (const from of small)
        for (const to of large) {
          mesh.inject(afterMs, { kind: 'cut', from, to })
          mesh.inject(afterMs, { kind: 'cut', from: to, to: from })
        }
      const outcomes = await mesh.drive(Promise.allSettled(calls), AGREED_MS)
      const groups = large.map((number) => groupOf(outcomes[number]!))
      for (const group of groups) assert.deepEqual(group.members, large, `seed ${seed}`)
      for (const number of small) {
        const error = errorOf(outcomes[number]!)
        assert.equal(error.code, 'ERR_AETHER_GROUP_MINORITY', `seed ${seed}: ${error.message}`)
        // Whoever was not found to be lost yet counts as reached.
        assert.ok(error.members.includes(number) && error.members.length * 2 <= size, `seed ${seed}: ${error.message}`)
      }
      await mesh.drive(callAll(groups, 20), 60_000)
    })
  }
})

test(`${seeds.length} seeds: one stands still while the rest agree, and is told when it goes on that it was left out`, async (t) => {
  for (const seed of seeds) {
    const random = new Random(7000 + seed)
    const size = 3 + random.below(4)
    const victim = random.below(size)
    await withMesh(t, seed, size, async (mesh) => {
      // Its timers run on here, so it has none.
      const sum = (group: PeerGroup) =>
        group.allReduce(Float64Array.of(1), 'sum', undefined, group.rank === victim ? {} : { timeoutMs: 500 })
      const calls = mesh.groups().map(async (group) => {
        for (;;)
          try {
            await sum(group)
          } catch {
            return group.shrink(options)
          }
      })
      mesh.inject(random.below(300) / 1000, { kind: 'pause', host: victim, forNs: 15e9 })
      const rest = rangeOf(size).filter((number) => number !== victim)
      const groups = await mesh.drive(Promise.all(rest.map((number) => calls[number]!)), AGREED_MS)
      for (const group of groups) assert.deepEqual(group.members, rest, `seed ${seed}`)
      const [outcome] = await mesh.drive(Promise.allSettled([calls[victim]!]), AGREED_MS)
      const error = errorOf(outcome!)
      assert.equal(error.code, 'ERR_AETHER_GROUP_EXCLUDED', `seed ${seed}: ${error.message}`)
      assert.deepEqual(error.members, rest)
      await mesh.drive(callAll(groups, 10), 60_000)
    })
  }
})

// ---- with processes
// ------------------------------------------------------------------------------------------------------------------

async function heard<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, 'message')) as [T]
  return message
}

/** Processes that add up. */
async function computing(t: TestContext, size: number, ...how: readonly string[]): Promise<ChildProcess[]> {
  const script = new URL('fixtures/shrinker-main.js', import.meta.url)
  const children = rangeOf(size).map((number) => fork(script, [String(number), ...how]))
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const addresses = await Promise.all(children.map((child) => heard<PeerAddress>(child)))
  const begun = children.map((child) => heard(child))
  for (const child of children) child.send(addresses)
  await Promise.all(begun)
  await new Promise((resolve) => setTimeout(resolve, 200))
  return children
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  const exits = children.map((child) => once(child, 'exit'))
  for (const child of children) child.send('over')
  for (const [code] of await Promise.all(exits)) assert.equal(code, 0)
}

for (const victims of [[0], [2, 4]]) {
  test(`processes: of five, ${victims.length} are killed in a collective; the rest agree on who is left and go on`, {
    skip,
  }, async (t) => {
    const children = await computing(t, 5)
    const left = rangeOf(5).filter((number) => !victims.includes(number))
    const reports = left.map((number) => heard<{ failed: string; members: number[]; sum: number }>(children[number]!))
    for (const victim of victims) children[victim]!.kill('SIGKILL')
    for (const { failed, members, sum } of await Promise.all(reports)) {
      assert.equal(failed, 'ERR_AETHER_PEER_LOST')
      assert.deepEqual(members, left)
      assert.equal(
        sum,
        left.reduce((total, number) => total + number, 0),
      )
    }
    await end(left.map((number) => children[number]!))
  })
}

test('processes that never come back to the event loop agree by `shrinkSync`, and go on', { skip }, async (t) => {
  const children = await computing(t, 4, 'sync')
  const left = [0, 2, 3]
  const reports = left.map((number) => heard<{ members: number[]; sum: number }>(children[number]!))
  children[1]!.kill('SIGKILL')
  for (const { members, sum } of await Promise.all(reports)) assert.deepEqual([members, sum], [left, 5])
  await end(left.map((number) => children[number]!))
})

test('processes: one is stopped, the rest go on without it; when it wakes up it is told that it was left out', {
  skip,
}, async (t) => {
  const children = await computing(t, 4)
  const [stopped, ...rest] = [children[1]!, children[0]!, children[2]!, children[3]!]
  const reports = rest.map((child) => heard<{ members: number[]; sum: number }>(child))
  stopped.kill('SIGSTOP')
  for (const { members, sum } of await Promise.all(reports)) assert.deepEqual([members, sum], [[0, 2, 3], 5])
  const report = heard<{ failed: string; code: string; members: number[]; message: string; later: string }>(stopped)
  stopped.kill('SIGCONT')
  const { code, members, message, later } = await report
  assert.equal(code, 'ERR_AETHER_GROUP_EXCLUDED')
  assert.deepEqual(members, [0, 2, 3])
  assert.match(message, /peers 0, 2, 3 go on without this one, peer 1/)
  assert.equal(later, 'ERR_AETHER_GROUP_EXCLUDED')
  await end(children)
})

test('one of two cannot be told from the other side of a cut: it goes on alone only by `any`', { skip }, async () => {
  await using one = openPeers({ number: 0, device: 'shm0' })
  await using other = openPeers({ number: 1, device: 'shm0' })
  const where = await one.listen({ address: '127.0.0.1' })
  await Promise.all([other.connect(where), one.accept()])
  const group = one.group([0, 1])
  other.group([0, 1])
  await other.close()
  await one.get(1)?.gone
  await assert.rejects(group.shrink(), { code: 'ERR_AETHER_GROUP_MINORITY', members: [0] })
  const alone = await group.shrink({ quorum: 'any' })
  assert.deepEqual(alone.members, [0])
  await alone.barrier()
  await one.close()
})

test('`shrinkSync` tells what `shrink` tells, and gives the group that it gave', { skip }, async () => {
  await using one = openPeers({ number: 0, device: 'shm0' })
  await using other = openPeers({ number: 1, device: 'shm0' })
  const where = await one.listen({ address: '127.0.0.1' })
  await Promise.all([other.connect(where), one.accept()])
  const [first, second, closed] = [one.group([0, 1]), one.group([0, 1]), one.group([0, 1])]
  // Nobody answers while this thread is blocked.
  const short = { absentAfterMs: 20, timeoutMs: 200 }
  assert.throws(() => first.shrinkSync(short), { code: 'ERR_AETHER_GROUP_MINORITY', members: [0] })
  await other.close()
  await one.get(1)?.gone
  assert.throws(() => first.shrinkSync(), { code: 'ERR_AETHER_GROUP_MINORITY', members: [0] })
  assert.throws(() => first.shrinkSync({ quorum: 'all' as never }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  assert.throws(() => first.shrinkSync({ signal: AbortSignal.abort(new Error('enough')) }), /enough/)
  const alone = first.shrinkSync({ quorum: 'any' })
  assert.deepEqual(alone.members, [0])
  alone.barrierSync()
  assert.equal(first.shrinkSync(), alone)
  assert.equal(await first.shrink(), alone)
  const shrinking = second.shrink({ quorum: 'any' })
  assert.throws(() => second.shrinkSync({ quorum: 'any' }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  const shrunk = await shrinking
  assert.equal(second.shrinkSync({ quorum: 'any' }), shrunk)
  closed.close()
  assert.throws(() => closed.shrinkSync(), { code: 'ERR_AETHER_CLOSED' })
  await one.close()
})
