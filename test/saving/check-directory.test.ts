/** What `aether space check` finds in the directory of a space that no process uses, and that it changes nothing. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { checkStore } from '../../src/adapters/index.ts'
import { open, type Space } from '../../src/public/index.ts'
import { openStructures, type Structures } from '../../src/public/structures.ts'
import { checkDirectory, giveBackLost } from '../../src/saving/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-check-')))
after(() => rmSync(scratch, { recursive: true }))
const NAME = 'checked'
/** Where the regions of an arena begin, and in a heap the words that name structures. */
const EXTENTS = 0x4000000
const NAMES_OFFSET = 0x11000
const NAMES_MAX = 1024
const busy = fileURLToPath(new URL('./fixtures/busy.js', import.meta.url))

const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 2)

let made = 0
const newDirectory = (): string => join(scratch, `${++made}`)

async function withSpace(directory: string, act: (shared: Structures, space: Space) => Promise<void>): Promise<void> {
  await using space = await open(NAME, { directory })
  await using shared = await openStructures(space, { size: '2MiB', reserve: false })
  await act(shared, space)
}

async function useEveryKind(shared: Structures, space: Space): Promise<void> {
  await using region = await space.openRegion('bytes', { size: '1MiB' })
  region.uint8.fill(3)
  await region.alloc(4096)
  ;(await shared.counter('counter')).addSync(-5)
  ;(await shared.sequence('sequence')).nextSync()
  ;(await shared.flag('flag')).raiseSync()
  await (await shared.once('once')).run(() => {})
  ;(await shared.mutex('mutex')).lockSync().release()
  ;(await shared.readWriteLock('lock')).writeSync().release()
  ;(await shared.latch('latch', { count: 3 })).countDownSync()
  await shared.barrier('barrier', { parties: 2 })
  ;(await shared.semaphore('semaphore', { permits: 3 })).acquireSync()
  await (await (await shared.leader('leader')).campaign()).resign()
  ;(await shared.rateLimiter('limiter', { limit: 10, intervalMs: 3_600_000 })).takeSync(4)
  const map = await shared.map<unknown>('map', { maxEntries: 5000 })
  for (let at = 0; at < 2000; at += 1)
    map.setSync(at % 2 === 0 ? at : `key ${at}`, { at }, at % 3 === 0 ? { ttlMs: 1e6 } : {})
  for (let at = 0; at < 500; at += 1) map.deleteSync(at)
  const queue = await shared.queue<number>('queue')
  const stack = await shared.stack<string>('stack')
  const log = await shared.log<string>('log', { capacity: 20 })
  for (let at = 0; at < 50; at += 1) {
    queue.pushSync(at)
    stack.pushSync(`${at}`)
    log.appendSync(`entry ${at}`)
  }
  queue.popSync()
  stack.popSync()
  ;(await shared.channel('channel')).publishSync('news')
  shared.rcu.assignSync(await shared.cell('cell'), { a: 1 })
  const jobs = await shared.jobs<number>('jobs')
  await jobs.repeat('schedule', { everyMs: 60_000 }, 1)
  for (let at = 0; at < 30; at += 1) jobs.addSync(at, at % 2 === 0 ? {} : { delayMs: 1e6, priority: at % 5 })
  await (await jobs.take()).complete()
}

/** Sizes, times of change and contents of all that is in a directory; of FIFOs only the names. */
function stateOf(directory: string): readonly unknown[] {
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const path = join(directory, name)
      const { mtimeMs, size, blocks } = statSync(path)
      const isFile = statSync(path).isFile()
      return [name, mtimeMs, size, blocks, isFile ? crc32(readFileSync(path)) : 0]
    })
}

function changeArena(directory: string, change: (arena: Buffer) => void): void {
  const file = join(directory, 'aether.arena')
  const arena = readFileSync(file)
  change(arena)
  writeFileSync(file, arena)
}

test('every kind is checked, and nothing is changed', async () => {
  const directory = newDirectory()
  await withSpace(directory, useEveryKind)
  const before = stateOf(directory)
  const { damaged, lost, omitted, ...report } = await checkDirectory(directory, checkStore)
  assert.deepEqual([damaged, lost, omitted], [[], [], []])
  assert.deepEqual([report.state, report.endedInOrder, report.structures, report.regions], ['good', true, 18, 2])
  assert.ok(report.records > 1500)
  assert.deepEqual(stateOf(directory), before)
})

