import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeGroupCard } from '../../src/cluster/group/group-card.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { rendezvousFiles, until, useRuntimeDirectory } from '../cluster/support.ts'
import { endSpares, RankProcess, Ranks, type ScenarioError } from '../support/rank-process.ts'

const runtime = useRuntimeDirectory()
const fixture = new URL('./coherent/fixtures/rank.js', import.meta.url)

/** Ranks that have joined. */
async function joined(size: number): Promise<Ranks> {
  const ranks = new Ranks(fixture, size)
  await ranks.all('join')
  return ranks
}

for (const size of [1, 2, 7]) {
  test(`${size} ranks join, meet at barriers of both kinds, and leave together`, async () => {
    await using ranks = await joined(size)
    await ranks.all('barriers', 10)
    await ranks.all('closeGroup')
    await ranks.all('closeGroup')
    await assert.rejects(ranks.on(0, 'barrier'), { code: 'ERR_AETHER_CLOSED' })
    assert.deepEqual(rendezvousFiles(runtime), [])
  })
}

test('a thousand barriers, waited for and blocked in, release nobody early', async () => {
  await using ranks = await joined(3)
  await ranks.on(0, 'open', 'count', { coherence: 'hardware', size: 4096 })
  await ranks.all('open', 'count', { coherence: 'hardware', size: 4096 })
  await ranks.all('countedBarriers', 'count', 1000)
})

test('a rank that does not come is named in time', async () => {
  await using ranks = new Ranks(fixture, 1)
  const environment = (rank: number): Record<string, string> => ({ ...ranks.environment(rank, 4) })
  const present = [0, 2].map((rank) => new RankProcess(fixture, environment(rank)))
  try {
    const said = await Promise.allSettled(present.map((rank) => rank.call('join', 700)))
    for (const one of said) {
      assert.equal(one.status, 'rejected')
      const { name, fields, message } = one.reason as { name: string; fields: { ranks: number[] }; message: string }
      // Who gives up first is missed by the other, which may say so.
      if (name === 'MemberEndedError') continue
      assert.equal(name, 'MissingMembersError', message)
      assert.ok(fields.ranks.includes(1) && fields.ranks.includes(3), message)
    }
    assert.ok(said.some((one) => one.status === 'rejected' && (one.reason as Error).name === 'MissingMembersError'))
  } finally {
    await Promise.all(present.map((rank) => rank.kill()))
  }
})

test('two processes that claim one rank are told', async () => {
  await using ranks = new Ranks(fixture, 1)
  const twins = [1, 1].map(() => new RankProcess(fixture, ranks.environment(1, 3)))
  try {
    const said = await Promise.allSettled(twins.map((twin) => twin.call('join', 10_000)))
    const errors = said.map((one) => (one.status === 'rejected' ? (one.reason as Error).name : 'joined'))
    assert.ok(errors.includes('JoinError'), errors.join())
    assert.ok(!errors.includes('joined'))
  } finally {
    await Promise.all(twins.map((twin) => twin.kill()))
  }
})

test('a rank that dies before the group is complete is named by those who saw it', async () => {
  await using ranks = new Ranks(fixture, 1)
  const [first, second] = [0, 1].map((rank) => new RankProcess(fixture, ranks.environment(rank, 3))) as [
    RankProcess,
    RankProcess,
  ]
  try {
    const waiting = first.call('join', 30_000)
    second.call('join', 30_000).catch(() => {})
    await bothHaveMet(ranks.rendezvous)
    await second.kill()
    await assert.rejects(waiting, {
      name: 'MemberEndedError',
      fields: { name: 'MemberEndedError', code: 'ERR_AETHER_MEMBER_ENDED', ranks: [1] },
    })
  } finally {
    await Promise.all([first.kill(), second.kill()])
  }
})

test('a rank that dies between meeting the others and being connected to them is named', async () => {
  // Whether it is found dead when it is looked for or when it is connected to differs from round to round.
  for (let round = 0; round < 3; round += 1) {
    await using ranks = new Ranks(fixture, 1)
    const [first, second] = [0, 1].map((rank) => new RankProcess(fixture, ranks.environment(rank, 2))) as [
      RankProcess,
      RankProcess,
    ]
    try {
      const [joined] = await Promise.allSettled([first.call('join', 30_000), second.call('meetAndDie')])
      assert.equal(joined.status, 'rejected')
      const { name, message, fields } = joined.reason as ScenarioError
      assert.equal(name, 'MemberEndedError', message)
      assert.deepEqual(fields['ranks'], [1])
    } finally {
      await Promise.all([first.kill(), second.kill()])
    }
  }
})

test('what cannot be right in the environment is refused by name', async () => {
  const cases: readonly (readonly [Record<string, string>, string, RegExp])[] = [
    [{ AETHER_RANK: '' }, 'JoinError', /needs rank/],
    [{ AETHER_SIZE: '' }, 'JoinError', /needs size/],
    [{ AETHER_RENDEZVOUS: '' }, 'JoinError', /rendezvous/],
    [{ AETHER_RANK: 'two' }, 'ArgumentError', /AETHER_RANK must be a whole number from 0 on, not 'two'/],
    [{ AETHER_RANK: '1' }, 'ArgumentError', /rank must be from 0 to 0, one of 1 ranks, not 1/],
    [{ AETHER_SIZE: '0' }, 'ArgumentError', /size must be a whole number of ranks from 1 to \d+, not/],
    [{ AETHER_SIZE: '100000' }, 'ArgumentError', /size must be a whole number of ranks from 1 to \d+, not/],
    [{ AETHER_RENDEZVOUS: 'tcp' }, 'ArgumentError', /local:NAME/],
  ]
  await Promise.all(
    cases.map(async ([environment, name, message]) => {
      await using ranks = new Ranks(fixture, 1, environment)
      await assert.rejects(ranks.on(0, 'join'), { name, message })
    }),
  )
})

