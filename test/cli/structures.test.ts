import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import type { StructureDetailFrame, StructureFrame } from '../../src/dashboard/index.ts'
import { open } from '../../src/dsm/index.ts'
import { openStructures, type Structures } from '../../src/structures/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { aether } from './command-line.ts'

const directory = useRuntimeDirectory()
const fast = ['--interval', '0.1'] as const

/** One of each kind, and what `now` says of it. */
async function makeAll(shared: Structures): Promise<Readonly<Record<string, string>>> {
  await shared.counter('counter').then((counter) => counter.addSync(42))
  await shared.sequence('sequence').then((sequence) => sequence.nextSync(7))
  await shared.flag('flag').then((flag) => flag.raiseSync())
  await shared.once('once')
  await shared.mutex('mutex').then((mutex) => mutex.lockSync())
  await shared.semaphore('semaphore', { permits: 4 }).then((semaphore) => semaphore.acquireSync())
  await shared.rateLimiter('limiter', { limit: 100, intervalMs: 3_600_000 }).then((limiter) => limiter.takeSync(30))
  await shared.leader('leader', { leaseMs: 600_000 }).then((leader) => leader.campaign())
  await shared.map<number>('map').then((map) => map.setSync('ada', 1))
  await shared.queue<string>('queue').then((queue) => queue.pushSync('next'))
  await shared.stack('stack')
  await shared.jobs('jobs').then((jobs) => jobs.addSync('it'))
  await shared.log<number>('log').then((log) => log.appendSync(1))
  await shared.channel('channel')
  await shared.cell('cell')
  await shared.mvRlu('objects')
  await shared.latch('latch', { count: 3 }).then((latch) => latch.countDownSync())
  await shared.barrier('barrier', { parties: 3 }).then((barrier) => void barrier.wait().catch(() => {}))
  await shared.readWriteLock('lock').then((lock) => lock.readSync())
  return {
    counter: '42',
    sequence: 'last 7',
    flag: 'raised',
    once: 'not done',
    mutex: `held by process ${process.pid}`,
    semaphore: '3 of 4 free',
    limiter: '70 of 100 left',
    leader: `term 1, led by process ${process.pid}`,
    map: '',
    queue: '',
    stack: '',
    jobs: '1 waiting',
    log: 'next index 1',
    channel: 'next index 0',
    cell: 'not assigned',
    objects: 'root not assigned',
    latch: '2 of 3 missing',
    barrier: '1 of 3 arrived',
    lock: 'held once for reading',
  }
}

test('structures lists every kind with its state, also while the process that made them does nothing', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space, { size: '4MiB' })
  const wanted = await makeAll(shared)
  const { status, stdout, stderr } = aether('structures', 'shop', '--json', ...fast)
  assert.equal(status, 0, stderr)
  const { structures } = JSON.parse(stdout) as { structures: readonly StructureFrame[] }
  assert.deepEqual(Object.fromEntries(structures.map(({ name, now }) => [name, now])), wanted)
  assert.deepEqual(new Set(structures.map(({ kind }) => kind)), new Set(shared.list().map(({ kind }) => kind)))
  const has = (name: string) => structures.find((each) => each.name === name)!
  assert.deepEqual([has('map').entries, has('queue').entries, has('log').entries, has('stack').entries], [1, 1, 1, 0])
  assert.deepEqual([has('barrier').waiting, has('mutex').waiting], [1, 0])
  assert.equal(has('mutex').entries, null)

  const table = aether('structures', ...fast)
  assert.match(table.stdout, /^shop {2}region 'structures': .* of 3\.\d+ MiB used$/m)
  assert.match(
    table.stdout,
    new RegExp(`^ *mutex +mutex +- +\\d+ B +- +- +0 +0 +held by process ${process.pid} *$`, 'm'),
  )
  assert.match(aether('top', '--once', ...fast).stdout, /1 region, 19 structures/)
})

test('structures shows one with its keys, holders, options and users', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space)
  const map = await shared.map<number>('sessions', { maxEntries: 2 })
  for (const name of ['ada', 'grace', 'barbara']) map.setSync(name, 1)
  const [key] = [...map.entriesSync()].map(([each]) => String(each))
  using _hold = (await shared.mutex('till')).lockSync()
  const { stdout } = aether('structures', 'shop', 'sessions', ...fast)
  assert.match(stdout, /^sessions {2}map in region 'structures' of space 'shop'$/m)
  assert.match(stdout, /^ +most entries +2$/m)
  assert.match(stdout, /^ +removed +1 for a bound, 0 expired$/m)
  assert.match(stdout, new RegExp(`^ +member 0 +${process.pid} +\\d+ +3 +0$`, 'm'))
  assert.match(stdout, new RegExp(`^ +keys\n(.*\n)*? +'${key}': \\d+ bytes$`, 'm'))
  // The bound of the latest opener holds.
  await shared.map('sessions', { maxEntries: 5 })
  assert.match(aether('structures', 'shop', 'sessions', ...fast).stdout, /^ +most entries +5$/m)
  const json = aether('structures', 'shop', 'till', '--json', ...fast)
  const detail = JSON.parse(json.stdout) as StructureDetailFrame
  assert.deepEqual(detail.holders, [`process ${process.pid}`])
  assert.deepEqual(detail.users, [{ member: 'member 0', processId: process.pid, reads: 0, writes: 1, waiting: 0 }])
})

test('structures says why there are none, and what there is under another name', async () => {
  await using space = await open('shop')
  const none = aether('structures', ...fast)
  assert.equal(none.status, 0)
  assert.match(none.stdout, /none of its members has called openStructures\(space\)/)
  await using shared = await openStructures(space)
  assert.match(aether('structures', ...fast).stdout, /no structure has been made there yet/)
  await shared.map('sessions')
  const near = aether('structures', 'shop', 'session', ...fast)
  assert.equal(near.status, 1)
  assert.match(near.stderr, /^aether: there is no structure 'session' in space 'shop'; did you mean 'sessions'\?\n$/)
  const missing = aether('structures', 'shopp', ...fast)
  assert.equal(missing.status, 1)
  assert.match(missing.stderr, /^aether: .*'shopp'.*these are running: shop\n$/)
})

test('structures, top and dashboard say in one line that the runtime directory is refused', async () => {
  chmodSync(directory, 0o777)
  try {
    for (const command of ['structures', 'top', 'dashboard']) {
      const { status, stdout, stderr } = aether(command)
      assert.deepEqual([status, stdout], [1, ''], command)
      assert.match(stderr, /^aether: \S+ is open to other users \(mode 777\); run: chmod 700 \S+\n$/, command)
    }
  } finally {
    chmodSync(directory, 0o700)
  }
})