test('a value that was changed in memory is told, with the structure and its kind', async () => {
  const directory = newDirectory()
  await withSpace(directory, useEveryKind)
  changeArena(directory, (arena) => {
    const at = arena.indexOf('key 1001', EXTENTS)
    assert.ok(at > 0)
    arena[at + 4] = 0x32
  })
  const { damaged, state } = await checkDirectory(directory, checkStore)
  assert.equal(state, 'good')
  assert.deepEqual(damaged, [
    { region: 'structures', structure: 'map', kind: 'map', reason: 'the hash of an entry is not that of its key' },
  ])
})

test('memory that nothing names is told as bytes, and given back', async () => {
  const directory = newDirectory()
  await withSpace(directory, useEveryKind)
  const whole = await checkDirectory(directory, checkStore)
  // One name goes, and with it the way to all that its structure has.
  changeArena(directory, (arena) => {
    const at = arena.indexOf('stack\0', EXTENTS)
    const reference = (at - 64 - EXTENTS) / 64
    for (let place = 0; place < NAMES_MAX; place += 1) {
      const offset = EXTENTS + NAMES_OFFSET + place * 4
      if (arena.readInt32LE(offset) === reference) arena.writeInt32LE(0, offset)
    }
  })
  const cut = await checkDirectory(directory, checkStore)
  assert.deepEqual([cut.damaged, cut.structures], [[], whole.structures - 1])
  const [lost] = cut.lost
  assert.ok(lost?.region === 'structures' && lost.bytes > 49 * 64, JSON.stringify(cut.lost))
  assert.equal(await giveBackLost(directory, checkStore), lost.bytes)
  assert.deepEqual(await checkDirectory(directory, checkStore), { ...cut, lost: [] })
  await withSpace(directory, async (shared) => {
    assert.equal((await shared.map('map')).sizeSync(), 1750)
  })
})

test('regions that lie over each other, or beyond the end of the file, are told', async () => {
  const directory = newDirectory()
  await withSpace(directory, async (_shared, space) => {
    for (const name of ['one', 'two']) await (await space.openRegion(name, { size: '64KiB' })).close()
  })
  const entry = (arena: Buffer, name: string) => arena.indexOf(`${name}\0`, 0x30000) - 128
  changeArena(directory, (arena) => {
    arena.writeDoubleLE(arena.readDoubleLE(entry(arena, 'one') + 32), entry(arena, 'two') + 32)
  })
  const [overlap] = (await checkDirectory(directory, checkStore)).damaged
  assert.match(
    `${overlap?.region} ${overlap?.kind} ${overlap?.reason}`,
    /^(one|two) region it has bytes that region '(one|two)' has, too$/,
  )
  changeArena(directory, (arena) => {
    arena.writeDoubleLE(2 ** 40, entry(arena, 'two') + 32)
  })
  const [beyond] = (await checkDirectory(directory, checkStore)).damaged
  assert.match(`${beyond?.region} ${beyond?.reason}`, /^two its place, size or kind/)
})

test('what killed processes have left is whole, and stays for the next to open it', async () => {
  const directory = newDirectory()
  for (let kill = 0; kill < KILLS; kill += 1) {
    const children = [1, 2].map(() =>
      spawn(process.execPath, [busy, NAME, directory], { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    const closed = children.map((child) => once(child, 'close'))
    for (const child of children) await once(child.stdout, 'data')
    await assert.rejects(checkDirectory(directory, checkStore), {
      message: /processes are in space 'checked' in .*; end them first/,
    })
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(closed)
    const before = stateOf(directory)
    const { damaged, lost, state, endedInOrder } = await checkDirectory(directory, checkStore)
    assert.deepEqual([damaged, lost, state, endedInOrder], [[], [], 'good', false])
    assert.deepEqual(stateOf(directory), before)
    assert.equal(before.length, 3, 'the FIFOs of both are there')
    await withSpace(directory, async () => {})
  }
})
