/** What could go wrong with saves at moments and on machines that are against them. */
import assert from 'node:assert/strict'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rendezvousPath } from '../../src/cluster/enter.ts'
import { native } from '../../src/native/index.ts'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { importSave, realDisk, saveSpace, verifySave } from '../../src/saving/index.ts'
import { NewFile } from '../../src/saving/new-file.ts'
import { SaveWriter } from '../../src/saving/save-writer.ts'
import { STORE_GUARDS_REGION, STORE_MAGIC, STORE_NAME } from '../../src/structures/index.ts'
import { aether } from '../cli/command-line.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-hostile-')))
after(() => rmSync(scratch, { recursive: true }))
const PAGE_BYTES = 4096

let made = 0
const newPath = (): string => join(scratch, `${++made}`)

test('a space that is closed while it is saved does not become an empty save', async () => {
  const file = newPath()
  const space = await open('closed')
  await space.openRegion('bytes', { size: PAGE_BYTES })
  await space.save({ file })
  const before = readFileSync(file)
  // As if another process had the lock of the space: the save waits for it, and the space goes without it.
  const lock = openSync(rendezvousPath('closed'), 'r+')
  assert.equal(native.lockFile(lock, false), true)
  const saving = space.save({ file })
  saving.catch(() => {})
  await sleep(100)
  await space.close()
  closeSync(lock)
  await assert.rejects(saving, { code: 'ERR_AETHER_CLOSED', message: /space 'closed'/ })
  assert.deepEqual(readFileSync(file), before)
})

test('an export of a space that has just gone leaves the file as it is', async () => {
  const file = newPath()
  const space = await open('gone')
  await space.openRegion('bytes', { size: PAGE_BYTES })
  await space.save({ file })
  const before = readFileSync(file)
  const lock = openSync(rendezvousPath('gone'), 'r+')
  assert.equal(native.lockFile(lock, false), true)
  // Without the lock it cannot take its name out of the file.
  await space.close()
  closeSync(lock)
  const { status, stderr } = aether('space', 'export', 'gone', file)
  assert.deepEqual([status, /space 'gone' is not running/.test(stderr)], [1, true], stderr)
  assert.deepEqual(readFileSync(file), before)
})

test('pages that are zeros in a save are zeros after an import into a region that is there', async () => {
  const file = newPath()
  await using space = await open('mixed')
  await using region = await space.openRegion('bytes', { size: 5 * PAGE_BYTES + 100 })
  for (const page of [1, 3]) region.uint8.fill(page, page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
  const before = region.uint8.slice()
  await space.save({ file })
  region.uint8.fill(9)
  await importSave(file, { name: 'mixed', adds: true })
  assert.deepEqual(region.uint8.slice(), before)
})

test('memory that cannot be read whole is not saved as zeros', async () => {
  const directory = newPath()
  const file = newPath()
  await using space = await open('cut', { directory })
  await using region = await space.openRegion('bytes', { size: '4MiB' })
  assert.equal(region.size, 2 ** 22)
  await space.save({ file })
  const before = readFileSync(file)
  // A disk that fails gives what comes before the fault, and then an error.
  const arena = join(directory, 'aether.arena')
  truncateSync(arena, statSync(arena).size - 2 ** 21 - 1000)
  await assert.rejects(space.save({ file }), { code: 'ERR_AETHER_SAVE_FAILED' })
  assert.deepEqual(readFileSync(file), before)
})

test('a save of a later format that came after the space was opened is not replaced', async () => {
  const file = newPath()
  await using other = await open('later')
  await other.save({ file })
  const later = readFileSync(file)
  later.writeUInt32LE(99, 12)
  rmSync(file)
  await using space = await open('later', { save: { file, every: '50ms' } })
  assert.equal(space.restored, undefined)
  await until(() => {
    try {
      return readFileSync(file).length > 0
    } catch {
      return false
    }
  }, 'it is saved')
  const warnings: string[] = []
  const take = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', take)
  writeFileSync(file, later)
  await until(() => warnings.length > 0, 'it is told')
  process.off('warning', take)
  assert.match(warnings[0]!, /save of format 99/)
  assert.deepEqual(readFileSync(file), later)
})

test('an import of queues ends when a process keeps the lock of queues', async () => {
  const path = newPath()
  const file = await NewFile.begin(path)
  const writer = new SaveWriter(file)
  await writer.start({ space: 'kept', savedAtMs: Date.now(), version: '0.0.0' })
  await writer.region({ name: STORE_NAME, size: 2 ** 20, reserved: true, store: { magic: STORE_MAGIC, behindMs: 0 } })
  await writer.end({ regions: 1, structures: 0, omitted: [] })
  await file.commit()
  await using space = await open('kept')
  await using guards = await openStructures(space, { region: STORE_GUARDS_REGION })
  using _hold = await (await guards.mutex(STORE_NAME)).lock()
  await assert.rejects(importSave(path, { name: 'kept', adds: true }), {
    code: 'ERR_AETHER_TIMEOUT',
    message: /has held the queues of BullMQ for 10 s/,
  })
  await verifySave(path)
})

test('if only the name of a new save may not be on the disk, that is what is said', async () => {
  const file = newPath()
  await using space = await open('named')
  await saveSpace(space, file)
  await using _region = await space.openRegion('bytes', { size: PAGE_BYTES })
  const syncDirectory = (): Promise<void> => Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
  await assert.rejects(saveSpace(space, file, { disk: { ...realDisk, syncDirectory } }), {
    code: 'ERR_AETHER_SAVE_FAILED',
    message: /^(?!.*older save stays).* is in its place, but/,
  })
  assert.equal((await verifySave(file)).regions, 1)
})
