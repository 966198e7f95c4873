/** A space in a directory: what outlives its processes, and what is refused. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMemoryDirectory } from '../../src/cluster/index.ts'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { onOverlay, onSmallDisk, smallDisksRefused } from './small-disk.ts'

const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 6)
const NAME = 'lasting'
/** Where the header has the machine's start, as a text with its length in front. */
const BOOT_OFFSET = 1536
/** Where it has the mark that the last member ended in order. */
const ENDED_OFFSET = 36

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-lasting-')))
after(() => rmSync(scratch, { recursive: true }))
const counting = fileURLToPath(new URL('./fixtures/counting.js', import.meta.url))

let directories = 0
const newDirectory = (): string => join(scratch, `${++directories}`)
const arenaOf = (directory: string): string => join(directory, 'aether.arena')

/** A space with a number in it, closed again. */
async function leaveSpace(directory: string): Promise<void> {
  await using space = await open(NAME, { directory })
  await using structures = await openStructures(space, { size: '1MiB' })
  const map = await structures.map<number>('numbers')
  map.setSync('kept', 7)
}

/** What the kernel was told about each mapping of the arena: VmFlags of proc(5). */
function flagsOfArena(directory: string): string[] {
  const maps = readFileSync('/proc/self/smaps', 'latin1').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  return maps.filter((map) => map.includes(arenaOf(directory))).map((map) => /^VmFlags: (.*)$/m.exec(map)![1]!)
}

async function numberIn(directory: string): Promise<number | undefined> {
  await using space = await open(NAME, { directory })
  await using structures = await openStructures(space, { size: '1MiB' })
  const map = await structures.map<number>('numbers')
  return map.getSync('kept')
}

function overwrite(path: string, offset: number, text: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, text, offset, 'latin1')
  closeSync(file)
}

test('it is there again when all have closed it, and epochs go on', async () => {
  const directory = newDirectory()
  await leaveSpace(directory)
  await using space = await open(NAME, { directory })
  assert.equal(space.directory, directory)
  assert.equal(space.self.epoch, 2)
  assert.deepEqual(
    space.members().map(({ epoch }) => epoch),
    [2],
  )
  await using structures = await openStructures(space)
  assert.equal((await structures.map('numbers')).getSync('kept'), 7)
  assert.equal(statSync(directory).mode & 0o777, 0o700)
  assert.equal(statSync(arenaOf(directory)).mode & 0o777, 0o600)
})

test('a space without a directory is gone, as ever', async () => {
  const one = await open('passing')
  assert.equal(one.directory, undefined)
  await one.openRegion('r', { size: 4096 })
  await one.close()
  await using other = await open('passing')
  assert.deepEqual(other.regions(), [])
})

test('AETHER_DIRECTORY gives every space a directory of its name', async () => {
  process.env['AETHER_DIRECTORY'] = scratch
  try {
    await using space = await open('by-variable')
    assert.equal(space.directory, join(scratch, 'by-variable'))
  } finally {
    delete process.env['AETHER_DIRECTORY']
  }
})

test('others join it while it is open, with its directory or without naming one', async () => {
  const directory = newDirectory()
  await using first = await open(NAME, { directory })
  await using second = await open(NAME, { directory })
  await using third = await open(NAME)
  assert.equal(third.directory, directory)
  await using a = await second.openRegion('r', { size: 4096 })
  await using b = await third.openRegion('r')
  a.int32[0] = 5
  assert.equal(b.int32[0], 5)
  assert.equal(first.members().length, 3)
})

test('however many members there have been, the next one has a place in structures', async () => {
  const directory = newDirectory()
  for (let member = 0; member < 300; member += 1) {
    await using space = await open(NAME, { directory })
    assert.equal(space.self.epoch, member + 1)
    // The last slots of a space are more than structures have places for.
    if (space.self.slot > 250) await (await openStructures(space, { size: '1MiB' })).close()
  }
  await leaveSpace(directory)
  assert.equal(await numberIn(directory), 7)
})

