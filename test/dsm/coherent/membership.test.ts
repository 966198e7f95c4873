/**
 * Real processes that are stopped for longer than a lease: the others go on without them, and they end when they go on.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
/** Far above what a loaded machine takes from a healthy rank, as short as the test can be. */
const LEASE = { AETHER_LEASE_MS: '3000' }

interface GroupEventSeen {
  readonly type: string
  readonly rank: number
  readonly reason: string
}

async function ranks(count: number): Promise<Ranks> {
  const processes = new Ranks(fixture, count, LEASE)
  await processes.all('join')
  await processes.all('open', 'r', { coherence: 'mesi', size: count * 4096 })
  return processes
}

test('a rank that is stopped for longer than the lease is out: the others go on, and it ends when it goes on, having written nothing', async () => {
  await using three = await ranks(3)
  const victim = three.processes[1]!
  await three.on(1, 'fillPages', 'r', 0, 1, 5)
  await three.on(2, 'fillPages', 'r', 2, 3, 7)
  await three.on(0, 'events')
  await victim.stop()
  // The barrier ends with the membership of the rank that does not come.
  await assert.rejects(three.on(0, 'barrier'), { name: 'MemberEndedError' })
  const seen = (): Promise<GroupEventSeen[]> => three.on<GroupEventSeen[]>(0, 'seenEvents')
  // The event takes another way than the end of the barrier, and may come after it.
  let [event] = await seen()
  for (; event === undefined; [event] = await seen()) await three.on(0, 'sleep', 20)
  assert.deepEqual([event.type, event.rank], ['died', 1])
  assert.match(event.reason, /nothing was heard from it for 3 s|rank 2 does not reach it/)
  await three.on(0, 'fillPages', 'r', 2, 3, 8)
  assert.equal((await three.on<Uint8Array>(2, 'readBytes', 'r', 2 * 4096, 1))[0], 8)
  victim.child.kill('SIGCONT')
  const { code, err } = await victim.ended()
  assert.equal(code, 72, err)
  assert.match(err, /rank 1 is out of its group/)
  assert.equal((await three.on<Uint8Array>(0, 'readBytes', 'r', 2 * 4096, 1))[0], 8)
  await Promise.all([0, 2].map((rank) => three.on(rank, 'closeGroup')))
})

test('of two ranks that do not hear each other, the lower one goes on', async () => {
  await using two = await ranks(2)
  await two.processes[0]?.stop()
  const { code, err } = (await two.processes[1]?.ended()) ?? { code: null, err: '' }
  assert.equal(code, 72)
  assert.match(err, /too few ranks remain.*rank 0: nothing was heard from it for 3 s/)
  two.processes[0]?.child.kill('SIGCONT')
  await assert.rejects(two.on(0, 'barrier'), { name: 'MemberEndedError' })
  assert.equal((await two.on<Uint8Array>(0, 'readBytes', 'r', 0, 1))[0], 0)
})

test('ranks that are all stopped and go on hold nothing against each other', async () => {
  await using three = await ranks(3)
  for (const { child } of three.processes) child.kill('SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, 4000))
  for (const { child } of three.processes) child.kill('SIGCONT')
  await three.all('barrier')
  await three.all('closeGroup')
})

test('a lease that cannot be meant is refused by name', async () => {
  await using one = new Ranks(fixture, 1, { AETHER_LEASE_MS: '10' })
  await assert.rejects(one.on(0, 'join'), { message: /AETHER_LEASE_MS must be at least 500 ms, not '10'/ })
})
