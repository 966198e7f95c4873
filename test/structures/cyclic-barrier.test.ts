import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CYCLIC_BARRIER_BYTES, CyclicBarrier } from '../../src/structures/cyclic-barrier.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'
import { type Inhabitant, Town } from './town.ts'

useRuntimeDirectory()

const PARTIES = 3

/** Each as one inhabitant has it, after a wait that was given up: memory for its state has been laid out. */
function barriersOf(inhabitants: readonly Inhabitant[], parties: number): CyclicBarrier[] {
  const request = { kind: 'barrier', name: 'b', bodyBytes: CYCLIC_BARRIER_BYTES, parameters: [] } as const
  return inhabitants.map(({ heap, directory }) => {
    const barrier = new CyclicBarrier('b', heap, directory.open(request).offset, parties)
    giveUp(barrier)
    return barrier
  })
}

function giveUp(barrier: CyclicBarrier): void {
  assert.throws(() => barrier.waitSync({ timeoutMs: 0 }), { code: 'ERR_AETHER_TIMEOUT' })
}

test('nobody goes on before all have come, in any round, waiting and blocking', async () => {
  await using shared = await Shared.open()
  const rounds = 100
  const others = await Promise.all(Array.from({ length: PARTIES }, () => shared.start()))
  const met = await Promise.all(
    others.map((other) => other.call<{ wrong: number; last: number }>('meet', 'b', PARTIES, rounds)),
  )
  assert.equal(
    met.reduce((sum, { wrong }) => sum + wrong, 0),
    0,
  )
  assert.equal(
    met.reduce((sum, { last }) => sum + last, 0),
    rounds,
    'one of each round is told that it was the last',
  )
})

test('the arrival of a killed process does not count; the next that comes does', async () => {
  await using shared = await Shared.open()
  const barrier = await shared.structures.barrier('b', { parties: 2 })
  const victim = await shared.start()
  await victim.call('arrive', 'b', 2)
  await until(() => barrier.waitingSync() === 1, 'the victim to arrive')
  await victim.kill()
  let opened = false
  const waiting = barrier.wait().then((last) => {
    opened = true
    return last
  })
  await sleep(150)
  assert.equal(opened, false, 'the dead is not counted')
  assert.equal(await barrier.wait(), true)
  assert.equal(await waiting, false)
})

test('a wait that is given up does not count', async () => {
  await using shared = await Shared.open()
  const barrier = await shared.structures.barrier('b', { parties: 2 })
  const stop = new AbortController()
  const given = barrier.wait(stop)
  assert.equal(await barrier.waiting(), 1)
  const reason = new Error('enough')
  stop.abort(reason)
  await assert.rejects(given, reason)
  assert.equal(barrier.waitingSync(), 0)
  assert.throws(() => barrier.waitSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT', message: /barrier 'b'/ })
  assert.equal(barrier.waitingSync(), 0)
  const waiting = barrier.wait()
  assert.equal(barrier.waitSync(), true)
  assert.equal(await waiting, false)
})

test('closing the structures takes an arrival back', async () => {
  await using shared = await Shared.open()
  const barrier = await shared.structures.barrier('b', { parties: 2 })
  const leaver = await shared.start()
  await leaver.call('arrive', 'b', 2)
  await until(() => barrier.waitingSync() === 1, 'the arrival')
  await leaver.call('close')
  assert.equal(barrier.waitingSync(), 0)
})

test('a process that is killed at any access of an arrival leaves a barrier that opens for those that live', async () => {
  for (let calls = 1, done = false; !done; calls += 1) {
    const town = new Town()
    const [victim, one, other] = [town.settle(), town.settle(), town.settle()]
    const [theirs, ours, another] = barriersOf([victim, one, other], 2) as [CyclicBarrier, CyclicBarrier, CyclicBarrier]
    done = victim.killedAfter(calls, () => theirs.wait().catch(() => {}))
    town.bury(victim)
    one.heap.recover()
    let opened = false
    const waiting = ours.wait().then(() => {
      opened = true
    })
    await sleep(1)
    assert.equal(opened, false, `killed after ${calls} accesses: the dead is not counted`)
    assert.equal(await another.wait(), true)
    await waiting
  }
})

test('a process that is killed at any access of giving up is not counted', async () => {
  for (let calls = 1, done = false; !done; calls += 1) {
    const town = new Town()
    const [victim, one, other] = [town.settle(), town.settle(), town.settle()]
    const [theirs, ours, another] = barriersOf([victim, one, other], 2) as [CyclicBarrier, CyclicBarrier, CyclicBarrier]
    done = victim.killedAfter(calls, () => {
      try {
        theirs.waitSync({ timeoutMs: 0 })
      } catch (error) {
        if ((error as { code?: string }).code !== 'ERR_AETHER_TIMEOUT') throw error
      }
    })
    town.bury(victim)
    one.heap.recover()
    assert.equal(ours.waitingSync(), 0)
    const waiting = ours.wait()
    assert.equal(await another.wait(), true)
    assert.equal(await waiting, false)
  }
})

test('a barrier of one party opens at once', async () => {
  await using shared = await Shared.open()
  const barrier = await shared.structures.barrier('b', { parties: 1 })
  for (let round = 0; round < 3; round += 1) assert.equal(await barrier.wait(), true)
  for (const parties of [0, -1, 1.5, 5000])
    await assert.rejects(shared.structures.barrier('c', { parties }), { argument: 'options.parties' })
})
