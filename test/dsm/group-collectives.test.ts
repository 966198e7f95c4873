import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawn } from '../support/drawn.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/collective-rank.js', import.meta.url)

/** Ranks that have joined. */
async function joined(size: number, environment: Readonly<Record<string, string>> = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, size, environment)
  await ranks.all('join')
  return ranks
}

const LEASE = { AETHER_LEASE_MS: '3000' }

for (const size of [1, 2, 5]) {
  test(`every collective in its blocking form among ${size} ranks, between barriers of the group`, async () => {
    await using ranks = await joined(size)
    assert.deepEqual(await ranks.all('spinThrough'), Array(size).fill(20))
    await ranks.all('closeGroup')
  })
}

test('the first call connects the ranks, whether it blocks or not', async () => {
  await using ranks = await joined(4)
  const calls = [0, 1, 2, 3].map((rank) => ranks.on(rank, rank % 2 === 0 ? 'sum' : 'sumSync'))
  assert.deepEqual(await Promise.all(calls), Array(4).fill([6, 4]))
  await ranks.all('closeGroup')
})

test('calls that are made before the ranks are connected keep their order', async () => {
  await using ranks = await joined(3)
  assert.deepEqual(await ranks.all('mixed'), Array(3).fill([[3, 3], [0], [0, 1, 2]]))
  await ranks.all('closeGroup')
})

for (const blocking of drawn([false, true], 1)) {
  const how = blocking ? 'blocking' : 'on the event loop'
  test(`a rank that is killed in a collective is named to all others, which go on without it, ${how}`, async () => {
    await using ranks = await joined(4)
    await ranks.all('openRegion')
    await ranks.all('sum')
    const failures = [0, 1, 3].map((rank) => ranks.on(rank, 'sumUntilFailure', blocking))
    void ranks.on(2, 'sumUntilFailure', blocking)
    await sleep(200)
    await ranks.kill(2)
    const lost = { code: 'ERR_AETHER_PEER_LOST', rank: 2 }
    assert.deepEqual(await Promise.all(failures), [lost, lost, lost])
    const left = await Promise.all([0, 1, 3].map((rank) => ranks.on(rank, 'goOn', blocking)))
    assert.deepEqual(
      left,
      [0, 1, 2].map((rank) => ({ members: [0, 1, 3], rank, sum: 4 })),
    )
    for (const rank of [0, 1, 3]) assert.equal(await ranks.on(rank, 'isMember', 2), false)
    // One more, without a collective between them.
    await ranks.kill(3)
    const two = await Promise.all([0, 1].map((rank) => ranks.on(rank, 'goOn', blocking)))
    assert.deepEqual(
      two,
      [0, 1].map((rank) => ({ members: [0, 1], rank, sum: 1 })),
    )
    await Promise.all([0, 1].map((rank) => ranks.on(rank, 'closeGroup')))
  })

  test(`a rank that was killed before the first collective is named, and left out, ${how}`, async () => {
    await using ranks = await joined(3)
    await ranks.kill(0)
    for (const rank of [1, 2])
      await assert.rejects(ranks.on(rank, blocking ? 'sumSync' : 'sum'), {
        code: 'ERR_AETHER_MEMBER_ENDED',
        fields: { name: 'MemberEndedError', code: 'ERR_AETHER_MEMBER_ENDED', ranks: [0] },
      })
    const left = await Promise.all([1, 2].map((rank) => ranks.on(rank, 'goOn', blocking)))
    assert.deepEqual(
      left,
      [0, 1].map((rank) => ({ members: [1, 2], rank, sum: 3 })),
    )
  })
}

test('a rank that is stopped is out after a lease, and the others go on', async () => {
  await using ranks = await joined(3, LEASE)
  await ranks.all('sum')
  await ranks.processes[1]!.stop()
  const failures = [ranks.on(0, 'sumUntilFailure', false), ranks.on(2, 'sumUntilFailure', true)]
  for (const failure of await Promise.all(failures))
    assert.deepEqual(failure, { code: 'ERR_AETHER_PEER_LOST', rank: 1 })
  const left = await Promise.all([0, 2].map((rank) => ranks.on(rank, 'goOn', false)))
  assert.deepEqual(
    left,
    [0, 1].map((rank) => ({ members: [0, 2], rank, sum: 2 })),
  )
  ranks.processes[1]!.child.kill('SIGCONT')
  assert.equal((await ranks.processes[1]!.ended()).code, 72)
})

const mismatches = [
  ['another collective', ['sum', 'broadcast', 'broadcastSync']],
  ['a barrier', ['sum', 'barrier', 'barrierSync']],
  ['the only collective among barriers', ['barrier', 'sumSync', 'barrier']],
  ['the only barrier among collectives', ['sumSync', 'sum', 'barrierSync']],
] as const
for (const isConnected of [false, true]) {
  for (const [what, calls] of drawn(mismatches, 1)) {
    const when = isConnected ? 'later' : 'at first'
    test(`ranks that call ${what}, ${when}: each gets an error that names a rank and an operation`, async () => {
      await using ranks = await joined(3)
      if (isConnected) await ranks.all('sum')
      const said = await Promise.allSettled(calls.map((call, rank) => ranks.on(rank, call)))
      for (const one of said) {
        assert.equal(one.status, 'rejected')
        const { code, message } = one.reason as { code: string; message: string }
        assert.equal(code, 'ERR_AETHER_COLLECTIVE_MISMATCH', message)
        assert.match(message, /rank \d.* called (allReduce sum|broadcast|barrier)/)
      }
      const left = await Promise.all([0, 1, 2].map((rank) => ranks.on(rank, 'goOn', false)))
      assert.deepEqual(
        left,
        [0, 1, 2].map((rank) => ({ members: [0, 1, 2], rank, sum: 3 })),
      )
      await ranks.all('barrier').catch(() => {})
    })
  }
}

