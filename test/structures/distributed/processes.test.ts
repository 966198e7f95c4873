import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

const directory = useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1)

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

test('what a rank had acknowledged before it was killed is there, what it was about is there or not, and what it held is free', async () => {
  await using ranks = await opened(3, { homes: [0] })
  assert.equal((await ranks.on<{ token: number }>(2, 'lock', 'stock')).token, 1)
  const files = [0, 1, 2].map((rank) => join(directory, `written-${rank}`))
  const writing = files.map((file, rank) => ranks.on(rank, 'writeMap', 'm', rank, file))
  await until(() => existsSync(`${files[2]}.done`) && lines(`${files[2]}.done`).length > 20, 'nobody writes')
  await ranks.processes[2]!.kill()
  const { token, abandoned } = await ranks.on<{ token: number; abandoned: boolean }>(1, 'lock', 'stock')
  assert.deepEqual({ token, abandoned }, { token: 2, abandoned: true })
  await Promise.all([0, 1].map((rank) => ranks.on(rank, 'stop')))
  await Promise.all(writing.slice(0, 2))
  const found = new Map(await ranks.on<[string, number][]>(1, 'readMap', 'm'))
  let acknowledged = 0
  for (const file of files) {
    const expected = new Map<string, number>()
    for (const line of lines(`${file}.done`)) {
      const { key, value } = JSON.parse(line) as { key: string; value: number }
      expected.set(key, value)
      acknowledged += 1
    }
    const last = JSON.parse(lines(file).at(-1) as string) as { key: string; value: number }
    for (const [key, value] of expected)
      assert.ok(found.get(key) === value || (key === last.key && found.get(key) === last.value), `${key} ${value}`)
  }
  // Of the one that was killed the last update was acknowledged, or not.
  assert.ok([acknowledged, acknowledged - 1, acknowledged + 1].includes(found.get('all') as number))
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
