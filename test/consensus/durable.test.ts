/** Replicated machines whose log is on disks: processes are killed, all at once too, and nothing answered is lost. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReplicatedStatus } from '../../src/public/consensus.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess, Ranks } from '../support/rank-process.ts'
import { drawThreads } from './fixtures/threads.ts'
import { assertLinearizable } from './histories.ts'

drawThreads()

useRuntimeDirectory()
const fixture = new URL('./fixtures/replica-rank.js', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'aether-test-durable-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let logs = 0
/** Directories of a log that no one has yet, by replica. */
function newLog(): (replica: number) => string {
  logs += 1
  const log = join(folder, `log-${logs}`)
  return (replica) => join(log, String(replica))
}

/** Ranks that open the log, each with the directory of its number. */
async function opened(directoryOf: (rank: number) => string, size = 3): Promise<Ranks> {
  const ranks = new Ranks(fixture, size)
  await ranks.all('join', {})
  await Promise.all(ranks.processes.map((each, rank) => each.call('open', { directory: directoryOf(rank) })))
  return ranks
}

const statusOf = (rank: RankProcess) => rank.call<ReplicatedStatus>('status')

async function until(rank: RankProcess, holds: (status: ReplicatedStatus) => boolean): Promise<ReplicatedStatus> {
  for (let look = 0; ; look += 1) {
    const status = await statusOf(rank)
    if (holds(status)) return status
    assert.ok(look < 4000, JSON.stringify(status))
    await sleep(5)
  }
}

test('all processes are killed at once, again and again: all calls have an order, and no answer is lost', async () => {
  const directoryOf = newLog()
  const path = join(folder, 'outages')
  const [keys, clients, rounds] = [8, 4, 3]
  let answered = 0
  for (let round = 0; round < rounds; round += 1) {
    await using ranks = await opened(directoryOf)
    // What was answered before is here, in every process.
    if (round > 0) assert.equal(await ranks.on(round % 3, 'get', 50), answered)
    for (const rank of [0, 1, 2])
      await ranks.on(rank, 'begin', path, (3 * round + rank) * clients + 1, clients, keys, 4)
    for (const each of ranks.processes)
      for (let look = 0; (await each.call<number>('applied')) < 15; look += 1) {
        assert.ok(look < 4000, 'calls are not answered')
        await sleep(5)
      }
    answered = round + 1
    assert.equal(await ranks.on(round % 3, 'propose', 50, { type: 'set', value: answered }), 1)
    if (round === rounds - 1) await ranks.all('stop')
    else await Promise.all(ranks.processes.map((each) => each.kill()))
  }
  assert.ok(assertLinearizable(path) > rounds * 45)
})

test('what is closed in good order goes on where it was, also in other processes and with fewer of them', async () => {
  const directoryOf = newLog()
  {
    await using ranks = await opened(directoryOf)
    assert.equal(await ranks.on(0, 'propose', 1, { type: 'set', value: 5 }), 1)
    for (const rank of [2, 0, 1]) await ranks.on(rank, 'close')
  }
  const ranks = new Ranks(fixture, 3)
  await using _ranks = ranks
  await ranks.all('join', {})
  // Rank 2 has the directory that rank 0 had, and no one that of rank 1.
  await Promise.all([0, 2].map((rank) => ranks.on(rank, 'open', { directory: directoryOf(2 - rank) })))
  assert.equal(await ranks.on(2, 'get', 1), 5)
  assert.equal(await ranks.on(0, 'propose', 1, { type: 'compareAndSet', expected: 5, value: 6 }), 1)
  assert.deepEqual((await statusOf(ranks.processes[2]!)).voters?.length, 3)
})

test('one that is killed comes back as the voter that it was; one that has lost its disk is a new one', async () => {
  const directoryOf = newLog()
  const members: RankProcess[] = []
  const start = async (): Promise<RankProcess> => {
    const member = new RankProcess(fixture, {})
    members.push(member)
    await member.call('join', { name: `durable-${process.pid}`, timeoutMs: 40_000 })
    return member
  }
  const identity = (replica: number): string => readFileSync(join(directoryOf(replica), 'identity'), 'utf8')
  try {
    const founders = [await start(), await start(), await start()]
    await Promise.all(founders.map((each, replica) => each.call('open', { directory: directoryOf(replica) })))
    const [first] = founders as [RankProcess]
    assert.equal(await first.call('propose', 1, { type: 'set', value: 1 }), 1)

    const before = identity(2)
    await founders[2]!.kill()
    assert.equal(await first.call('propose', 1, { type: 'set', value: 2 }), 1)
    assert.equal((await statusOf(first)).voters?.length, 3)
    const back = await start()
    const rank = await back.call<number>('rank')
    await back.call('open', { directory: directoryOf(2) })
    assert.equal(identity(2), before)
    assert.equal(await back.call('get', 1), 2)
    await until(first, ({ voters = [] }) => voters.length === 3 && voters.includes(rank))

    await founders[1]!.kill()
    rmSync(directoryOf(1), { recursive: true })
    const another = await start()
    const anotherRank = await another.call<number>('rank')
    await another.call('open', { directory: directoryOf(1) })
    const { voters } = await until(another, (each) => each.voters?.length === 3 && each.voters.includes(anotherRank))
    assert.equal(await another.call('get', 1), 2)
    assert.ok(voters?.includes(rank))
    await Promise.all([first, back, another].map((each) => each.call('closeGroup')))
  } finally {
    await Promise.all(members.map((member) => member.kill()))
  }
})

