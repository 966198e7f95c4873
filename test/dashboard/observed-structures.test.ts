import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { SpaceStructures } from '../../src/dashboard/index.ts'
import { metricSources } from '../../src/dashboard/metric-sources.ts'
import { open } from '../../src/dsm/index.ts'
import { prometheusText } from '../../src/profiling/index.ts'
import { openStructures } from '../../src/structures/index.ts'
import { descriptors, until, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const room = new URL('../../src/dashboard/index.js', import.meta.url).href

test('rates are of the time between two looks, and totals of what members do now', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space)
  const map = await shared.map<number>('sessions')
  using seen = SpaceStructures.attach('shop')
  for (let call = 0; call < 7; call += 1) map.getSync('ada')
  assert.equal(seen.look(1000).structures[0]!.reads, 0, 'there was no look before')
  for (let call = 0; call < 20; call += 1) map.getSync('ada')
  map.setSync('ada', 1)
  const [frame] = seen.look(3000).structures
  assert.deepEqual([frame!.reads, frame!.writes], [10, 0.5])
  assert.deepEqual(
    seen.detail('sessions')!.users.map(({ reads, writes }) => [reads, writes]),
    [[27, 1]],
  )
})

test('metrics have calls, waits and contents of each structure, by kind and name', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space)
  const limiter = await shared.rateLimiter('of "all" calls', { limit: 5, intervalMs: 1000 })
  limiter.takeSync()
  const map = await shared.map<number>('sessions', { maxEntries: 1 })
  map.setSync('ada', 1)
  map.setSync('grace', 1)
  const waits = new AbortController()
  const waiting = (await shared.flag('go')).wait({ signal: waits.signal }).catch(() => {})
  const text = prometheusText(metricSources('shop'))
  const of = (kind: string, name: string, member = 'member="0",'): string =>
    `{space="shop",${member}kind="${kind}",structure="${name}"}`
  for (const line of [
    `aether_structures_writes_total${of('rate-limiter', 'of \\"all\\" calls')} 1`,
    `aether_structures_writes_total${of('map', 'sessions')} 2`,
    `aether_structures_evictions_total${of('map', 'sessions')} 1`,
    `aether_structures_waiting${of('flag', 'go')} 1`,
    `aether_structures_content_entries${of('map', 'sessions', '')} 1`,
  ])
    assert.ok(text.includes(`${line}\n`), `${line} is not in:\n${text}`)
  assert.match(text, /^aether_structures_content_bytes\{space="shop",kind="map",structure="sessions"\} [1-9]/m)
  assert.match(text, /^aether_structures_memory_bytes_used\{space="shop",region="structures"\} [1-9]/m)
  waits.abort()
  await waiting
})

test('jobs are counted by state; of many jobs, a sample is', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space)
  const jobs = await shared.jobs<number>('jobs', { keepCompletedMs: 600_000 })
  using seen = SpaceStructures.attach('shop')
  let look = 0
  const now = (): string => {
    look += 2000
    return seen.look(look).structures.find(({ name }) => name === 'jobs')!.now
  }
  assert.equal(now(), '')
  for (let number = 0; number < 7; number += 1) jobs.addSync(number)
  await (await jobs.take()).complete()
  await (await jobs.take()).complete()
  await (await jobs.take()).fail(new Error('no'))
  const held = await jobs.take()
  jobs.addSync(9, { delayMs: 600_000 })
  assert.equal(now(), '3 waiting, 1 delayed, 1 active, 2 completed, 1 failed')
  await held.complete()
  await jobs.pause()
  assert.equal(now(), 'paused, 3 waiting, 1 delayed, 3 completed, 1 failed')
  assert.deepEqual(await jobs.counts(), { waiting: 3, delayed: 1, active: 0, completed: 3, failed: 1 })
  for (let number = 0; number < 20_000; number += 1) jobs.addSync(number)
  const [, waiting] = /^paused, ~(\d+) waiting/.exec(now()) ?? []
  assert.ok(Number(waiting) > 18_000 && Number(waiting) < 22_000, waiting)
})

test('an observer that is stopped holds nobody up: memory is used again, and the space ends', async () => {
  const space = await open('shop')
  const shared = await openStructures(space, { size: '1MiB' })
  const map = await shared.map<Uint8Array>('sessions')
  map.setSync('ada', new Uint8Array(60_000))
  const program = `import { SpaceStructures } from '${room}'
    const seen = SpaceStructures.attach('shop')
    const look = () => { seen.look(); seen.detail('sessions'); process.stdout.write('.'); setImmediate(look) }
    look()`
  const observer = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 2] })
  try {
    let looks = 0
    observer.stdout!.on('data', (dots: Buffer) => (looks += dots.length))
    await until(() => looks > 20, 'it looks', 60_000)
    observer.kill('SIGSTOP')
    // Each takes 60 KB of 1 MiB: the memory of earlier ones has to be used again.
    for (let round = 0; round < 500; round += 1) map.setSync('ada', new Uint8Array(60_000))
    assert.equal(map.getSync('ada')?.length, 60_000)
    await shared.close()
    await space.close()
    // Its name can be used for another space at once.
    await using again = await open('shop')
    assert.equal(again.self.epoch, 1)
  } finally {
    observer.kill('SIGKILL')
    await once(observer, 'exit')
  }
})

test('an observer keeps nothing of a space that has ended', async () => {
  const before = descriptors()
  {
    await using space = await open('shop')
    await using shared = await openStructures(space)
    await shared.map('sessions')
    using seen = SpaceStructures.attach('shop')
    assert.equal(seen.look().structures.length, 1)
  }
  await until(() => descriptors().length <= before.length, 'its descriptors are closed')
})
