/** Replicated machines in processes of one machine: what they promise, and what becomes of it when some end. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runningSpaces } from '../../src/cluster/index.ts'
import { bytes } from '../../src/codecs/index.ts'
import { ObservedSpace } from '../../src/dashboard/index.ts'
import { type FailOver, replicate } from '../../src/public/consensus.ts'
import { join as joinGroup } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess, Ranks } from '../support/rank-process.ts'
import { drawThreads, THREADS } from './fixtures/threads.ts'
import { assertLinearizable } from './histories.ts'

drawThreads()

useRuntimeDirectory()
const fixture = new URL('./fixtures/replica-rank.js', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'aether-test-replicate-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Leadership {
  readonly term: number
  readonly leader: number
  readonly isSelf: boolean
}

interface Status {
  readonly term: number
  readonly leader: number | undefined
  readonly applied: number
  readonly voters: readonly number[]
  readonly hash: string
}

interface FailOverStatus {
  readonly term: number
  readonly isLeader: boolean
  readonly leader: number
  readonly applied: number
  readonly proposing: number
  readonly lastFailOver?: FailOver
}

async function opened(size: number, options: object = {}, environment: Record<string, string> = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, size, environment)
  await ranks.all('join', {})
  await ranks.all('open', options)
  return ranks
}

/** All replicas have applied the same, and are alike. */
async function assertAlike(ranks: readonly RankProcess[]): Promise<void> {
  for (let look = 0; ; look += 1) {
    const all = await Promise.all(ranks.map((rank) => rank.call<Status>('status')))
    const applied = new Set(all.map((status) => status.applied))
    if (applied.size === 1) {
      assert.equal(new Set(all.map(({ hash }) => hash)).size, 1)
      return
    }
    assert.ok(look < 1000, `replicas do not catch up: ${JSON.stringify(all)}`)
    await sleep(5)
  }
}

test('a replica that is all there is keeps no log, and who comes gets what it has, also while it writes', async () => {
  await using ranks = new Ranks(fixture, 2, { [THREADS]: 'program' })
  await ranks.all('join', {})
  await ranks.on(0, 'open', { replicas: 1 })
  await ranks.on(0, 'begin', join(folder, 'alone'), 1, 2, 2, 0)
  await ranks.on(0, 'proposeLong', 300_000)
  while ((await ranks.on<number>(0, 'applied')) < 3000) await sleep(5)
  const changes = await ranks.on<{ index: number }[]>(0, 'changes', 1001, 100)
  assert.deepEqual(
    changes.map(({ index }) => index),
    Array.from({ length: 100 }, (_, place) => 1001 + place),
  )
  await ranks.on(1, 'open', { replicas: 1 })
  assert.equal(await ranks.on(1, 'propose', 40, { type: 'set', value: 41 }), 1)
  await ranks.on(0, 'stop')
  assert.equal(await ranks.on(0, 'get', 40), 41)
  assert.deepEqual(await ranks.all('lengths'), [300_000, 300_000])
  await assertAlike(ranks.processes)
  const both = await ranks.on<Status>(1, 'status')
  assert.deepEqual(both.voters, [0])
  await ranks.on(1, 'close')
  assert.equal(await ranks.on(0, 'proposeMany', 100), 100)
  assert.ok((await ranks.on<Status>(0, 'status')).applied > both.applied)
  assert.ok(assertLinearizable(join(folder, 'alone')) > 3000)
})

