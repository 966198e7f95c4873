/** Saves that are made again and again, by one member at a time. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import {
  BLOCK_HEAD_BYTES,
  BlockKind,
  blockHead,
  CHECKSUM_BYTES,
  checksum,
  PREAMBLE_BYTES,
} from '../../src/saving/format.ts'
import { verifySave } from '../../src/saving/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-repeated-')))
after(() => rmSync(scratch, { recursive: true }))
const repeating = fileURLToPath(new URL('./fixtures/repeating.js', import.meta.url))

/** When the file was written; 0 if it is not there. */
const writtenAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

async function anotherSave(file: string): Promise<void> {
  const before = writtenAt(file)
  await until(() => writtenAt(file) > before, 'it is saved again')
}

test('it saves again and again, each time as a whole, until it is closed', async () => {
  const file = join(scratch, 'a.save')
  const space = await open('repeated', { save: { file, every: '50ms' } })
  for (let save = 0; save < 3; save += 1) {
    await anotherSave(file)
    await verifySave(file)
  }
  await space.close()
  const before = writtenAt(file)
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.equal(writtenAt(file), before)
})

test('when the process that saves is killed, another goes on', async () => {
  const file = join(scratch, 'b.save')
  const children = [0, 1].map(() =>
    spawn(process.execPath, [repeating, 'handed-on', file, '100'], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    await anotherSave(file)
    children[0]!.kill('SIGKILL')
    await once(children[0]!, 'close')
    for (let save = 0; save < 3; save += 1) await anotherSave(file)
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
  await verifySave(file)
})

test('what is in no save is named by a warning, once, and by what is restored', async (context) => {
  const file = join(scratch, 'omitting.save')
  const warnings: { readonly code: string; readonly message: string }[] = []
  const take = (warning: Error): void => {
    const { code, message } = warning as NodeJS.ErrnoException
    warnings.push({ code: code!, message })
  }
  process.on('warning', take)
  context.after(() => process.off('warning', take))
  {
    await using space = await open('omitting', { save: { file, every: '20ms' } })
    await using structures = await openStructures(space, { size: '2MiB' })
    await structures.mvRlu('objects')
    for (let save = 0; save < 3; save += 1) await anotherSave(file)
  }
  assert.equal(warnings.length, 1)
  assert.equal(warnings[0]?.code, 'AETHER_SAVE_OMITS')
  assert.match(
    warnings[0]!.message,
    /^'objects' in region 'structures' is in no save, as .*'omitting' will not have it$/,
  )
  await using again = await open('omitting', { save: { file } })
  assert.deepEqual(
    again.restored?.omitted.map(({ region, structure }) => [region, structure]),
    [['structures', 'objects']],
  )
})

test('a save from which the space was not restored is never replaced', async () => {
  const file = join(scratch, 'late.save')
  {
    await using before = await open('late')
    await before.openRegion('old', { size: 4096 })
    await before.save({ file })
  }
  const away = `${file}.away`
  renameSync(file, away)
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => {
    warnings.push(warning)
  }
  process.on('warning', onWarning)
  try {
    await using _space = await open('late', { save: { file, every: 20 } })
    await anotherSave(file)
    // As a disk that is mounted late brings one.
    renameSync(away, file)
    await until(() => warnings.length > 0, 'it is reported')
    assert.match(warnings[0]!.message, /a save of .* is there from which it was not restored; move that away/)
    assert.equal((await verifySave(file)).regions, 1)
    renameSync(file, away)
    await anotherSave(file)
  } finally {
    process.off('warning', onWarning)
  }
  renameSync(away, file)
  await using restored = await open('late', { save: { file, every: 20 } })
  assert.equal(restored.regions().length, 1)
  await anotherSave(file)
})

/** The save as one that does not say of which memory it is: they did not always. */
function withoutArena(save: Buffer): Buffer {
  const lengthBytes = save.readUInt32LE(PREAMBLE_BYTES + 8)
  const begin = PREAMBLE_BYTES + BLOCK_HEAD_BYTES
  const { arena: _, ...start } = JSON.parse(save.toString('utf8', begin, begin + lengthBytes))
  const payload = Buffer.from(JSON.stringify(start))
  const block = [blockHead(BlockKind.Start, 0, payload.length), payload, checksum([payload])]
  const rest = save.subarray(begin + lengthBytes + CHECKSUM_BYTES)
  return Buffer.concat([save.subarray(0, PREAMBLE_BYTES), ...block, rest])
}

test('a save that does not say of which memory it is is restored, and replaced', async () => {
  const file = join(scratch, 'early.save')
  {
    await using before = await open('early')
    await before.openRegion('old', { size: 4096 })
    await before.save({ file })
  }
  writeFileSync(file, withoutArena(readFileSync(file)))
  await using space = await open('early', { save: { file, every: 20 } })
  assert.equal(space.regions().length, 1)
  await anotherSave(file)
})

test('a failure is reported once, and tried again', async () => {
  const directory = join(scratch, 'later')
  const file = join(directory, 'c.save')
  const warnings: NodeJS.ErrnoException[] = []
  const onWarning = (warning: Error): void => {
    warnings.push(warning)
  }
  process.on('warning', onWarning)
  try {
    await using _space = await open('reported', { save: { file, every: 20 } })
    await until(() => warnings.length > 0, 'it is reported')
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['AETHER_SAVE_FAILED'],
    )
    assert.match(
      warnings[0]!.message,
      /space 'reported' could not be saved to .*will be tried again.*make its directory/,
    )
    mkdirSync(directory)
    await anotherSave(file)
  } finally {
    process.off('warning', onWarning)
    rmSync(file)
    rmdirSync(directory)
  }
})

test('it does not keep its process alive', async () => {
  const index = new URL('../../src/public/index.js', import.meta.url)
  const source = `import { open } from '${index}'; await open('brief', { save: { file: '${scratch}/d.save', every: '1h' } })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'inherit' })
  assert.deepEqual(await once(child, 'close'), [0, null])
})
