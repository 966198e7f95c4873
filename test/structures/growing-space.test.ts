/** Structures of a space that take memory from the machine or a disk as they need it. */
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { native } from '../../src/native/index.ts'
import { open, type Space } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { onSmallDisk, smallDisksRefused } from './small-disk.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-growing-')))
after(() => rmSync(scratch, { recursive: true }))

let spaces = 0
const newName = (): string => `growing-${++spaces}`
const MIB = 2 ** 20

/** Bytes that the memory of a space takes. */
function takenBy(space: Space): number {
  return native.describeMemory(space.membership.arena.descriptor).allocatedBytes
}

for (const place of ['memory', 'a directory'] as const) {
  const openSpace = (name: string): Promise<Space> =>
    open(name, place === 'memory' ? {} : { directory: join(scratch, name) })

  test(`in ${place}: 4 GiB cost little at first, memory comes with what is kept and goes with it`, async () => {
    await using space = await openSpace(newName())
    const before = takenBy(space)
    await using shared = await openStructures(space, { size: '4GiB', reserve: false })
    const map = await shared.map<Uint8Array>('m')
    map.setSync('first', new Uint8Array(1000))
    assert.ok(takenBy(space) - before <= 2 * MIB, `${takenBy(space) - before} bytes`)
    for (let key = 0; key < 20_000; key += 1) map.setSync(`key ${key}`, new Uint8Array(1900).fill(key))
    const large = await shared.queue<Uint8Array>('q')
    for (let turn = 0; turn < 40; turn += 1) large.pushSync(new Uint8Array(500_000))
    const full = takenBy(space) - before
    assert.ok(full >= 60 * MIB && full <= 90 * MIB, `${full} bytes`)
    assert.ok(map.getSync('key 12345')?.every((byte) => byte === 12345 % 256))
    map.clearSync()
    while (large.tryPopSync() !== undefined);
    for (let turn = 0; turn < 300; turn += 1) map.setSync('first', new Uint8Array(1000))
    const empty = takenBy(space) - before
    assert.ok(empty <= full / 5, `${empty} of ${full} bytes`)
    shared.recover()
    assert.ok(takenBy(space) - before <= 9 * MIB, `${takenBy(space) - before} bytes`)
    assert.ok(shared.usage().takenBytes <= 4 * MIB && shared.usage().sizeBytes > 3800 * MIB)
    for (let key = 0; key < 10_000; key += 1) map.setSync(`key ${key}`, new Uint8Array(1900).fill(key))
    assert.ok(map.getSync('key 9999')?.every((byte) => byte === 9999 % 256))
  })

  test(`in ${place}: who opens them without a wish leaves them as they are, and 'reserve: true' takes all`, async () => {
    const name = newName()
    await using space = await openSpace(name)
    await using shared = await openStructures(space, { size: '64MiB', reserve: false })
    const before = takenBy(space)
    {
      await using second = await openSpace(name)
      await using others = await openStructures(second)
      ;(await others.counter('c')).addSync()
      // A save reads all of it.
      await second.save({ file: join(scratch, `${name}.save`) })
    }
    assert.ok(takenBy(space) - before < 2 * MIB)
    await using third = await openSpace(name)
    await using whole = await openStructures(third, { reserve: true })
    assert.ok(takenBy(space) - before > 60 * MIB)
    assert.equal(whole.usage().takenBytes, whole.usage().sizeBytes)
    const queue = await shared.queue<Uint8Array>('q')
    for (let turn = 0; turn < 40; turn += 1) queue.pushSync(new Uint8Array(MIB - 1))
    while (queue.tryPopSync() !== undefined);
    shared.recover()
    assert.equal(shared.usage().takenBytes, shared.usage().sizeBytes)
  })

  test(`in ${place}: what is restored from a save grows by need, too`, async () => {
    const file = join(scratch, `${newName()}.save`)
    const name = newName()
    {
      await using space = await openSpace(name)
      await using shared = await openStructures(space, { size: '1GiB', reserve: false })
      ;(await shared.map('m')).setSync('key', 'value')
      await space.save({ file })
    }
    if (place === 'a directory') rmSync(join(scratch, name), { recursive: true })
    await using space = await open(name, {
      save: { file },
      ...(place === 'memory' ? {} : { directory: join(scratch, name) }),
    })
    assert.equal(space.restored?.reason, 'missing')
    await using shared = await openStructures(space)
    assert.equal((await shared.map('m')).getSync('key'), 'value')
    assert.ok(shared.usage().takenBytes <= 3 * MIB && shared.usage().sizeBytes > 900 * MIB)
  })
}

test('a raw region of the same memory takes all of it, and the structures go on', async () => {
  await using space = await open(newName(), { directory: join(scratch, newName()) })
  await using shared = await openStructures(space, { size: '16MiB', reserve: false })
  const map = await shared.map('m')
  map.setSync('key', 'value')
  await using region = await space.openRegion('structures', { reserve: false })
  // Touching it anywhere is safe now.
  assert.equal(region.uint8.at(-1), 0)
  const { size } = statSync(join(space.directory!, 'aether.arena'))
  assert.ok(takenBy(space) >= 16 * MIB && size >= 16 * MIB)
  const queue = await shared.queue<Uint8Array>('q')
  for (let turn = 0; turn < 8; turn += 1) queue.pushSync(new Uint8Array(MIB - 1))
  assert.equal(map.getSync('key'), 'value')
})

test('a disk that fills up is an error that says so, and the process goes on when there is room', (t) => {
  const refused = smallDisksRefused()
  if (refused !== undefined) {
    t.skip(refused)
    return
  }
  const program = `
    const { rmSync, writeFileSync } = await import('node:fs')
    const space = await open('full', { directory })
    const shared = await openStructures(space, { size: '1GiB', reserve: false })
    const map = await shared.map('m')
    writeFileSync(directory + '/other', new Uint8Array(16 * 2 ** 20))
    const fill = () => {
      for (let key = 0; ; key += 1) map.setSync('key ' + key, new Uint8Array(3000).fill(key))
    }
    const failure = () => {
      try { fill() } catch (error) { return error }
    }
    const first = failure()
    if (first.code !== 'ERR_AETHER_HEAP_FULL' || !/no more can be taken: .*the disk is full .ENOSPC./.test(first.message)) throw first
    if (first.cause?.code !== 'ERR_AETHER_MEMORY_EXHAUSTED') throw first
    const size = map.sizeSync()
    for (let key = 0; key < size; key += 1) if (map.getSync('key ' + key).some((byte) => byte !== key % 256)) throw new Error('torn')
    // Deleting works, and so does what it has made room for.
    for (let key = 0; key < 100; key += 1) map.deleteSync('key ' + key)
    for (let key = 0; key < 50; key += 1) map.setSync('key ' + key, new Uint8Array(3000))
    rmSync(directory + '/other')
    failure()
    if (map.sizeSync() < size + 3000) throw new Error(size + ' entries before, ' + map.sizeSync() + ' after')
    map.clearSync()
    await shared.close()
    await space.close()`
  const tmpfs = onSmallDisk(join(scratch, newName()), 64, program)
  assert.equal(tmpfs.signal, null)
  assert.equal(tmpfs.status, 0, tmpfs.stderr)
})
