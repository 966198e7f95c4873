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
  await using spinning = new Ranks(fixture, 1, { AETHER_SPIN_MS: '-1' })
  await assert.rejects(spinning.on(0, 'join'), { message: /AETHER_SPIN_MS must be from 0 to 1000 ms, not '-1'/ })
})

const LARGE_PAGE_BYTES = 64 * 2 ** 20
/** When the rank is stopped, as parts of the time that another such page has taken: memory first, then the copy. */
const MOMENTS = [0.75, 0.65, 0.85, 0.55, 0.95, 0.45, 0.8, 0.7, 0.6, 0.9]

/** Whether a rank, stopped at that moment after another has asked for a large page of its, was ended by the others. */
async function stoppedWhileItWrites(moment: number): Promise<boolean> {
  await using three = new Ranks(fixture, 3, LEASE)
  const victim = three.processes[1]!
  await three.all('join')
  await three.all('open', 'large', { coherence: 'mesi', size: 6 * LARGE_PAGE_BYTES, pageSize: LARGE_PAGE_BYTES })
  for (const page of [2, 3]) await three.on(1, 'writeBytes', 'large', page * LARGE_PAGE_BYTES, Uint8Array.of(9))
  const began = performance.now()
  // Where the machine is busy, the page may take longer than the lease.
  const first = await three.on(0, 'readBytes', 'large', 2 * LARGE_PAGE_BYTES, 1).catch((error: Error) => error)
  if (first instanceof Error && first.name === 'PageLostError') return false
  if (first instanceof Error) throw first
  const tookMs = performance.now() - began
  const reading = three.on(0, 'readBytes', 'large', 3 * LARGE_PAGE_BYTES, 1)
  // Either it had sent the page before it was stopped, or the page is lost with it.
  const read = reading.catch((error: Error) => assert.equal(error.name, 'PageLostError'))
  await new Promise((resolve) => setTimeout(resolve, moment * tookMs))
  await victim.stop()
  await assert.rejects(three.on(2, 'barrier'), { name: 'MemberEndedError' })
  await read
  const wasEnded = victim.child.signalCode !== null
  victim.child.kill('SIGCONT')
  const { code, signal } = await victim.ended()
  assert.deepEqual([code, signal], wasEnded ? [null, 'SIGKILL'] : [72, null])
  return wasEnded
}

test('a rank that is stopped in the middle of a WRITE is ended by those who go on: it finishes nothing', async () => {
  for (const moment of MOMENTS) if (await stoppedWhileItWrites(moment)) return
  assert.fail('the rank was never met in the middle of its WRITE')
})
