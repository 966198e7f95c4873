/** A machine that crashes: pages of a space reach the disk in any order, and restores are cut off. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-crash-')))
after(() => rmSync(scratch, { recursive: true }))
const opening = fileURLToPath(new URL('./fixtures/opening.js', import.meta.url))
const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 3)
const ENTRIES = 15_000
const NAME = 'crashed'
const BOOT_OFFSET = 1536
/** Where the header counts how far a restore has come. */
const RESTORING_OFFSET = 40
const PAGE = 4096

let made = 0
const newDirectory = (): string => join(scratch, `${++made}`)

/** Wait, without a pause, until the restore into the arena has come that far, or has ended. */
function untilRestored(arena: string, wanted: number): void {
  const file = openSync(arena, 'r')
  const word = new Int32Array(1)
  const endMs = performance.now() + 10_000
  for (let began = false; performance.now() < endMs; ) {
    readSync(file, word, 0, 4, RESTORING_OFFSET)
    const [progress = 0] = word
    began ||= progress > 0
    if (progress >= wanted || (began && progress === 0)) break
  }
  closeSync(file)
}

/** Offsets of the pages that differ. */
function changedPages(earlier: Buffer, later: Buffer): readonly number[] {
  const pages: number[] = []
  for (let at = 0; at < later.length; at += PAGE)
    if (!later.subarray(at, at + PAGE).equals(earlier.subarray(at, at + PAGE))) pages.push(at)
  return pages
}

test('whatever pages have reached the disk, torn memory is never gone on with', async () => {
  const directory = newDirectory()
  const arena = join(directory, 'aether.arena')
  let [earlier, later] = [Buffer.alloc(0), Buffer.alloc(0)]
  {
    await using space = await open(NAME, { directory })
    await using shared = await openStructures(space, { size: '1MiB' })
    const map = await shared.map<number>('map')
    map.setSync('saved', 1)
    await space.save()
    earlier = readFileSync(arena)
    for (let at = 0; at < 1000; at += 1) map.setSync(at, at)
    later = readFileSync(arena)
  }
  const pages = changedPages(earlier, later)
  assert.ok(pages.length > 20)
  // Another boot. It is written when the space is opened, and so is on the disk before.
  for (const state of [earlier, later]) state.write('ffffffff', BOOT_OFFSET + 1, 'latin1')
  for (let turn = 0; turn < 4; turn += 1) {
    const torn = Buffer.from(earlier)
    const share = turn / 3
    for (const at of pages) if (Math.random() < share) later.copy(torn, at, at, at + PAGE)
    writeFileSync(arena, torn)
    await using space = await open(NAME, { directory })
    assert.equal(space.restored?.reason, 'restarted')
    await using shared = await openStructures(space)
    assert.deepEqual([...(await shared.map('map')).entriesSync()], [['saved', 1]])
    rmSync(join(directory, 'aether.arena.torn'))
  }
})

test('a restore that is killed is begun again by the next process', async () => {
  const file = join(scratch, 'large.save')
  const entries = ENTRIES
  {
    await using space = await open(NAME)
    await using region = await space.openRegion('bytes', { size: '4MiB' })
    region.uint8.fill(5)
    await using shared = await openStructures(space, { size: '16MiB' })
    const map = await shared.map<number>('map')
    for (let at = 0; at < entries; at += 1) map.setSync(at, at)
    ;(await shared.queue<number>('queue')).pushSync(1)
    await space.save({ file })
  }
  let cutOff = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const directory = newDirectory()
    mkdirSync(directory)
    copyFileSync(file, join(directory, 'aether.save'))
    const child = spawn(process.execPath, [opening, NAME, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (text) => {
      said += text
    })
    await until(() => existsSync(join(directory, 'aether.arena')), 'the restore begins')
    untilRestored(join(directory, 'aether.arena'), 1 + kill)
    child.kill('SIGKILL')
    await once(child, 'close')
    await using space = await open(NAME, { directory })
    // It had ended before it was killed, or the next one begins again.
    assert.ok(said === 'missing\n' || space.restored !== undefined)
    if (space.restored?.reason === 'interrupted') cutOff += 1
    await using shared = await openStructures(space)
    const map = await shared.map<number>('map')
    assert.equal(map.sizeSync(), entries)
    for (let at = 0; at < entries; at += 1) assert.equal(map.getSync(at), at)
    assert.equal((await shared.queue('queue')).lengthSync(), 1)
    await using region = await space.openRegion('bytes')
    assert.equal(
      region.uint8.every((byte) => byte === 5),
      true,
    )
  }
  assert.ok(cutOff > 0, 'no kill met a restore')
})

test('processes that come during a restore wait for its end', async () => {
  const directory = newDirectory()
  mkdirSync(directory)
  copyFileSync(join(scratch, 'large.save'), join(directory, 'aether.save'))
  const spaces = await Promise.all([1, 2, 3].map(() => open(NAME, { directory })))
  assert.equal(spaces.filter(({ restored }) => restored !== undefined).length, 1)
  for (const space of spaces) {
    await using shared = await openStructures(space)
    assert.equal((await shared.map('map')).sizeSync(), ENTRIES)
  }
  await Promise.all(spaces.map((space) => space.close()))
})

test('who waits for a restore that does not go on is told by whom it is done', async () => {
  const directory = newDirectory()
  mkdirSync(directory)
  copyFileSync(join(scratch, 'large.save'), join(directory, 'aether.save'))
  const child = spawn(process.execPath, [opening, NAME, directory], { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    await until(() => existsSync(join(directory, 'aether.arena')), 'the restore begins')
    child.kill('SIGSTOP')
    const opened = await open(NAME, { directory, lockTimeoutMs: 200 }).catch((error) => error)
    // It may have been stopped under the lock of the space, or after its end.
    if (opened instanceof Error) assert.match(opened.message, new RegExp(`process ${child.pid}.*kill -CONT`))
    else await opened.close()
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})
