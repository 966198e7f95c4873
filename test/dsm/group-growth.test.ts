import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { freePort } from '../../tools/bench/peers/free-port.ts'
import { GrowingRank, killAndRestart } from './growing-group.ts'

useRuntimeDirectory()

/** Members that have joined one after the other. */
async function joined(name: string, count: number, options: object = {}): Promise<GrowingRank[]> {
  const members: GrowingRank[] = []
  for (let index = 0; index < count; index += 1) {
    members.push(new GrowingRank())
    await members[index]!.call('join', name, options)
  }
  return members
}

async function endAll(members: readonly GrowingRank[]): Promise<void> {
  await Promise.all(members.map((member) => member.kill()))
}

test('the first member makes the group, others join it, and each leaves by itself', async () => {
  const [first, second, third] = (await joined('one-by-one', 3)) as [GrowingRank, GrowingRank, GrowingRank]
  assert.deepEqual(await first.call('ranks'), [0, 1, 2])
  assert.deepEqual(await Promise.all([first, second, third].map((each) => each.call('barrier'))), Array(3).fill([0, 1, 2]))
  assert.deepEqual(await Promise.all([first, second, third].map((each) => each.call('sum'))), Array(3).fill([3, 3]))
  await first.call('close')
  assert.deepEqual(await Promise.all([second, third].map((each) => each.call('barrier'))), Array(2).fill([1, 2]))
  assert.deepEqual(await second.call('events'), [
    { type: 'joined', rank: 2 },
    { type: 'left', rank: 0 },
  ])
  assert.equal(await second.call('isMember', 0), false)
  assert.equal(await second.call('size'), 2)
  await endAll([first, second, third])
})

test('processes that start at once make one group', async () => {
  const members = Array.from({ length: 4 }, () => new GrowingRank())
  const all = await Promise.all(members.map((member) => member.call<{ rank: number }>('join', 'at-once')))
  assert.deepEqual(all.map(({ rank }) => rank).sort(), [0, 1, 2, 3])
  await Promise.all(members.map((member) => member.call('barrier')))
  assert.deepEqual(await Promise.all(members.map((member) => member.call('sum'))), Array(4).fill([6, 4]))
  await endAll(members)
})

test('a rank that has joined takes part in collectives after its first barrier; blocking calls work alike', async () => {
  const members = await joined('blocking', 3)
  await assert.rejects(members[2]!.call('sum'), { code: 'ERR_AETHER_JOIN', message: /call group\.barrier\(\)/ })
  assert.deepEqual(await Promise.all(members.map((member) => member.call('sumSync'))), Array(3).fill([3, 3]))
  await endAll(members)
})

test('a process joins while the programs of the members block, and they wait for it in their barrier', async () => {
  const [first, second] = (await joined('busy', 2)) as [GrowingRank, GrowingRank]
  const waiting = first.call('barrierSync')
  const third = new GrowingRank()
  await third.call('join', 'busy')
  const barriers = [waiting, second.call('barrierSync'), third.call('barrier')]
  await Promise.all(barriers)
  assert.deepEqual(await Promise.all([first, second, third].map((each) => each.call('sum'))), Array(3).fill([3, 3]))
  await endAll([first, second, third])
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
  await endAll([second, third])
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
  await endAll([second, third])
})

test('three processes, each killed and restarted under load: the others go on, and nothing acknowledged is lost', async () => {
  await killAndRestart('killed', 1)
})

test('a process that is stopped for longer than a lease is out, and ends when it is continued', async () => {
  const members = await joined('stopped', 3, { leaseMs: 1500 })
  const stopped = members[1]!
  stopped.child.kill('SIGSTOP')
  const others = [members[0]!, members[2]!]
  assert.deepEqual(await Promise.all(others.map((member) => member.call('barrier'))), Array(2).fill([0, 2]))
  stopped.child.kill('SIGCONT')
  const { code, err } = await stopped.ended()
  assert.equal(code, 72)
  assert.match(err, /rank 1 is out of its group/)
  await endAll(others)
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
  await assert.rejects(other.call('join', 'words', { onQuorumLost: 'wait' }), { code: 'ERR_AETHER_UNSUPPORTED' })
  await assert.rejects(members[0]!.call('openRegion', { coherence: 'mesi' }), { code: 'ERR_AETHER_UNSUPPORTED' })
  await assert.rejects(members[0]!.call('openStructures'), { code: 'ERR_AETHER_UNSUPPORTED' })
  await endAll([...members, other])
})

test('another member listens at the seed when the one that did is gone', async () => {
  const seeds = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const [first, second] = (await joined('seeds', 2, { seeds })) as [GrowingRank, GrowingRank]
  await first.kill()
  const third = new GrowingRank()
  assert.deepEqual(await third.call('join', 'seeds', { seeds: [seeds[1], seeds[0]] }), { rank: 2, ranks: [1, 2] })
  await endAll([second, third])
})