test('three members, of which none ends', async (t) => {
  await using ranks = await opened(3)

  await t.test('every member proposes and reads; all replicas are alike', async () => {
    for (const rank of [0, 1, 2]) assert.equal(await ranks.on(rank, 'propose', 1, { type: 'set', value: rank + 1 }), 1)
    assert.deepEqual(await ranks.all('get', 1), [3, 3, 3])
    const raced = await ranks.all<number>('propose', 2, { type: 'setIfAbsent', value: 7 })
    assert.equal(raced.filter((won) => won === 1).length, 1)
    const leaders = await ranks.all<Leadership>('leader')
    assert.equal(new Set(leaders.map(({ term }) => term)).size, 1)
    assert.equal(leaders.filter(({ isSelf }) => isSelf).length, 1)
    assert.equal(await ranks.on(0, 'get', 1, { stale: true }), 3)
    await assertAlike(ranks.processes)
  })

  await t.test('what the machine throws is the outcome of the command, at every replica', async () => {
    const refused = { code: 'ERR_AETHER_CONSENSUS_REJECTED', message: /there is no key -1/ }
    await assert.rejects(ranks.on(1, 'propose', -1, { type: 'get' }), refused)
    assert.equal(await ranks.on(1, 'propose', 1, { type: 'set', value: 5 }), 1)
    await assertAlike(ranks.processes)
  })

  await t.test('many commands at once, and long ones, are applied once each and in order', async () => {
    await Promise.all([
      ...(await ranks.all('proposeMany', 2000)),
      ranks.on(0, 'proposeLong', 300_000),
      ranks.on(1, 'proposeLong', 1_000_001),
    ])
    assert.deepEqual(await ranks.all('lengths'), [1_300_001, 1_300_001, 1_300_001])
    const changes = await ranks.on<{ index: number }[]>(2, 'changes', 3000, 1000)
    assert.deepEqual(
      changes.map(({ index }) => index),
      Array.from({ length: 1000 }, (_, index) => 3000 + index),
    )
    await assert.rejects(ranks.on(2, 'changes', 1, 1), { code: 'ERR_AETHER_CONSENSUS_CHANGES_GONE' })
    await assertAlike(ranks.processes)
  })

  await t.test('leadership is handed over; terms grow', async () => {
    const before = await ranks.on<Leadership>(0, 'leader')
    const heir = (before.leader + 1) % 3
    const seen = ranks.on<Leadership[]>(heir, 'leaderships', 2)
    assert.equal(await ranks.on(heir, 'transfer', before.leader), false)
    assert.equal(await ranks.on(before.leader, 'transfer', heir), true)
    const [first, second] = (await seen) as [Leadership, Leadership]
    assert.deepEqual(first.term, before.term)
    assert.ok(second.term > first.term)
    // On a busy machine a third may be quicker than the heir, which is asked again then.
    let { leader } = second
    for (let turn = 0; leader !== heir; turn += 1) {
      assert.ok(turn < 250, `rank ${leader} leads, and not ${heir}`)
      if (turn % 50 === 0) await ranks.on(leader, 'transfer', heir)
      await sleep(10)
      leader = (await ranks.on<Leadership>(heir, 'leader')).leader
    }
    assert.equal(await ranks.on(before.leader, 'propose', 1, { type: 'set', value: 2 }), 1)
    await assertAlike(ranks.processes)
  })

  await t.test('programs and replicas that are stopped take no part: the leader decides in their memory', async () => {
    const leader = await leading(ranks.processes)
    const others = ranks.processes.filter((each) => each !== leader)
    await Promise.all(others.map((each) => each.stop()))
    for (let value = 1; value <= 20; value += 1)
      assert.equal(await leader.call('propose', 1, { type: 'set', value }), 1)
    assert.equal(await leader.call('get', 1), 20)
    for (const each of others) each.child.kill('SIGCONT')
    for (const each of others) assert.equal(await each.call('get', 1), 20)
    await assertAlike(ranks.processes)
  })

  await t.test(
    'a program that computes keeps no one from deciding; one that leads and is stuck leads no more',
    async () => {
      const { leader, term } = await ranks.on<Leadership>(0, 'leader')
      const other = (leader + 1) % 3
      const computing = ranks.on(leader, 'compute', 4000)
      for (let value = 1; value <= 20; value += 1)
        assert.equal(await ranks.on(other, 'propose', 1, { type: 'set', value }), 1)
      const after = await ranks.on<Leadership>(other, 'leader')
      assert.ok(after.term >= term)
      await computing
      await assertAlike(ranks.processes)
    },
  )
})

test('reads that may be a little old ask no majority, until they would be older', async () => {
  await using ranks = await opened(3)
  const staleMs = async (rank: number) => (await ranks.on<{ readonly staleMs: number }>(rank, 'status')).staleMs
  const { leader } = await ranks.on<Leadership>(0, 'leader')
  const reader = [0, 1, 2].find((rank) => rank !== leader)!
  const others = [0, 1, 2].filter((rank) => rank !== reader)
  assert.equal(await ranks.on(reader, 'propose', 1, { type: 'set', value: 4 }), 1)
  const began = performance.now()
  assert.equal(await ranks.on(reader, 'get', 1), 4)
  const stale = await staleMs(reader)
  assert.ok(stale < performance.now() - began)
  await assert.rejects(ranks.on(reader, 'get', 1, { staleMs: -1 }), /staleMs/)
  await Promise.all(others.map((rank) => ranks.kill(rank)))
  assert.equal(await ranks.on(reader, 'get', 1, { staleMs: 60_000, timeoutMs: 1 }), 4)
  await sleep(50)
  assert.ok((await staleMs(reader)) >= 50)
  // Older than it may be: what the memory of the voters says, or no answer.
  const late = await answerOr(ranks.on(reader, 'get', 1, { staleMs: 50, timeoutMs: 100 }))
  assert.ok(late === 4 || late === 'TIMEOUT', `${late}`)
})