test('a barrier names who is missing, and can be waited for again', async () => {
  await using ranks = await joined(4)
  for (const barrier of ['barrier', 'barrierSync']) {
    const others = [0, 2].map((rank) => ranks.on(rank, barrier))
    // Rank 1 comes late enough to see the others there.
    await assert.rejects(ranks.on(1, barrier, 500), { name: 'MissingMembersError', message: /rank/ })
    const again = ranks.on(1, barrier)
    await ranks.on(3, barrier)
    await Promise.all([...others, again])
  }
  await assert.rejects(ranks.on(2, 'barrier', 300), {
    name: 'MissingMembersError',
    message: /ranks 0, 1 and 3 did not arrive/,
  })
  // The others come and go on; who had given up finds that barrier over.
  const others = [0, 1, 3].map((rank) => ranks.on(rank, 'barrier'))
  await Promise.all(others)
  await ranks.on(2, 'barrier', 5000)
  await ranks.all('barrier')
})

test('a wait for a barrier can be given up by a signal', async () => {
  await using ranks = await joined(2)
  await assert.rejects(ranks.on(1, 'abortedBarrier', 50), { name: 'AbortError' })
  await Promise.all([ranks.on(1, 'barrier'), ranks.on(0, 'barrier')])
})

test('a rank that is killed fails the barrier of all others, and is told as an event', async () => {
  await using ranks = await joined(4)
  await ranks.all('events')
  const waiting = [0, 1, 3].map((rank) => ranks.on(rank, rank === 1 ? 'barrierSync' : 'barrier'))
  await ranks.kill(2)
  for (const wait of waiting) await assert.rejects(wait, { name: 'MemberEndedError', message: /rank 2/ })
  for (const rank of [0, 1, 3]) {
    await untilTrue(async () => (await ranks.on<unknown[]>(rank, 'seenEvents')).length > 0)
    const [event] = await ranks.on<{ type: string; rank: number }[]>(rank, 'seenEvents')
    assert.deepEqual([event?.type, event?.rank], ['died', 2])
  }
  await Promise.all([0, 1, 3].map((rank) => ranks.on(rank, 'closeGroup')))
})

test('rank 0, which counts, may be the one that is killed', async () => {
  await using ranks = await joined(3)
  const waiting = [1, 2].map((rank) => ranks.on(rank, 'barrier'))
  await ranks.kill(0)
  for (const wait of waiting) await assert.rejects(wait, { name: 'MemberEndedError', message: /rank 0/ })
  await assert.rejects(ranks.on(1, 'open', 'late', { coherence: 'mesi', size: 4096 }), { name: 'MemberEndedError' })
  await Promise.all([1, 2].map((rank) => ranks.on(rank, 'closeGroup')))
})

test('process.exit without close() is a death to the others; so is one while leaving', async () => {
  await using ranks = await joined(3)
  await ranks.all('events')
  const ended = ranks.processes[1]?.ended()
  ranks.on(1, 'exit', 3).catch(() => {})
  assert.equal((await ended)?.code, 3)
  ranks.on(2, 'closeGroup').catch(() => {})
  await untilTrue(async () => (await ranks.on<unknown[]>(0, 'seenEvents')).length === 2)
  await ranks.kill(2)
  await untilTrue(async () => (await ranks.on<unknown[]>(0, 'seenEvents')).length === 3)
  const events = await ranks.on<{ type: string; rank: number }[]>(0, 'seenEvents')
  assert.deepEqual(events.map(({ type, rank }) => [type, rank]).sort(), [
    ['died', 1],
    ['died', 2],
    ['left', 2],
  ])
  await ranks.on(0, 'closeGroup')
})

test('a program that runs to its end without close() leaves in order', async () => {
  await using ranks = new Ranks(new URL('./coherent/fixtures/natural-end.js', import.meta.url), 3)
  for (const { code, err } of await Promise.all(ranks.processes.map((rank) => rank.ended()))) assert.equal(code, 0, err)
})

test('nothing is left behind: no process, nothing in /dev/shm', async () => {
  await endSpares()
  const mark = `AETHER_RENDEZVOUS=local:test-${process.pid}-`
  const left = (): string[] =>
    readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && environmentOf(entry).includes(mark))
  await until(() => left().length === 0, `processes ${left()} to end`)
  for (const name of readdirSync('/dev/shm')) assert.doesNotMatch(name, /aether/)
})

function environmentOf(processId: string): string {
  try {
    return readFileSync(`/proc/${processId}/environ`, 'latin1')
  } catch {
    return ''
  }
}

async function untilTrue(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await condition())) if (Date.now() > deadline) throw new Error('waited in vain')
}

/**
 * Ranks 0 and 1 of three have published how they are reached, and have had time to look (they do four times a second).
 */
async function bothHaveMet(rendezvous: string): Promise<void> {
  const membership = await Membership.enter(rendezvous.slice('local:'.length), { timeoutMs: 20_000 })
  const published = (): number =>
    membership.members().filter((member) => {
      const card = membership.card(member)
      return card !== undefined && decodeGroupCard(card, 3) !== undefined
    }).length
  await until(() => published() === 2, 'two cards')
  await sleep(1000)
  await membership.close()
}
