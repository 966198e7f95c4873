import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)

async function opened(size: number, options: object = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, size)
  await ranks.all('open', options)
  return ranks
}

test('ranks that are processes count, number and wait together, and leave together', async () => {
  await using ranks = await opened(3)
  const waiting = ranks.on(1, 'waitFor', 'go')
  await ranks.all('add', 'hits', 200)
  assert.deepEqual(await ranks.all('get', 'hits'), [600, 600, 600])
  const taken = await ranks.all<number[]>('next', 'orders', 50)
  assert.deepEqual(
    taken.flat().sort((a, b) => a - b),
    Array.from({ length: 150 }, (_, at) => at + 1),
  )
  assert.equal(await ranks.on(2, 'raise', 'go'), true)
  await waiting
  await ranks.all('close')
})

test('a rank that is killed takes with it what it kept, and nothing else', async () => {
  await using ranks = await opened(3)
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  const homes = await Promise.all(names.map((name) => ranks.on<number>(0, 'homeOf', name)))
  const lost = names[homes.indexOf(2)] as string
  const kept = names[homes.indexOf(1)] as string
  await ranks.all('add', lost, 3)
  await ranks.all('add', kept, 3)
  const adding = ranks.on(1, 'add', lost, 10_000_000)
  await ranks.processes[2]!.kill()
  await assert.rejects(adding, { code: 'ERR_AETHER_HOME_LOST' })
  await assert.rejects(ranks.on(0, 'get', lost), { code: 'ERR_AETHER_HOME_LOST' })
  assert.equal(await ranks.on(0, 'get', kept), 9)
  await Promise.all([0, 1].map((rank) => ranks.on(rank, 'close')))
})

test('ranks that give different options are told, all of them', async () => {
  await using ranks = new Ranks(fixture, 2)
  const said = await Promise.allSettled([ranks.on(0, 'open', {}), ranks.on(1, 'open', { size: '2MiB' })])
  for (const one of said) {
    assert.equal(one.status, 'rejected')
    assert.equal((one.reason as { code?: string }).code, 'ERR_AETHER_STRUCTURE_MISMATCH')
  }
})

test('structures at one rank only, and a group that is closed before them', async () => {
  await using ranks = await opened(2, { homes: [1] })
  assert.equal(await ranks.on(0, 'homeOf', 'anything'), 1)
  await ranks.all('add', 'n', 2)
  assert.equal(await ranks.on(0, 'get', 'n'), 4)
  await ranks.all('closeGroupFirst')
})
