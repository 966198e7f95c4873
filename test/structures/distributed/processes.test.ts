import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'
import { drawn } from '../../support/drawn.ts'
import { Ranks } from '../../support/rank-process.ts'
import { listKinds } from './list/list-histories.ts'
import { fixture, opened } from './opened-ranks.ts'

const directory = useRuntimeDirectory()

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1)

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

test('where one rank gives up before all are connected the others are told, and all may try again', async () => {
  const ranks = new Ranks(fixture, 3)
  await using _ranks = ranks
  await ranks.all('join')
  for (const impatient of [0, 2]) {
    await assert.rejects(ranks.on(impatient, 'openWithin', 100), { name: 'TimeoutError' })
    const others = [0, 1, 2].filter((rank) => rank !== impatient)
    const told = { code: 'ERR_AETHER_STRUCTURES_NOT_OPENED', message: new RegExp(`rank ${impatient} could not open`) }
    await Promise.all(others.map((rank) => assert.rejects(ranks.on(rank, 'openWithin', 60_000), told)))
  }
  await ranks.all('openWithin', 60_000)
  await ranks.all('add', 'hits', 10)
  assert.deepEqual(await ranks.all('get', 'hits'), [30, 30, 30])
  await ranks.all('close')
})

test('a rank that is killed takes with it what it kept, and nothing else', async () => {
  await using ranks = await opened(3)
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  const homes = await Promise.all(names.map((name) => ranks.on<number>(0, 'homeOf', name)))
  const lost = names[homes.indexOf(2)]!
  const kept = names[homes.indexOf(1)]!
  await ranks.all('add', lost, 3)
  await ranks.all('add', kept, 3)
  const adding = ranks.on(1, 'add', lost, 10_000_000)
  await ranks.processes[2]!.kill()
  await assert.rejects(adding, { code: 'ERR_AETHER_HOME_LOST' })
  // The other survivor hears of it at another time. Until then it reads the memory that the home has left.
  await assert.rejects(
    async () => {
      for (;;) assert.ok((await ranks.on<number>(0, 'get', lost)) >= 9)
    },
    { code: 'ERR_AETHER_HOME_LOST' },
  )
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
    const last = JSON.parse(lines(file).at(-1)!) as { key: string; value: number }
    for (const [key, value] of expected)
      assert.ok(found.get(key) === value || (key === last.key && found.get(key) === last.value), `${key} ${value}`)
  }
  // Of the one that was killed the last update was acknowledged, or not.
  assert.ok([acknowledged, acknowledged - 1, acknowledged + 1].includes(found.get('all')!))
  await Promise.all([0, 1].map((rank) => ranks.on(rank, 'close')))
})

for (const kind of drawn(listKinds, 1)) {
  test(`of ranks that push onto a ${kind} and are killed every acknowledged value comes, once, but one that was taken by one that was killed`, async () => {
    await using ranks = await opened(4, { homes: [0] })
    const file = (rank: number): string => join(directory, `${kind}-${rank}`)
    const running = [
      ...[1, 2].map((rank) => ranks.on(rank, 'pushForEver', kind, 'l', rank * 1e6, file(rank))),
      ranks.on(3, 'popForEver', kind, 'l', file(3)),
    ]
    for (const each of running) each.catch(() => {})
    const here = await ranks.on<number[]>(0, 'popMany', kind, 'l', 200)
    await until(() => existsSync(file(3)) && lines(file(3)).length > 20, 'nobody takes')
    await ranks.processes[3]!.kill()
    here.push(...(await ranks.on<number[]>(0, 'popMany', kind, 'l', 200)))
    for (const rank of [1, 2]) await ranks.processes[rank]!.kill()
    here.push(...(await ranks.on<number[]>(0, 'popMany', kind, 'l')))
    const taken = new Set([...here, ...lines(file(3)).map(Number)])
    assert.equal(taken.size, here.length + lines(file(3)).length)
    let missing = 0
    for (const rank of [1, 2]) {
      const acknowledged = lines(file(rank)).map(Number)
      missing += acknowledged.filter((value) => !taken.has(value)).length
      const begun = new Set([...acknowledged, (acknowledged.at(-1) ?? rank * 1e6 - 1) + 1])
      const mine = here.filter((value) => Math.floor(value / 1e6) === rank)
      assert.ok(mine.every((value) => begun.has(value)))
      if (kind === 'queue') assert.ok(mine.every((value, at) => at === 0 || value > mine[at - 1]!))
    }
    assert.ok(missing <= 1, `${missing}`)
    await ranks.on(0, 'close')
  })
}

test('ranks that are processes append to a log, and one is killed: what it had acknowledged is there, once and whole, and those who follow go on', async () => {
  await using ranks = await opened(3, { homes: [0] })
  const files = [0, 1, 2].map((rank) => join(directory, `appended-${rank}`))
  const appending = files.map((file, rank) => ranks.on(rank, 'appendTo', 'l', rank, file))
  const isAt = (count: number): boolean => existsSync(`${files[2]}.done`) && lines(`${files[2]}.done`).length > count
  await until(() => isAt(20), 'nobody appends')
  const following = ranks.on<{ found: [number, number, number][]; given: number }>(1, 'follow', 'l', 0, 400)
  await until(() => isAt(60), 'nobody appends on')
  await ranks.processes[2]!.kill()
  const { found, given } = await following
  assert.ok(given >= 400)
  await Promise.all([0, 1].map((rank) => ranks.on(rank, 'stop')))
  await Promise.all(appending.slice(0, 2))
  const acknowledged = new Map<number, string>()
  for (const [rank, file] of files.entries()) {
    for (const line of lines(`${file}.done`)) {
      const { index, length } = JSON.parse(line) as { index: number; length: number }
      assert.ok(!acknowledged.has(index), `two have index ${index}`)
      acknowledged.set(index, `${length} ${rank}`)
    }
  }
  const end = Math.max(...acknowledged.keys()) + 1
  // All but what the one that was killed had under way.
  assert.ok(acknowledged.size >= end - 1, `${acknowledged.size} of ${end}`)
  const last = await ranks.on<typeof following extends Promise<infer T> ? T : never>(0, 'follow', 'l', end - 60, end)
  for (const [index, length, rank] of [...found, ...last.found])
    assert.equal(acknowledged.get(index) ?? `${length} 2`, `${length} ${rank}`, `index ${index}`)
  await Promise.all([0, 1].map((rank) => ranks.on(rank, 'close')))
})

test('readers that are processes: a grace period waits for one that is in a section until that is killed, and for those that come and go not at all', async () => {
  await using ranks = await opened(4, { homes: [0] })
  await ranks.on(0, 'assign', 'c', 1)
  const reading = ranks.on<{ sections: number; last: number }>(1, 'readOn', 'c')
  for (let value = 2; value < 12; value += 1) {
    await ranks.on(0, 'assign', 'c', value)
    await ranks.on(0, 'synchronize')
  }
  assert.equal(await ranks.on(2, 'readFor', 'c'), 11)
  let isOver = false
  const synchronizing = [0, 3].map((rank) => ranks.on(rank, 'synchronize').then(() => (isOver = true)))
  await ranks.on(3, 'assign', 'c', 12)
  assert.equal(await ranks.on(0, 'get', 'n'), 0)
  assert.equal(isOver, false)
  await ranks.processes[2]!.kill()
  await Promise.all(synchronizing)
  await ranks.on(1, 'stop')
  assert.ok((await reading).sections > 0)
  await Promise.all([0, 1, 3].map((rank) => ranks.on(rank, 'close')))
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
