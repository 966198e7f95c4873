/** Machines that are not deterministic, in processes of one machine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'
import { drawThreads } from './fixtures/threads.ts'

drawThreads()

useRuntimeDirectory()
const fixture = new URL('./fixtures/replica-rank.js', import.meta.url)

interface Status {
  readonly leader: number
  readonly voters: readonly number[]
  readonly deviating: readonly number[]
}

async function opened(isRandom: readonly boolean[]): Promise<Ranks> {
  const ranks = new Ranks(fixture, isRandom.length)
  await ranks.all('join', {})
  await Promise.all(isRandom.map((random, rank) => ranks.on(rank, 'open', {}, random)))
  return ranks
}

const isDeviates = (error: Error & { readonly code?: string }): boolean => {
  assert.match(`${error.code} ${error.message}`, /ERR_AETHER_CONSENSUS_DEVIATES/)
  return true
}

async function statusOnce(ranks: Ranks, rank: number, isIt: (status: Status) => boolean): Promise<Status> {
  for (let look = 0; ; look += 1) {
    const status = await ranks.on<Status>(rank, 'status')
    if (isIt(status)) return status
    assert.ok(look < 1000, `not so: ${JSON.stringify(status)}`)
    await sleep(5)
  }
}

for (const odd of [2, 0])
  test(`rank ${odd} that deviates is stopped, the others name it and go on, and it comes back`, async () => {
    await using ranks = await opened([0, 1, 2].map((rank) => rank === odd))
    const others = [0, 1, 2].filter((rank) => rank !== odd)
    assert.equal(await ranks.on(odd, 'proposeUntilFailed'), 'ERR_AETHER_CONSENSUS_DEVIATES')
    await assert.rejects(ranks.on(odd, 'propose', 1, { type: 'get' }), isDeviates)
    await assert.rejects(ranks.on(odd, 'status'), isDeviates)
    for (const rank of others) {
      const { voters } = await statusOnce(
        ranks,
        rank,
        ({ deviating, voters: voting }) => deviating.length > 0 && !voting.includes(odd),
      )
      assert.deepEqual([...voters].sort(), others)
      assert.deepEqual((await ranks.on<Status>(rank, 'status')).deviating, [odd])
      assert.equal(await ranks.on(rank, 'propose', 9, { type: 'set', value: rank + 10 }), 1)
    }
    await ranks.on(odd, 'open', {}, false)
    await statusOnce(ranks, others[0]!, ({ voters }) => voters.length === 3)
    await ranks.on(odd, 'proposeMany', 1000)
    assert.equal(await ranks.on(odd, 'get', 9), others.at(-1)! + 10)
  })

test('when all differ, the leader goes on alone', async () => {
  await using ranks = await opened([true, true, true])
  const { leader } = await ranks.on<Status>(0, 'status')
  const others = [0, 1, 2].filter((rank) => rank !== leader)
  const codes = await Promise.all(others.map((rank) => ranks.on(rank, 'proposeUntilFailed')))
  assert.deepEqual(
    codes,
    others.map(() => 'ERR_AETHER_CONSENSUS_DEVIATES'),
  )
  // Each judges by its own ticks: the others may have stopped before the leader names them.
  const isOver = ({ voters, deviating }: Status): boolean => voters.length === 1 && deviating.length === 2
  const { deviating } = await statusOnce(ranks, leader, isOver)
  assert.deepEqual([...deviating].sort(), others)
  assert.ok((await ranks.on<number>(leader, 'propose', 1, { type: 'get' })) >= 0)
})