test('the memory of voters that are stopped answers a read at once', async () => {
  await using ranks = await opened(3)
  const { leader } = await ranks.on<Leadership>(0, 'leader')
  const reader = [0, 1, 2].find((rank) => rank !== leader)!
  assert.equal(await ranks.on(reader, 'propose', 1, { type: 'set', value: 4 }), 1)
  for (const rank of [0, 1, 2]) if (rank !== reader) await ranks.processes[rank]!.stop()
  assert.equal(await ranks.on(reader, 'get', 1, { timeoutMs: 1000 }), 4)
})

/** A read without a majority: the memory of voters that have ended may still tell that nothing else was decided. */
async function answerOr(read: Promise<unknown>): Promise<unknown> {
  return await read.catch((error: { code?: string }) => {
    assert.equal(error.code, 'ERR_AETHER_CONSENSUS_TIMEOUT')
    return 'TIMEOUT'
  })
}

test('who takes over says how long each stage took; metrics say where each replica stands', async () => {
  await using ranks = await opened(3)
  const { leader } = await ranks.on<Leadership>(0, 'leader')
  await ranks.on(leader, 'propose', 1, { type: 'set', value: 1 })
  const beganMs = Date.now()
  await ranks.kill(leader)
  const others = [0, 1, 2].filter((rank) => rank !== leader)
  await Promise.all(others.map((rank) => ranks.on(rank, 'propose', 1, { type: 'set', value: 2 })))
  // Without the one that has ended nothing more is decided.
  while ((await ranks.on<Status>(others[0]!, 'status')).voters.includes(leader)) await sleep(5)
  await assertAlike(others.map((rank) => ranks.processes[rank]!))
  const all = await Promise.all(others.map((rank) => ranks.on<FailOverStatus>(rank, 'status')))
  const [heir] = all.filter(({ isLeader }) => isLeader)
  const { term, atMs, campaignMs, promisedMs, caughtUpMs, decidedMs } = heir!.lastFailOver!
  assert.equal(term, heir!.term)
  assert.equal(heir!.proposing, 0)
  assert.ok(atMs >= beganMs - 1 && atMs <= Date.now())
  const stages = [0, campaignMs, promisedMs, caughtUpMs, decidedMs]
  assert.deepEqual(
    stages,
    stages.toSorted((a, b) => a - b),
  )
  assert.ok(promisedMs > campaignMs && decidedMs > caughtUpMs)

  const texts = await Promise.all(others.map((rank) => ranks.on<string>(rank, 'metrics')))
  const shown = (name: string): number[] =>
    texts.map((text) => Number(new RegExp(`^aether_consensus_${name}{machine="registers"} (.*)$`, 'm').exec(text)?.[1]))
  assert.deepEqual(shown('term'), [term, term])
  assert.deepEqual(shown('leads').toSorted(), [0, 1])
  assert.deepEqual(
    shown('applied'),
    all.map(({ applied }) => applied),
  )
  assert.ok(shown('entries_total').every((entries) => entries > 0))
  // On a busy machine another may have led before, and shows its own.
  const shownByHeir = (name: string): number => shown(name)[all.indexOf(heir!)]!
  assert.ok(Math.abs(shownByHeir('fail_over_seconds') - decidedMs / 1e3) < 1e-6)
  assert.deepEqual(shown('proposing'), [0, 0])
  assert.ok(Math.abs(shownByHeir('fail_over_promised_seconds') - promisedMs / 1e3) < 1e-6)

  using space = ObservedSpace.attach(runningSpaces()[0] ?? '')
  const machines = space.look().machines.map(({ name, number, leads, behind }) => ({ name, number, leads, behind }))
  assert.deepEqual(
    machines,
    others.map((rank) => ({ name: 'registers', number: rank, leads: rank === heir!.leader, behind: 0 })),
  )
  for (const input of texts) {
    const checked = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    if (checked.error === undefined) assert.equal(checked.stderr + checked.stdout, '')
  }
})

