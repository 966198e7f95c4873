/** What a save has, and what is restored from it after a restart of the machine. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { type OpenOptions, open } from '../../src/public/index.ts'
import { bytes, openStructures, type Structures } from '../../src/public/structures.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { hasEndedInOrder, restartMachine } from '../support/restarted-machine.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-saving-')))
after(() => rmSync(scratch, { recursive: true }))
const NAME = 'kept'
const size = '2MiB'

let made = 0
const newPath = (): string => join(scratch, `${++made}`)

async function withStructures<T>(options: OpenOptions, act: (structures: Structures) => Promise<T>): Promise<T> {
  await using space = await open(NAME, options)
  await using structures = await openStructures(space, { size })
  return await act(structures)
}

test('everything comes back: regions, and structures of every kind', async () => {
  const file = newPath()
  {
    await using space = await open(NAME)
    await using region = await space.openRegion('bytes', { size: '3MiB' })
    region.uint8.fill(7, 5000, 5010)
    region.uint8[3 * 2 ** 20 - 1] = 9
    const allocation = await region.alloc(4096)
    await using shared = await openStructures(space, { size })
    ;(await shared.counter('counter')).setSync(-5)
    ;(await shared.sequence('sequence')).nextSync(12)
    ;(await shared.flag('flag')).raiseSync()
    await (await shared.once('once')).run(() => {})
    ;(await shared.mutex('mutex')).lockSync().release()
    ;(await shared.readWriteLock('lock')).writeSync().release()
    ;(await shared.latch('latch', { count: 3 })).countDownSync()
    await shared.barrier('barrier', { parties: 2 })
    await shared.semaphore('semaphore', { permits: 3 })
    await (await (await shared.leader('leader', { leaseMs: 7000 })).campaign()).resign()
    ;(await shared.rateLimiter('limiter', { limit: 10, intervalMs: 3_600_000 })).takeSync(4)
    const map = await shared.map('map', { maxEntries: 100 })
    map.setSync('text', { a: 1 })
    map.setSync(5, 'number')
    map.setSync(new Uint8Array([1, 2]), undefined, { ttlMs: 3_600_000 })
    const queue = await shared.queue<number>('queue', { capacity: 5 })
    for (const value of [1, 2, 3]) queue.pushSync(value)
    const stack = await shared.stack<number>('stack')
    for (const value of [1, 2, 3]) stack.pushSync(value)
    const log = await shared.log<string>('log', { capacity: 2 })
    for (const value of ['a', 'b', 'c']) log.appendSync(value)
    const trimmed = await shared.log('trimmed')
    trimmed.appendSync(1)
    trimmed.trimSync(1)
    ;(await shared.channel('channel')).publishSync('news')
    shared.rcu.assignSync(await shared.cell('cell', { codec: bytes }), new Uint8Array([4, 5]))
    await shared.cell('empty cell')
    await shared.mvRlu('objects')
    const saved = await space.save({ file })
    assert.equal(saved.file, file)
    assert.equal(saved.bytes, statSync(file).size)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(saved.structures, 19)
    assert.equal(saved.regions, 2)
    assert.deepEqual(
      saved.omitted.map(({ region, structure }) => [region, structure]),
      [['structures', 'objects']],
    )
    void allocation
  }
  await using space = await open(NAME, { save: { file } })
  assert.equal(space.restored?.reason, 'missing')
  assert.ok(space.restored.savedAt instanceof Date)
  await using region = await space.openRegion('bytes')
  assert.equal(region.uint8[5009], 7)
  assert.equal(region.uint8[5010], 0)
  assert.equal(region.uint8[3 * 2 ** 20 - 1], 9)
  await using shared = await openStructures(space)
  assert.equal((await shared.counter('counter')).getSync(), -5)
  assert.equal((await shared.sequence('sequence')).lastSync(), 12)
  assert.equal((await shared.flag('flag')).isRaisedSync(), true)
  assert.equal((await shared.once('once')).isDoneSync(), true)
  assert.ok((await shared.mutex('mutex')).lockSync().token > 2)
  assert.ok((await shared.readWriteLock('lock')).writeSync().token > 2)
  assert.equal((await shared.latch('latch', { count: 3 })).remainingSync(), 2)
  await assert.rejects(shared.barrier('barrier', { parties: 3 }), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
  assert.equal((await shared.semaphore('semaphore', { permits: 3 })).availableSync(), 3)
  assert.ok((await (await shared.leader('leader')).campaign()).term > 2)
  assert.equal((await shared.rateLimiter('limiter', { limit: 10, intervalMs: 3_600_000 })).takeSync().remaining, 5)
  const map = await shared.map('map')
  assert.deepEqual(map.getSync('text'), { a: 1 })
  assert.equal(map.getSync(5), 'number')
  assert.equal(map.hasSync(new Uint8Array([1, 2])), true)
  assert.equal(map.sizeSync(), 3)
  const queue = await shared.queue<number>('queue')
  assert.deepEqual([queue.popSync(), queue.popSync(), queue.popSync(), queue.lengthSync()], [1, 2, 3, 0])
  const stack = await shared.stack<number>('stack')
  assert.deepEqual([stack.popSync(), stack.popSync(), stack.popSync()], [3, 2, 1])
  const log = await shared.log('log')
  assert.deepEqual(log.readSync(0), [
    { index: 1, value: 'b', missed: 1 },
    { index: 2, value: 'c', missed: 0 },
  ])
  assert.deepEqual((await shared.log('trimmed')).boundsSync(), { first: 1, end: 1 })
  assert.equal((await shared.channel('channel')).publishSync('more'), 1)
  using _section = shared.rcu.readLock()
  assert.deepEqual(shared.rcu.dereference(await shared.cell('cell', { codec: bytes })), new Uint8Array([4, 5]))
  assert.equal(shared.rcu.dereference(await shared.cell('empty cell')), undefined)
  await assert.rejects(shared.counter('map'), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
})

test('after a restart a space that had ended in order goes on, and its times too', async () => {
  const directory = newPath()
  await withStructures({ directory }, async (shared) => {
    const map = await shared.map('map')
    map.setSync('long', 1, { ttlMs: 7_200_000 })
    map.setSync('short', 1, { ttlMs: 1_800_000 })
    ;(await shared.rateLimiter('limiter', { limit: 2, intervalMs: 3_600_000 })).takeSync(2)
  })
  restartMachine(directory, false, 3_600_000)
  for (let opened = 0; opened < 2; opened += 1) {
    await withStructures({ directory }, async (shared) => {
      const map = await shared.map('map')
      assert.equal(map.hasSync('long'), true)
      assert.equal(map.hasSync('short'), false)
      if (opened === 0)
        assert.equal(
          (await shared.rateLimiter('limiter', { limit: 2, intervalMs: 3_600_000 })).takeSync(2).allowed,
          true,
        )
    })
  }
})

test('after a crash it is restored from the save, and the opener is told', async () => {
  const directory = newPath()
  await withStructures({ directory }, async (shared) => (await shared.map('map')).setSync('a', 1))
  {
    await using space = await open(NAME, { directory })
    assert.equal((await space.save()).file, join(directory, 'aether.save'))
    await using shared = await openStructures(space, { size })
    ;(await shared.map('map')).setSync('b', 2)
  }
  restartMachine(directory, true)
  await using space = await open(NAME, { directory })
  assert.equal(space.restored?.reason, 'restarted')
  await using shared = await openStructures(space)
  assert.deepEqual([...(await shared.map('map')).entriesSync()], [['a', 1]])
  await using other = await open(NAME)
  assert.equal(other.restored, undefined)
  const files = readdirSync(directory).filter((file) => !file.startsWith('aether.member-'))
  assert.deepEqual(files.sort(), ['aether.arena', 'aether.arena.torn', 'aether.save'])
})

test('after a crash without a save it is refused', async () => {
  const directory = newPath()
  await withStructures({ directory }, async () => {})
  restartMachine(directory, true)
  for (let attempt = 0; attempt < 2; attempt += 1)
    await assert.rejects(open(NAME, { directory }), {
      code: 'ERR_AETHER_SPACE_RESTARTED',
      message: /no save .*remove .*aether\.arena/,
    })
})

test('allocations of a region stay taken', async () => {
  const file = newPath()
  let taken = 0
  {
    await using space = await open(NAME)
    await using region = await space.openRegion('allocated', { size: '64KiB' })
    taken = (await region.alloc(60_000)).offsetBytes
    await space.save({ file })
  }
  await using space = await open(NAME, { save: { file } })
  await using region = await space.openRegion('allocated')
  assert.equal(taken, 0)
  await assert.rejects(region.alloc(60_000), { code: 'ERR_AETHER_REGION_EXHAUSTED' })
})

test('a save makes no region again that was deleted, and takes no memory where none was touched', async () => {
  const file = newPath()
  await using space = await open(NAME)
  const region = await space.openRegion('deleted', { size: '1MiB' })
  await region.delete()
  await using _sparse = await space.openRegion('sparse', { size: '256MiB', reserve: false })
  const { bytes } = await space.save({ file })
  assert.ok(bytes < 4096, `${bytes} bytes`)
  assert.deepEqual(
    space.regions().map(({ name }) => name),
    ['sparse'],
  )
  assert.equal(space.members().length, 1)
})

test('the mark of an orderly end is there after an exit, and not while it is open or after a kill', async () => {
  const directory = newPath()
  const isMarked = (): boolean => hasEndedInOrder(directory)
  const index = new URL('../../src/public/index.js', import.meta.url)
  const run = (end: string): void => {
    const source = `import { open } from '${index}'; await open('${NAME}', { directory: '${directory}' }); ${end}`
    spawnSync(process.execPath, ['--input-type=module', '-e', source], { stdio: 'inherit' })
  }
  run('process.exit(0)')
  assert.equal(isMarked(), true)
  run("process.kill(process.pid, 'SIGKILL')")
  assert.equal(isMarked(), false)
  const [first, second] = [await open(NAME, { directory }), await open(NAME, { directory })]
  await first.close()
  assert.equal(isMarked(), false)
  await second.close()
  assert.equal(isMarked(), true)
})
