/** A save that was changed, cut off or continued anywhere is never taken for a whole one. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open, SaveError } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { verifySave } from '../../src/saving/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = mkdtempSync(join(tmpdir(), 'aether-damage-'))
after(() => rmSync(scratch, { recursive: true }))
const file = join(scratch, 'whole')
const other = join(scratch, 'other')

async function smallSave(): Promise<Buffer> {
  await using space = await open('damaged')
  await using region = await space.openRegion('region', { size: 256 })
  region.uint8.fill(3, 0, 100)
  await using shared = await openStructures(space, { size: '1MiB' })
  ;(await shared.counter('counter')).addSync()
  const map = await shared.map('map')
  map.setSync('key', 'value')
  await space.save({ file })
  return readFileSync(file)
}

const noticed = (error: unknown): boolean =>
  error instanceof SaveError && (error.code === 'ERR_AETHER_SAVE_DAMAGED' || error.code === 'ERR_AETHER_SAVE_VERSION')

test('each byte counts', async () => {
  const whole = await smallSave()
  const { records, structures } = await verifySave(file)
  assert.deepEqual([records, structures], [2, 2])
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole)
    changed[at] = changed[at]! ^ (1 << (at % 8))
    writeFileSync(other, changed)
    await assert.rejects(verifySave(other), noticed, `byte ${at} was changed`)
  }
})

test('a save that is cut off or goes on after its end is damaged', async () => {
  const whole = await smallSave()
  for (let length = 0; length < whole.length; length += length < 200 ? 1 : 97) {
    writeFileSync(other, whole.subarray(0, length))
    await assert.rejects(verifySave(other), { code: 'ERR_AETHER_SAVE_DAMAGED' }, `${length} bytes are left`)
  }
  writeFileSync(other, Buffer.concat([whole, Buffer.alloc(1)]))
  await assert.rejects(verifySave(other), { message: /more follows after its end; put an older copy/ })
})

test('a damaged save restores nothing, and the space is made by no one until it is gone', async () => {
  const whole = await smallSave()
  whole[whole.length - 20]! ^= 1
  writeFileSync(other, whole)
  for (let attempt = 0; attempt < 2; attempt += 1)
    await assert.rejects(open('damaged', { save: { file: other } }), { code: 'ERR_AETHER_SAVE_DAMAGED', file: other })
  rmSync(other)
  await using space = await open('damaged', { save: { file: other } })
  assert.equal(space.restored, undefined)
  assert.deepEqual(space.regions(), [])
})

test('a save of another space is refused', async () => {
  await smallSave()
  await assert.rejects(open('another', { save: { file } }), {
    code: 'ERR_AETHER_SAVE_MISMATCH',
    message: /is of space 'damaged', not of 'another'/,
  })
})