test('a rank that closes the group instead of calling is named', async () => {
  await using ranks = await joined(3)
  const sums = [0, 2].map((rank) => ranks.on(rank, 'sum'))
  const closing = ranks.on(1, 'closeGroup')
  for (const sum of sums) {
    const error = (await sum.catch((each) => each)) as { code: string; fields: { rank?: number; ranks?: number[] } }
    assert.ok(['ERR_AETHER_COLLECTIVE_ABANDONED', 'ERR_AETHER_MEMBER_ENDED'].includes(error.code), error.code)
    assert.equal(error.fields.rank ?? error.fields.ranks?.[0], 1)
  }
  await Promise.all([0, 2].map((rank) => ranks.on(rank, 'closeGroup')))
  await closing
})

for (const call of ['sum', 'sumSync']) {
  test(`a rank that computes is named when the time of ${call} is over, and learns of it`, async () => {
    await using ranks = await joined(2)
    const computing = ranks.on(1, 'compute', 1500)
    await assert.rejects(ranks.on(0, call, { timeoutMs: 300 }), {
      name: 'TimeoutError',
      message: /allReduce did not begin within 300 ms: rank 1 did not answer/,
    })
    await computing
    await assert.rejects(ranks.on(1, 'sum'), { code: 'ERR_AETHER_COLLECTIVE_ABANDONED' })
    await ranks.all('goOn', false)
  })
}

test('a call that is aborted before the ranks are connected ends for all', async () => {
  await using ranks = await joined(2)
  assert.equal(await ranks.on(0, 'abort'), 'enough')
  await assert.rejects(ranks.on(1, 'sum'), { code: 'ERR_AETHER_COLLECTIVE_ABANDONED' })
})

test('messages arrive in order, at any rank and at the sender itself, short and long', async () => {
  await using ranks = await joined(3)
  const counted = Array.from({ length: 100 }, (_, at) => String(at))
  await ranks.on(0, 'sendAll', 1, 100)
  await ranks.on(2, 'sendAll', 1, 100)
  const came = await ranks.on<string[]>(1, 'receive', 200)
  for (const rank of [0, 2])
    assert.deepEqual(
      came.filter((text) => text.startsWith(`${rank}:`)).map((text) => text.slice(2)),
      counted,
    )
  const long = ranks.on(2, 'receive', 2)
  await Promise.all([ranks.on(0, 'sendLong', 2, 10_000_000), ranks.on(1, 'sendLong', 2, 3_000_000)])
  assert.deepEqual(((await long) as string[]).sort(), ['0:10000000 of 0', '1:3000000 of 1'])
  const toItself = ranks.on(2, 'receive', 1)
  await ranks.on(2, 'sendLong', 2, 5)
  assert.deepEqual(await toItself, ['2:2 2 2 2 2'])
  const counts = [0, 1, 2].map((rank) => ranks.on(rank, 'receiveUntilEnd'))
  await ranks.all('closeGroup')
  assert.deepEqual(await Promise.all(counts), [0, 0, 0])
})

test('a rank that takes nothing holds its senders back, and nothing is lost', async () => {
  await using ranks = await joined(2)
  let isSent = false
  const sending = ranks.on(0, 'sendAll', 1, 20_000).then(() => {
    isSent = true
  })
  await sleep(500)
  assert.equal(isSent, false)
  const came = await ranks.on<string[]>(1, 'receive', 20_000)
  await sending
  assert.deepEqual(
    came,
    Array.from({ length: 20_000 }, (_, at) => `0:${at & 255}`),
  )
})

test('a message to a rank that is gone, and to none, is refused; a wait for messages is given up', async () => {
  await using ranks = await joined(3)
  await ranks.on(0, 'sendAll', 1, 1)
  await ranks.kill(1)
  while (await ranks.on(0, 'isMember', 1)) await sleep(5)
  for (const rank of [0, 2]) await assert.rejects(ranks.on(rank, 'send', 1, 'x'), { code: 'ERR_AETHER_PEER_LOST' })
  await assert.rejects(ranks.on(0, 'send', 3, 'x'), {
    name: 'ArgumentError',
    message: /rank must be a rank from 0 to 2/,
  })
  await assert.rejects(ranks.on(0, 'receiveAborted'), { name: 'TimeoutError' })
})

test('what a rank had sent before it was killed is taken, and others who wait for more can leave', async () => {
  await using ranks = await joined(2)
  const waiting = ranks.on(0, 'receiveUntilEnd')
  await ranks.on(1, 'send', 0, 'x', 3)
  // Messages leave with the end of a turn of the event loop, which is over when the next order is answered.
  await ranks.on(1, 'isMember', 0)
  await ranks.kill(1)
  // What is still on its way when the group is closed is given up.
  while (await ranks.on(0, 'isMember', 1)) await sleep(5)
  await ranks.on(0, 'closeGroup')
  assert.equal(await waiting, 3)
})

test('what a group does not offer is refused', async () => {
  await using ranks = await joined(1)
  await assert.rejects(ranks.on(0, 'shrink', { quorum: 'any' }), { name: 'ArgumentError', message: /majority/ })
  assert.deepEqual(await ranks.on(0, 'shrink', {}), [0])
  await ranks.on(0, 'closeGroup')
  for (const call of ['sum', 'sumSync', 'shrink'])
    await assert.rejects(ranks.on(0, call, {}), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(ranks.on(0, 'send', 0, 'x'), { code: 'ERR_AETHER_CLOSED' })
})