/** Start one that counts, and let it say at least one number. */
async function startCounting(directory: string, file: string): Promise<{ child: ChildProcess; said: () => number[] }> {
  writeFileSync(file, '')
  const child = spawn(process.execPath, [counting, NAME, directory, file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const said = (): number[] => readFileSync(file, 'latin1').split('\n').slice(0, -1).map(Number)
  while (said().length === 0) {
    assert.equal(child.exitCode, null, 'it ended by itself')
    await sleep(1)
  }
  return { child, said }
}

test('all of its processes are killed at once, again and again: nothing that was written is lost', async () => {
  const directory = newDirectory()
  let last = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const files = [join(scratch, 'one'), join(scratch, 'two')]
    const ones = await Promise.all(files.map((file) => startCounting(directory, file)))
    await sleep(Math.random() * 30)
    for (const { child } of ones) child.kill('SIGKILL')
    await Promise.all(ones.map(({ child }) => once(child, 'close')))
    const said = ones.flatMap((one) => one.said())
    await using space = await open(NAME, { directory })
    await using structures = await openStructures(space, { size: '2MiB' })
    const map = await structures.map<number>('numbers')
    const queue = await structures.queue<number>('queue')
    const mutex = await structures.mutex('mutex')
    // Who held it is dead.
    using _locked = mutex.lockSync({ timeoutMs: 10_000 })
    const there = map.getSync('last')!
    // Each may have been killed after it had written and before it said so.
    const unsaid = there - Math.max(...said)
    assert.ok(unsaid >= 0 && unsaid <= ones.length, `${there} is there after ${Math.max(...said)}`)
    assert.ok(Math.min(...said) > last)
    last = there
    // What is in the queue is in order, and nothing is twice.
    const items: number[] = []
    for (let item = queue.tryPopSync(); item !== undefined; item = queue.tryPopSync()) items.push(item)
    assert.deepEqual(
      items,
      [...new Set(items)].sort((a, b) => a - b),
    )
  }
})

test('what has been there before is refused if it cannot be gone on with', async () => {
  const directory = newDirectory()
  await leaveSpace(directory)
  await assert.rejects(open('other', { directory }), {
    code: 'ERR_AETHER_SPACE_DIRECTORY',
    message: /it is the directory of space 'lasting'/,
  })
  overwrite(arenaOf(directory), BOOT_OFFSET + 1, 'ffffffff')
  overwrite(arenaOf(directory), ENDED_OFFSET, '\0')
  await assert.rejects(open(NAME, { directory }), {
    code: 'ERR_AETHER_SPACE_RESTARTED',
    message: /the machine has restarted .*; remove .*aether\.arena/,
  })
  overwrite(arenaOf(directory), 4, '\x63')
  await assert.rejects(open(NAME, { directory }), { code: 'ERR_AETHER_SPACE_VERSION' })
  overwrite(arenaOf(directory), 0, 'none')
  await assert.rejects(open(NAME, { directory }), {
    code: 'ERR_AETHER_SPACE_DIRECTORY',
    message: /is not the memory of a space/,
  })
  rmSync(arenaOf(directory))
  assert.equal(await numberIn(directory), undefined, 'it begins anew')
})

test('one that was cut off while it was made is made again', async () => {
  const directory = newDirectory()
  mkdirSync(directory)
  writeFileSync(arenaOf(directory), '')
  truncateSync(arenaOf(directory), 2 ** 26)
  await leaveSpace(directory)
  assert.equal(await numberIn(directory), 7)
})

test('whose file is removed while processes have it stays theirs, and is refused to others until they have ended', async () => {
  const directory = newDirectory()
  await using first = await open(NAME, { directory })
  await using region = await first.openRegion('r', { size: 4096 })
  rmSync(arenaOf(directory))
  await assert.rejects(open(NAME, { directory }), {
    code: 'ERR_AETHER_SPACE_DIRECTORY',
    message: /processes have another .*aether\.arena, which was removed; end them first/,
  })
  region.int32[0] = 5
  await region.close()
  await first.close()
  assert.equal(await numberIn(directory), undefined, 'it begins anew')
})

test('a space of the name that is elsewhere is refused', async () => {
  const directory = newDirectory()
  {
    await using _space = await open(NAME)
    await assert.rejects(open(NAME, { directory }), {
      code: 'ERR_AETHER_SPACE_DIRECTORY',
      message: /in a space of that name that has no directory/,
    })
  }
  await using _space = await open(NAME, { directory })
  await assert.rejects(open(NAME, { directory: newDirectory() }), { message: /its processes have it in .*; pass that/ })
})

test('a directory that cannot be used is refused before anything is made', async () => {
  const file = join(scratch, 'file')
  writeFileSync(file, '')
  await assert.rejects(open(NAME, { directory: file }), { code: 'ERR_AETHER_FORBIDDEN', path: file })
  const others = newDirectory()
  mkdirSync(others)
  chmodSync(others, 0o777)
  await assert.rejects(open(NAME, { directory: others }), { message: /run: chmod go-w/ })
  const linked = newDirectory()
  mkdirSync(linked)
  symlinkSync(file, arenaOf(linked))
  await assert.rejects(open(NAME, { directory: linked }), { code: 'ERR_AETHER_FORBIDDEN' })
  // procfs: not one of ours, and there on every machine.
  await assert.rejects(open(NAME, { directory: '/proc/self/task' }), {
    code: 'ERR_AETHER_SPACE_DIRECTORY',
    message: /its file system is none of tmpfs, ext4, xfs, f2fs .*such as \/dev\/shm/,
  })
  await assert.rejects(open(NAME, { directory: 5 as unknown as string }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('where a page is copied before it is written, nothing is made', (t) => {
  const refused = smallDisksRefused()
  if (refused !== undefined) {
    t.skip(refused)
    return
  }
  const program = `
    import { existsSync } from 'node:fs'
    const { code, message } = await open('copied', { directory: directory + '/deep/down' }).catch((error) => error)
    console.log(code, message, existsSync(directory + '/deep'))`
  const { stdout, stderr } = onOverlay(newDirectory(), program)
  assert.match(stdout, /^ERR_AETHER_SPACE_DIRECTORY .*its file system is none of tmpfs, .* false\n$/, stderr)
})

test('a limit of file sizes is named, and leaves an empty file', () => {
  const directory = newDirectory()
  const index = new URL('../../src/public/index.js', import.meta.url)
  const source = `import { open } from '${index}'; await open('limited', { directory: '${directory}' })`
  const command = 'ulimit -f 20000 && exec "$0" --input-type=module -e "$1"'
  const { stderr } = spawnSync('sh', ['-c', command, process.execPath, source], { encoding: 'utf8' })
  assert.match(stderr, /SpaceError: .*EFBIG.*limit of file sizes/)
  assert.equal(statSync(arenaOf(directory)).size, 0)
})

test('a region beyond the limit of file sizes is refused, and those that fit go on', () => {
  const directory = newDirectory()
  const index = new URL('../../src/public/index.js', import.meta.url)
  const source = `import { open } from '${index}'
    const space = await open('limited', { directory: '${directory}' })
    const kept = await space.openRegion('kept', { size: '1MiB' })
    for (const reserve of [true, false])
      await space.openRegion('long', { size: '64MiB', reserve }).catch(({ message }) => console.log(message))
    kept.uint8.fill(7)
    console.log((await space.openRegion('other', { size: '1MiB' })).size)`
  // In blocks of 512 bytes: 80 MB, of which the arena takes half.
  const command = 'ulimit -f 160000 && exec "$0" --input-type=module -e "$1"'
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, source], { encoding: 'utf8' })
  assert.equal(stderr, '')
  const refused = /^region 'long' needs 64 MiB, but the file would be longer .*ulimit -f \(EFBIG\)/
  const [first = '', second = '', other] = stdout.trim().split('\n')
  assert.match(first, refused)
  assert.match(second, refused)
  assert.equal(other, '1048576')
})

test('a full disk is an error before anything is touched, and what was there stays', (t) => {
  const refused = smallDisksRefused()
  if (refused !== undefined) {
    t.skip(refused)
    return
  }
  const none = onSmallDisk(newDirectory(), 16, `await open('full', { directory })`)
  assert.match(none.stderr, /SpaceError: .*36 MiB for it are not to be had .*ENOSPC.*free some space/)
  const program = `
    const space = await open('full', { directory })
    const kept = await space.openRegion('kept', { size: '1MiB' })
    kept.uint8.fill(7)
    for (const reserve of [true, false]) {
      const error = await space.openRegion('large', { size: '64MiB', reserve }).catch((error) => error)
      if (error.code !== 'ERR_AETHER_MEMORY_EXHAUSTED') throw error
    }
    await space.close()
    const again = await open('full', { directory })
    const bytes = (await again.openRegion('kept')).uint8
    if (bytes.some((byte) => byte !== 7)) throw new Error('lost')
    await again.close()`
  const some = onSmallDisk(newDirectory(), 48, program)
  assert.equal(some.status, 0, some.stderr)
})

test('pages of a file on a disk are cached one by one, so that a store makes no more than its page dirty', async (test) => {
  if (isMemoryDirectory(scratch)) return test.skip('the directory for temporary files is on tmpfs')
  const directory = newDirectory()
  await using space = await open('on-a-disk', { directory })
  await using _structures = await openStructures(space, { size: '1MiB' })
  const flags = flagsOfArena(directory)
  assert.ok(flags.length >= 2, 'the control part and the region')
  // rr: random reads are advised, of MADV_RANDOM.
  for (const each of flags) assert.match(each, /\brr\b/)
})
