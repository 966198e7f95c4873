import assert from 'node:assert/strict'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { aether } from './command-line.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-cli-space-')))
after(() => rmSync(scratch, { recursive: true }))
const file = join(scratch, 'shop.save')

function crash(directory: string): void {
  const arena = openSync(join(directory, 'aether.arena'), 'r+')
  writeSync(arena, 'ffffffff', 1537, 'latin1')
  writeSync(arena, '\0', 36, 'latin1')
  closeSync(arena)
}

test('a running space is exported, and the save checked, imported, repaired and dropped', async () => {
  {
    await using space = await open('shop')
    await using shared = await openStructures(space, { size: '1MiB' })
    ;(await shared.map('carts')).setSync('ada', 1)
    await shared.mvRlu('accounts')
    const exported = aether('space', 'export', 'shop', file)
    assert.equal(exported.status, 0, exported.stderr)
    assert.match(
      exported.stdout,
      /shop\.save: 1 regions, 1 structures, .*\n {2}left out: 'accounts' in region 'structures'/,
    )
    const again = aether('space', 'import', file, 'shop')
    assert.equal(again.status, 1)
    assert.match(again.stderr, /space 'shop' already has map 'carts'; .*--add/)
    assert.equal(aether('space', 'import', file, 'shop', '--add').status, 0)
    ;(await shared.map('carts', { maxEntries: 5 })).setSync('ada', 2)
    const other = aether('space', 'import', file, 'shop', '--add')
    assert.equal(other.status, 1)
    assert.match(other.stderr, /'carts' cannot be restored: there is a map of that name, .* other options/)
    assert.equal((await shared.map('carts')).getSync('ada'), 2)
  }
  assert.match(aether('space', 'check', file).stdout, /is whole: space 'shop' of .*1 structures with 1 records/)
  const other = aether('space', 'import', file, 'shop')
  assert.equal(other.status, 2)
  assert.match(other.stderr, /space 'shop' is not running.*--directory/)

  const directory = join(scratch, 'shop')
  const imported = aether('space', 'import', file, '-d', directory)
  assert.equal(imported.status, 0, imported.stderr)
  {
    await using space = await open('shop', { directory })
    await using shared = await openStructures(space)
    assert.equal((await shared.map('carts')).getSync('ada'), 1)
    const used = aether('space', 'drop', directory)
    assert.equal(used.status, 1)
    assert.match(used.stderr, /processes are in space 'shop' in .*; end them first/)
    assert.equal(aether('space', 'check', directory).status, 1)
    await space.save()
  }
  const checked = aether('space', 'check', directory)
  assert.equal(checked.status, 0, checked.stdout)
  assert.match(checked.stdout, /space 'shop' is whole: ended in order; 1 regions, 1 structures with 1 records/)
  assert.match(aether('space', 'repair', directory).stdout, /nothing to repair/)
  crash(directory)
  const torn = aether('space', 'check', directory)
  assert.equal(torn.status, 1)
  assert.match(torn.stdout, /may be damaged; .*npx aether-dsm space repair/)
  const repaired = aether('space', 'repair', directory)
  assert.equal(repaired.status, 0, repaired.stderr)
  assert.match(repaired.stdout, /space 'shop' in .* is restored from .*aether\.save/)
  assert.ok(existsSync(join(directory, 'aether.arena.torn')))
  const whole = JSON.parse(aether('space', 'check', directory, '--json').stdout) as { state: string; records: number }
  assert.deepEqual([whole.state, whole.records], ['good', 1])
  assert.equal(aether('space', 'export', directory, `${file}.2`, '--consistent').status, 0)
  const dropped = aether('space', 'drop', directory)
  assert.equal(dropped.status, 0, dropped.stderr)
  assert.equal(existsSync(directory), false)
})

test('a space of another version is restored from its save', async () => {
  const directory = join(scratch, 'other-version')
  {
    await using space = await open('shop', { directory })
    await using shared = await openStructures(space, { size: '1MiB' })
    ;(await shared.map('carts')).setSync('ada', 7)
    await space.save()
  }
  const arena = openSync(join(directory, 'aether.arena'), 'r+')
  writeSync(arena, new Uint8Array([99]), 0, 1, 4)
  closeSync(arena)
  const advice = /another version of Aether; .*npx aether-dsm space repair/
  await assert.rejects(open('shop', { directory }), { code: 'ERR_AETHER_SPACE_VERSION', message: advice })
  const { status, stdout, stderr } = aether('space', 'repair', directory)
  assert.equal(status, 0, stderr)
  assert.match(stdout, /space 'shop' in .* is restored from .*aether\.save/)
  await using space = await open('shop', { directory })
  await using shared = await openStructures(space)
  assert.equal((await shared.map('carts')).getSync('ada'), 7)
})

test('damage is named', async () => {
  const bytes = readFileSync(file)
  bytes[bytes.length - 30]! ^= 1
  writeFileSync(`${file}.bad`, bytes)
  const { status, stderr } = aether('space', 'check', `${file}.bad`)
  assert.equal(status, 1)
  assert.match(stderr, /is damaged at byte \d+: .*; put an older copy/)

  const directory = join(scratch, 'damaged')
  {
    await using space = await open('shop', { directory })
    await using shared = await openStructures(space, { size: '1MiB' })
    const queue = await shared.queue<number>('queue')
    for (let value = 0; value < 10; value += 1) queue.pushSync(0x1234567890 + value)
    await space.save()
  }
  // The number of a node, which lies before the length of its value.
  const arena = readFileSync(join(directory, 'aether.arena'))
  const value = Buffer.alloc(9)
  value[0] = 4
  value.writeDoubleLE(0x1234567890 + 5, 1)
  const node = arena.indexOf(value, 0x4000000) - 16
  arena.writeInt32LE(1000, node + 8)
  writeFileSync(join(directory, 'aether.arena'), arena)
  const checked = aether('space', 'check', directory)
  assert.equal(checked.status, 1)
  assert.match(
    checked.stdout,
    /has 1 damaged structures.*\n {2}damaged: 'queue' in region 'structures': .*not numbered in a row/,
  )
  assert.equal(aether('space', 'repair', directory).status, 0)
  await using space = await open('shop', { directory })
  await using shared = await openStructures(space)
  assert.equal((await shared.queue('queue')).lengthSync(), 10)
})

test('a wrong command line says what is right', () => {
  const { status, stderr } = aether('space', 'copy')
  assert.equal(status, 2)
  assert.match(stderr, /there is no 'npx aether-dsm space copy': export, import, check, repair, drop/)
  assert.match(aether('space', 'export', 'shop').stderr, /takes NAME or DIRECTORY and FILE/)
  assert.match(aether('space', 'export', 'none', file).stderr, /space 'none' is not running/)
  assert.match(aether('space', '--help').stdout, /^Usage: npx aether-dsm space export/)
})
