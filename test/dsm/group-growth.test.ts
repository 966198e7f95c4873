import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DoorCaller } from '../../src/cluster/group/growth/door-caller.ts'
import { plainEndpoint } from '../../src/cluster/group/growth/introduction.ts'
import { thisMachine } from '../../src/cluster/hosts/index.ts'
import { CONNECTION_LIMITS } from '../../src/cluster/hosts/sealed-connection.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { openDevice } from '../../src/verbs/index.ts'
import { freePort } from '../../tools/bench/peers/free-port.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { GrowingRank, killAndRestart } from './growing-group.ts'

useRuntimeDirectory()

/** Members that have joined one after the other. */
async function joined(
  name: string,
  count: number,
  options: object = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<GrowingRank[]> {
  const members: GrowingRank[] = []
  for (let index = 0; index < count; index += 1) {
    members.push(new GrowingRank(environment))
    await members[index]!.call('join', name, options)
  }
  return members
}

test('the first member makes the group, others join it, and each leaves by itself', async () => {
  const [first, second, third] = (await joined('one-by-one', 3, { timeoutMs: Number.POSITIVE_INFINITY })) as [
    GrowingRank,
    GrowingRank,
    GrowingRank,
  ]
  assert.deepEqual(await first.call('ranks'), [0, 1, 2])
  assert.deepEqual(
    await Promise.all([first, second, third].map((each) => each.call('barrier'))),
    Array(3).fill([0, 1, 2]),
  )
  assert.deepEqual(await Promise.all([first, second, third].map((each) => each.call('sum'))), Array(3).fill([3, 3]))
  await first.call('close')
  assert.deepEqual(await Promise.all([second, third].map((each) => each.call('barrier'))), Array(2).fill([1, 2]))
  assert.deepEqual(await second.call('events'), [
    { type: 'joined', rank: 2 },
    { type: 'left', rank: 0 },
  ])
  assert.equal(await second.call('isMember', 0), false)
  assert.equal(await second.call('size'), 2)
})

test('processes that start at once make one group', async () => {
  const members = Array.from({ length: 4 }, () => new GrowingRank())
  const all = await Promise.all(members.map((member) => member.call<{ rank: number }>('join', 'at-once')))
  assert.deepEqual(all.map(({ rank }) => rank).sort(), [0, 1, 2, 3])
  await Promise.all(members.map((member) => member.call('barrier')))
  assert.deepEqual(await Promise.all(members.map((member) => member.call('sum'))), Array(4).fill([6, 4]))
})

test('processes that start at once with different seeds make one group, and who does not reach it is told whose it is', async () => {
  const members = Array.from({ length: 4 }, () => new GrowingRank())
  const ports = await Promise.all(members.map(freePort))
  await Promise.all(members.map((member) => member.call('isReady')))
  const outcomes = await Promise.allSettled(
    members.map((member, index) =>
      member.call('join', 'apart', { seeds: [`127.0.0.1:${ports[index]}`], timeoutMs: 6000 }),
    ),
  )
  const inGroup = members.filter((_, index) => outcomes[index]!.status === 'fulfilled')
  assert.equal(inGroup.length, 1)
  for (const outcome of outcomes.filter((each) => each.status === 'rejected')) {
    assert.equal(outcome.reason.code, 'ERR_AETHER_MISSING_MEMBERS')
    assert.match(outcome.reason.message, new RegExp(`others are in it: process ${inGroup[0]!.child.pid} `))
  }
})

test('a member that is stopped keeps its group: no process makes another, and it is joined when it is continued', async () => {
  const [first] = (await joined('kept', 1)) as [GrowingRank]
  first.child.kill('SIGSTOP')
  const second = new GrowingRank()
  await assert.rejects(second.call('join', 'kept', { timeoutMs: 500 }), { code: 'ERR_AETHER_MISSING_MEMBERS' })
  const joining = second.call('join', 'kept')
  first.child.kill('SIGCONT')
  assert.deepEqual(await joining, { rank: 1, ranks: [0, 1] })
})

test('a rank that has joined takes part in collectives after its first barrier; blocking calls work alike', async () => {
  const members = await joined('blocking', 3)
  await assert.rejects(members[2]!.call('sum'), { code: 'ERR_AETHER_JOIN', message: /call group\.barrier\(\)/ })
  assert.deepEqual(await Promise.all(members.map((member) => member.call('sumSync'))), Array(3).fill([3, 3]))
})

test('a process joins while the programs of the members block, and they wait for it in their barrier', async () => {
  const [first, second] = (await joined('busy', 2)) as [GrowingRank, GrowingRank]
  const waiting = first.call('barrierSync')
  const third = new GrowingRank()
  await third.call('join', 'busy')
  const barriers = [waiting, second.call('barrierSync'), third.call('barrier')]
  await Promise.all(barriers)
  assert.deepEqual(await Promise.all([first, second, third].map((each) => each.call('sum'))), Array(3).fill([3, 3]))
})

test('regions, locks and messages are there for a rank that joins, also after the death of the first', async () => {
  const [first, second] = (await joined('things', 2)) as [GrowingRank, GrowingRank]
  await first.call('write', 7, 42)
  await second.call('read', 7)
  assert.equal(await first.call('lock', 'held'), null)
  await first.kill()
  const third = new GrowingRank()
  assert.deepEqual(await third.call('join', 'things'), { rank: 2, ranks: [1, 2] })
  assert.equal(await third.call('read', 7), 42)
  assert.equal(await third.call('lock', 'held'), 0)
  const message = third.call('message')
  await second.call('send', 2, 'hello')
  assert.deepEqual(await message, [1, 'hello'])
  await assert.rejects(second.call('send', 0, 'hello'), { code: 'ERR_AETHER_PEER_LOST' })
  await assert.rejects(second.call('send', 9, 'hello'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('a barrier goes on without a rank that dies, and does not name one that has', async () => {
  const [first, second, third] = (await joined('barrier', 3)) as [GrowingRank, GrowingRank, GrowingRank]
  const barriers = [second, third].map((each) => each.call('barrier'))
  await first.kill()
  assert.deepEqual(await Promise.all(barriers), Array(2).fill([1, 2]))
  await assert.rejects(second.call('barrier', { timeoutMs: 100 }), {
    code: 'ERR_AETHER_MISSING_MEMBERS',
    message: /rank 2 did not arrive/,
  })
  await Promise.all([second, third].map((each) => each.call('barrier')))
})

test('three processes, each killed and restarted under load: the others go on, and nothing acknowledged is lost', async () => {
  await killAndRestart('killed', 1)
})

test('a process that is stopped for longer than a lease is out, and ends when it is continued', async () => {
  const warnings = { AETHER_TRACE_CLUSTER: '1', AETHER_TRACE_LEVEL: 'WARN' }
  const members = await joined('stopped', 3, { leaseMs: 1500 }, warnings)
  const stopped = members[1]!
  stopped.child.kill('SIGSTOP')
  const others = [members[0]!, members[2]!]
  assert.deepEqual(await Promise.all(others.map((member) => member.call('barrier'))), Array(2).fill([0, 2]))
  stopped.child.kill('SIGCONT')
  const { code, signal, err } = await stopped.ended()
  // Where it was stopped in the middle of a WRITE, it was ended, so that it finishes nothing.
  if (signal === 'SIGKILL') {
    assert.match(others.map((member) => member.err).join(''), /killed.* in the middle of a WRITE/)
    return
  }
  assert.equal(code, 72, `${signal}: ${err}`)
  assert.match(err, /rank 1 is out of its group/)
})

test('a member without a quorum waits where it is told to, and goes on when the death of the other is certain', async () => {
  const [first, second] = (await joined('waiting', 2, { leaseMs: 1500, onQuorumLost: 'wait' })) as GrowingRank[]
  await first!.stop()
  const barrier = second!.call('barrier')
  await sleep(4000)
  assert.equal(second!.child.exitCode, null)
  await first!.kill()
  assert.deepEqual(await barrier, [1])
})

test('a process joins after many that were introduced and came no further', async () => {
  const port = await freePort()
  const seeds = [`127.0.0.1:${port}`]
  await joined('crowd', 1, { seeds })
  await using space = await Membership.enter('group-crowd')
  const { nonce } = space.arena.identity
  const address = { group: 'crowd', linkLayer: 'shared-memory', space: nonce } as const
  const caller = await DoorCaller.connect({ host: '127.0.0.1', port }, address, Buffer.from(nonce), CONNECTION_LIMITS)
  const { slot, epoch } = space.self
  const card = { ...thisMachine(), processId: process.pid, slot, epoch, isAtSeed: true, mtuBytes: 4096 }
  const device = openDevice('shm0')
  const queue = device.createCompletionQueue({ depth: 16 })
  const domain = device.createProtectionDomain()
  for (let candidate = 1; candidate <= 10; candidate += 1) {
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    const introduction = { candidate, epoch: 0, card, endpoints: [plainEndpoint(pair.endpoint)] }
    assert.equal(((await caller.ask({ ask: 'introduce', introduction })) as unknown[]).length, 1)
  }
  caller.close()
  device.close()
  const second = new GrowingRank()
  assert.deepEqual(await second.call('join', 'crowd', { seeds }), { rank: 1, ranks: [0, 1] })
})

test('what a seed is not, and what cannot be had, is said in words', async () => {
  const port = await freePort()
  const members = await joined('words', 1, { seeds: [`127.0.0.1:${port}`] })
  const other = new GrowingRank()
  await assert.rejects(other.call('join', 'another', { seeds: [`127.0.0.1:${port}`] }), {
    code: 'ERR_AETHER_JOIN',
    message: /another secret|of the group 'words'/,
  })
  const lonely = { seeds: [`127.0.0.1:${port + 1}`, '192.0.2.1:7471'], timeoutMs: 100 }
  await assert.rejects(other.call('join', 'lonely', { ...lonely, secretFile: '/nowhere' }), {
    code: 'ERR_AETHER_SECRET',
  })
  await assert.rejects(other.call('join', 'words', { seeds: ['nonsense'] }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await assert.rejects(other.call('join', 'words', { rank: 0 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await assert.rejects(other.call('join', 'words', { onQuorumLost: 'perhaps' }), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
  })
  await assert.rejects(members[0]!.call('openRegion', { coherence: 'mesi' }), { code: 'ERR_AETHER_UNSUPPORTED' })
  await assert.rejects(members[0]!.call('openStructures'), { code: 'ERR_AETHER_UNSUPPORTED' })
})

test('another member listens at the seed when the one that did is gone', async () => {
  const seeds = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const [first] = (await joined('seeds', 2, { seeds })) as [GrowingRank, GrowingRank]
  await first.kill()
  const third = new GrowingRank()
  assert.deepEqual(await third.call('join', 'seeds', { seeds: [seeds[1], seeds[0]] }), { rank: 2, ranks: [1, 2] })
})
