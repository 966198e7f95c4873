import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATCH_BYTES, Latch } from '../../src/structures/latch.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'
import { Town } from './town.ts'

useRuntimeDirectory()

test('a latch opens for all that wait when it has been counted down, and stays open', async () => {
  await using shared = await Shared.open()
  const [one, other] = [await shared.start(), await shared.start()]
  const latch = await shared.structures.latch('l', { count: 3 })
  const waiting = [latch.wait(), other.call('waitLatch', 'l', 3)]
  assert.equal(await one.call('countDown', 'l', 3), 2)
  assert.equal(latch.countDownSync(), 1)
  assert.throws(() => latch.waitSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT', message: /latch 'l'/ })
  const reason = new Error('enough')
  await assert.rejects(latch.wait({ signal: AbortSignal.abort(reason) }), reason)
  assert.equal(await latch.remaining(), 1)
  assert.equal(await latch.countDown(5), 0)
  await Promise.all(waiting)
  assert.equal(latch.countDownSync(), 0)
  await latch.wait()
})

test('what a killed process counted stays counted', async () => {
  await using shared = await Shared.open()
  const victim = await shared.start()
  const latch = await shared.structures.latch('l', { count: 2 })
  const waiting = latch.wait()
  await victim.call('countDown', 'l', 2)
  await victim.kill()
  assert.equal(latch.remainingSync(), 1)
  latch.countDownSync()
  await waiting
})

test('a process that is killed at any access has counted down once or not at all', () => {
  for (let calls = 1, done = false; !done; calls += 1) {
    const town = new Town()
    const [victim, survivor] = [town.settle(), town.settle()]
    const request = { kind: 'latch', name: 'l', bodyBytes: LATCH_BYTES, parameters: [] } as const
    const { offset } = victim.directory.open(request)
    const [theirs, ours] = [victim, survivor].map(({ heap }) => new Latch('l', heap, offset, 2)) as [Latch, Latch]
    done = victim.killedAfter(calls, () => theirs.countDownSync())
    town.bury(victim)
    const left = ours.remainingSync()
    assert.ok(left === 2 || left === 1)
    for (let more = left; more > 0; more -= 1) assert.equal(ours.countDownSync(), more - 1)
  }
})

test('a count, or an amount, that cannot be is refused', async () => {
  await using shared = await Shared.open()
  for (const count of [0, -1, 1.5, 2 ** 31, Number.NaN])
    await assert.rejects(shared.structures.latch('l', { count }), { argument: 'options.count' })
  const latch = await shared.structures.latch('l', { count: 2 })
  for (const amount of [0, -1, 0.5]) assert.throws(() => latch.countDownSync(amount), { argument: 'amount' })
  await assert.rejects(shared.structures.latch('l', { count: 3 }), {
    code: 'ERR_AETHER_STRUCTURE_MISMATCH',
    message: /'l' was made with count 2, opened with count 3/,
  })
})