test('one process is enough for one replica', async () => {
  await using ranks = await opened(1)
  assert.equal(await ranks.on(0, 'propose', 1, { type: 'set', value: 9 }), 1)
  assert.equal(await ranks.on(0, 'get', 1), 9)
})

test('members beyond the voters follow; one of them votes when a voter has ended', async () => {
  await using ranks = await opened(4)
  const { voters, leader } = await ranks.on<Status>(3, 'status')
  assert.deepEqual([...voters].sort(), [0, 1, 2])
  const victim = leader === 1 ? 2 : 1
  await ranks.kill(victim)
  const living = ranks.processes.filter((_, rank) => rank !== victim)
  assert.equal(await ranks.on(3, 'propose', 1, { type: 'set', value: 4 }), 1)
  for (let look = 0; ; look += 1) {
    const status = await ranks.on<Status>(3, 'status')
    if (status.voters.includes(3) && !status.voters.includes(victim)) break
    assert.ok(look < 1000, JSON.stringify(status))
    await sleep(5)
  }
  await assertAlike(living)
})

test('when the leader is killed, another leads, and no answer is lost', async () => {
  await using ranks = await opened(3)
  const { leader } = await ranks.on<Leadership>(0, 'leader')
  const [first, second] = [0, 1, 2].filter((rank) => rank !== leader) as [number, number]
  assert.equal(await ranks.on(leader, 'propose', 1, { type: 'set', value: 1 }), 1)
  await ranks.kill(leader)
  assert.equal(await ranks.on(first, 'propose', 1, { type: 'compareAndSet', expected: 1, value: 2 }), 1)
  assert.equal(await ranks.on(second, 'get', 1), 2)
  await assertAlike([ranks.processes[first]!, ranks.processes[second]!])
})

test('without a majority calls end in time, and say whether they took effect', async () => {
  await using ranks = await opened(3)
  assert.equal(await ranks.on(0, 'propose', 1, { type: 'set', value: 1 }), 1)
  assert.equal(await ranks.on(0, 'get', 1), 1)
  await Promise.all([ranks.kill(1), ranks.kill(2)])
  // The memory of a process that has ended still takes values, until the others have heard of it.
  const propose = (): Promise<unknown> => ranks.on(0, 'propose', 1, { type: 'set', value: 1 }, { timeoutMs: 400 })
  const end = performance.now() + 10_000
  const failure = await (async () => {
    while (performance.now() < end) await propose()
  })().catch((error: { code: string; fields: { outcome: string } }) => error)
  assert.deepEqual([failure?.code, failure?.fields.outcome], ['ERR_AETHER_CONSENSUS_TIMEOUT', 'unknown'])
  const read = await answerOr(ranks.on(0, 'get', 1, { timeoutMs: 400 }))
  assert.ok(read === 1 || read === 'TIMEOUT', `${read}`)
  assert.equal(await ranks.on(0, 'get', 1, { stale: true }), 1)
})

test('it is closed in any order, and calls of a closed one reject', async () => {
  await using ranks = await opened(3)
  for (const rank of [1, 0]) {
    await ranks.on(rank, 'close')
    await assert.rejects(ranks.on(rank, 'get', 1), { code: 'ERR_AETHER_CONSENSUS_CLOSED' })
    assert.equal(await ranks.on(2, 'propose', 1, { type: 'set', value: rank + 1 }), 1)
  }
})

