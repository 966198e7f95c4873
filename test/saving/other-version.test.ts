/** Queues of BullMQ as another version of the package keeps them: in a save, in memory, and left out by hand. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { verifySave } from '../../src/saving/index.ts'
import { NewFile } from '../../src/saving/new-file.ts'
import { SaveWriter } from '../../src/saving/save-writer.ts'
import { STORE_MAGIC, STORE_NAME, StoreHead } from '../../src/structures/index.ts'
import { aether } from '../cli/command-line.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-other-version-')))
after(() => rmSync(scratch, { recursive: true }))
const NAME = 'versions'
const LEFT_OUT = /left out: region 'bullmq': its queues of BullMQ need version 0\.0\.7 of Aether/

/** A save of an older version, with a region `first` that begins with 7, and with queues. */
async function writeOldSave(path: string): Promise<string> {
  const file = await NewFile.begin(path)
  const writer = new SaveWriter(file)
  await writer.start({ space: NAME, savedAtMs: Date.now(), version: '0.0.7', arena: '1'.repeat(32) })
  await writer.region({ name: 'first', size: 4096, reserved: true })
  await writer.bytes(0, Buffer.from([7]))
  const store = { magic: STORE_MAGIC + 1, behindMs: 0 }
  await writer.region({ name: STORE_NAME, size: 2 ** 20, reserved: true, store })
  await writer.bytes(0, Buffer.alloc(8192, 1))
  await writer.region({ name: 'last', size: 4096, reserved: true })
  await writer.bytes(8, Buffer.from([9]))
  await writer.end({ regions: 3, structures: 0, omitted: [{ region: 'other', reason: 'it was so before' }] })
  await file.commit()
  return path
}

async function assertRestored(options: object): Promise<void> {
  await using space = await open(NAME, options)
  assert.deepEqual(
    space
      .regions()
      .map(({ name }) => name)
      .toSorted(),
    ['first', 'last'],
  )
  await using first = await space.openRegion('first')
  await using last = await space.openRegion('last')
  assert.deepEqual([first.uint8[0], last.uint8[8]], [7, 9])
}

test('open refuses such a save as a whole, and says how to do without the queues', async () => {
  const file = await writeOldSave(join(scratch, 'refused.save'))
  const refused = (advice: RegExp) => ({ code: 'ERR_AETHER_SAVE_VERSION', file, message: advice })
  const inMemory =
    /queues of BullMQ as version 0\.0\.7 of Aether keeps .* move it away, .*space import .*refused\.save versions$/
  await assert.rejects(open(NAME, { save: { file } }), refused(inMemory))
  const directory = join(scratch, 'refused')
  const inDirectory =
    /use that version; or, .*, run: npx aether-dsm space import .*refused\.save --directory .*\/refused$/
  for (let attempt = 0; attempt < 2; attempt += 1)
    await assert.rejects(open(NAME, { directory, save: { file } }), refused(inDirectory))
  await using space = await open(NAME)
  assert.deepEqual(space.regions(), [])
})

test('a check of the save names them; an import leaves them out and says so', async () => {
  const file = await writeOldSave(join(scratch, 'imported.save'))
  const { omitted, otherVersion, regions, plainRegions } = await verifySave(file)
  assert.deepEqual(
    omitted.map(({ region }) => region),
    ['other', STORE_NAME],
  )
  assert.deepEqual([otherVersion, regions, plainRegions], [omitted.slice(1), 2, ['first', 'last']])
  const checked = aether('space', 'check', file)
  assert.deepEqual([checked.status, LEFT_OUT.test(checked.stdout)], [0, true], checked.stdout + checked.stderr)
  const directory = join(scratch, 'imported')
  const imported = aether('space', 'import', file, '-d', directory)
  assert.deepEqual([imported.status, LEFT_OUT.test(imported.stdout)], [0, true], imported.stdout + imported.stderr)
  await assertRestored({ directory })
})

test('into a space that has queues of its own, the rest is imported', async () => {
  const file = await writeOldSave(join(scratch, 'beside.save'))
  await using space = await open(NAME)
  await using queues = await space.openRegion(STORE_NAME, { size: '1MiB' })
  queues.int32[StoreHead.Magic / 4] = STORE_MAGIC
  queues.uint8[5000] = 5
  const imported = aether('space', 'import', file, NAME)
  assert.deepEqual([imported.status, LEFT_OUT.test(imported.stdout)], [0, true], imported.stdout + imported.stderr)
  assert.deepEqual([queues.int32[0], queues.uint8[5000], queues.uint8[4096]], [STORE_MAGIC, 5, 0])
  assert.deepEqual(
    space
      .regions()
      .map(({ name }) => name)
      .toSorted(),
    [STORE_NAME, 'first', 'last'],
  )
})

test('after a repair that left them out, repeated saves do not replace the save that still has them', async () => {
  const directory = join(scratch, 'repaired')
  mkdirSync(directory, { mode: 0o700 })
  const file = await writeOldSave(join(directory, 'aether.save'))
  const before = readFileSync(file)
  const { status, stdout, stderr } = aether('space', 'repair', directory)
  assert.deepEqual([status, LEFT_OUT.test(stdout)], [0, true], stdout + stderr)
  assert.match(stdout, /aether\.save still has them: save\.every does not replace it until you move it away/)
  await assertRestored({ directory })
  const warnings: string[] = []
  const take = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', take)
  await using _space = await open(NAME, { directory, save: { every: '1ms' } })
  await until(() => warnings.length > 0, 'it is said that the save is not replaced')
  process.off('warning', take)
  assert.match(warnings[0]!, /could not be saved .* from which it was not restored; move that away/)
  assert.deepEqual(readFileSync(file), before)
})

test('queues of another version in memory are left out of a save', async () => {
  await using space = await open(NAME)
  await using region = await space.openRegion(STORE_NAME, { size: '1MiB' })
  region.int32[StoreHead.Magic / 4] = STORE_MAGIC + 1
  const { omitted } = await space.save({ file: join(scratch, 'left-out.save') })
  assert.deepEqual(
    omitted.map(({ region, reason }) => [region, /another version/.test(reason)]),
    [[STORE_NAME, true]],
  )
})