test('a voter whose directory is lost while all processes are gone is replaced by one that comes', async () => {
  const directoryOf = newLog()
  {
    await using ranks = await opened(directoryOf)
    assert.equal(await ranks.on(0, 'propose', 1, { type: 'set', value: 5 }), 1)
    await Promise.all(ranks.processes.map((each) => each.kill()))
  }
  rmSync(directoryOf(1), { recursive: true })
  await using ranks = await opened(directoryOf)
  await until(ranks.processes[0]!, ({ voters = [] }) => voters.length === 3 && voters.includes(1))
  await ranks.kill(2)
  assert.equal(await ranks.on(1, 'propose', 1, { type: 'compareAndSet', expected: 5, value: 6 }), 1)
})

test('a minority of the directories is not enough, and it is said whose are missing', async () => {
  const directoryOf = newLog()
  {
    await using ranks = await opened(directoryOf)
    assert.equal(await ranks.on(0, 'propose', 1, { type: 'set', value: 5 }), 1)
    await Promise.all(ranks.processes.map((each) => each.kill()))
  }
  const ids = [0, 1, 2].map((replica) => {
    const { id } = JSON.parse(readFileSync(join(directoryOf(replica), 'identity'), 'utf8')) as { readonly id: number }
    return id
  })
  await using ranks = new Ranks(fixture, 3)
  await ranks.all('join', {})
  // On a busy machine, to read the log takes a while, too.
  const alone = ranks.on(1, 'open', { directory: directoryOf(1), timeoutMs: 5000 })
  await assert.rejects(alone, (error: { readonly code: string; readonly message: string }) => {
    assert.equal(error.code, 'ERR_AETHER_CONSENSUS_TIMEOUT')
    assert.match(error.message, /2 of the 3 replicas/)
    return [ids[0], ids[2]].every((id) => error.message.includes(String(id)))
  })
  // An empty directory does not make a majority.
  const other = ranks.on(0, 'open', { directory: newLog()(0), timeoutMs: 1500 })
  const again = ranks.on(1, 'open', { directory: directoryOf(1), timeoutMs: 1500 })
  await assert.rejects(other, { code: 'ERR_AETHER_CONSENSUS_TIMEOUT' })
  await assert.rejects(again, { code: 'ERR_AETHER_CONSENSUS_TIMEOUT' })
})

test('a directory that is in use, or not of this log, is refused, and stays as it is', async () => {
  const [directoryOf, anotherOf] = [newLog(), newLog()]
  for (const each of [directoryOf, anotherOf]) {
    await using ranks = await opened(each)
    await ranks.on(0, 'propose', 1, { type: 'set', value: each === directoryOf ? 1 : 2 })
    const used = ranks.on(0, 'openBeside', { directory: each(1) })
    await assert.rejects(used, { code: 'ERR_AETHER_CONSENSUS_LOG_IN_USE' })
    await ranks.all('close')
    const foreign = ranks.on(0, 'openBeside', { directory: each(1) })
    await assert.rejects(foreign, { code: 'ERR_AETHER_CONSENSUS_LOG_FOREIGN' })
  }
  {
    await using ranks = new Ranks(fixture, 3)
    await ranks.all('join', {})
    await Promise.all([0, 1].map((rank) => ranks.on(rank, 'open', { directory: directoryOf(rank) })))
    const stranger = ranks.on(2, 'open', { directory: anotherOf(2) })
    await assert.rejects(stranger, { code: 'ERR_AETHER_CONSENSUS_STRANGER', message: /another log/ })
    const without = ranks.on(2, 'open', {})
    await assert.rejects(without, { code: 'ERR_AETHER_CONSENSUS_STRANGER', message: /directory/ })
    await ranks.on(2, 'open', { directory: directoryOf(2) })
    assert.deepEqual(await ranks.all('get', 1), [1, 1, 1])
  }
  await using ranks = await opened(anotherOf)
  assert.deepEqual(await ranks.all('get', 1), [2, 2, 2])
})