test('who iterates over changes or leaders keeps the process alive, until it is closed', async () => {
  const group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:iterations-${process.pid}` })
  const machine = () => ({ apply: () => 1, snapshot: () => [], restore() {} })
  const replicated = await replicate(group, { name: 'iterations', machine })
  const drained = async (iterable: AsyncIterable<unknown>): Promise<number> => {
    let count = 0
    for await (const _ of iterable) count += 1
    return count
  }
  const counts = Promise.all([drained(replicated.changes()), drained(replicated.leadership())])
  await replicated.propose(undefined as never)
  await replicated.close()
  assert.deepEqual(await counts, [1, 1])
  await group.close()
})

// ---- histories
// -----------------------------------------------------------------------------------------------------------------

const KEYS = 16
const CLIENTS = 7
/** Clients rest for up to this long, so that whoever starts or takes over finds a processor. */
const PAUSE_MS = 40

test('processes are killed, and others join in their place: all calls have an order', async () => {
  const path = join(folder, 'killed')
  const name = `replicas-${process.pid}`
  const members: RankProcess[] = []
  let first = 0
  const start = async (): Promise<RankProcess> => {
    const member = new RankProcess(fixture, {})
    members.push(member)
    await member.call('join', { name, timeoutMs: 40_000 })
    return member
  }
  const work = async (member: RankProcess): Promise<void> => {
    await member.call('open')
    first += CLIENTS
    await member.call('begin', path, first, CLIENTS, KEYS, PAUSE_MS)
  }
  try {
    const founders = [await start(), await start(), await start()]
    await Promise.all(founders.map(work))
    for (let turn = 0; turn < 2; turn += 1) {
      const applied = await Promise.all(members.map((member) => member.call<number>('applied')))
      const victim = turn % 2 === 0 ? await leading(members) : members[0]!
      await victim.kill()
      members.splice(members.indexOf(victim), 1)
      await goneOn(members, Math.max(...applied) + 5)
      await work(await start())
      await voting(members)
    }
    await Promise.all(members.map((member) => member.call('stop')))
    await assertAlike(members)
    assert.ok(assertLinearizable(path) > 150)
    await Promise.all(members.map((member) => member.call('closeGroup')))
  } finally {
    await Promise.all(members.map((member) => member.kill()))
  }
})

async function leading(members: readonly RankProcess[]): Promise<RankProcess> {
  for (;;) {
    const leaders = await Promise.all(members.map((member) => member.call<Leadership>('leader')))
    const found = members.find((_, index) => leaders[index]!.isSelf)
    if (found !== undefined) return found
    await sleep(5)
  }
}

/** Clients of each have made at least so many calls. */
async function goneOn(members: readonly RankProcess[], calls: number): Promise<void> {
  for (const member of members) {
    for (let look = 0; (await member.call<number>('applied')) < calls; look += 1) {
      assert.ok(look < 4000, `calls are not answered: ${JSON.stringify(await member.call('status'))}`)
      await sleep(5)
    }
  }
}

/** All members vote. */
async function voting(members: readonly RankProcess[]): Promise<void> {
  for (let look = 0; ; look += 1) {
    const { voters } = await members[0]!.call<Status>('status')
    if (voters.length === members.length) return
    assert.ok(look < 4000, `not all vote: ${voters.join()}`)
    await sleep(5)
  }
}

test('a leader is stopped, another leads, and it goes on: all calls have an order', async () => {
  const path = join(folder, 'stopped')
  await using ranks = await opened(3)
  for (const rank of [0, 1, 2]) await ranks.on(rank, 'begin', path, rank * CLIENTS + 1, CLIENTS, KEYS, PAUSE_MS)
  for (let turn = 0; turn < 3; turn += 1) {
    const leader = await leading(ranks.processes)
    const others = ranks.processes.filter((each) => each !== leader)
    await leader.stop()
    const applied = await Promise.all(others.map((member) => member.call<number>('applied')))
    await goneOn(others, Math.max(...applied) + 20)
    leader.child.kill('SIGCONT')
    await goneOn([leader], (await leader.call<number>('applied')) + 5)
  }
  await ranks.all('stop')
  await assertAlike(ranks.processes)
  assert.ok(assertLinearizable(path) > 300)
})

test('bytes that are answered, and told as changes, are memory of their own', async () => {
  await using group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:own-${process.pid}` })
  const machine = {
    apply: (command: Uint8Array): Uint8Array => command.map((byte) => byte + 1),
    *snapshot() {},
    restore() {},
  }
  await using echo = await replicate(group, {
    ...{ name: 'echo', machine: () => machine, codec: bytes, answerCodec: bytes, replicas: 1 },
  })
  const answer = await echo.propose(Uint8Array.of(1, 2))
  const change = (await echo.changes({ from: 1 }).next()).value!
  for (const [is, wanted] of [
    [answer, [2, 3]],
    [change.command, [1, 2]],
    [change.answer!, [2, 3]],
  ] as const) {
    assert.deepEqual(is, Uint8Array.from(wanted))
    assert.equal(is.buffer.byteLength, 2)
  }
})
