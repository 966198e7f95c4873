/** A save that ends at any step: the older one stays, or the new one is whole. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open, type Space } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { type Disk, realDisk, saveSpace, verifySave } from '../../src/saving/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-interrupted-')))
after(() => rmSync(scratch, { recursive: true }))

let made = 0
const newFile = (): string => join(scratch, `${++made}.save`)

class Cut extends Error {
  readonly code = 'EIO'
}

/** Fails at call `last`; `dies`: all later calls fail, too, as if the process had been killed. */
function failingDisk(last: number, dies: boolean): { readonly disk: Disk; readonly calls: () => number } {
  let calls = 0
  const count =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>, half?: (...args: A) => Promise<unknown>) =>
    async (...args: A): Promise<R> => {
      calls += 1
      const fails = calls === last || (dies && calls > last)
      if (calls === last) await half?.(...args)
      if (fails) throw new Cut('cut off')
      return await call(...args)
    }
  const disk: Disk = {
    create: count(realDisk.create),
    write: count(realDisk.write, (file, bytes, at) => realDisk.write(file, bytes.subarray(0, bytes.length / 2), at)),
    truncate: count(realDisk.truncate),
    sync: count(realDisk.sync),
    rename: count(realDisk.rename),
    remove: count(realDisk.remove),
    syncDirectory: count(realDisk.syncDirectory),
    inodeAt: count(realDisk.inodeAt),
  }
  return { disk, calls: () => calls }
}

/** More than is written at once. */
async function fill(space: Space): Promise<void> {
  await using region = await space.openRegion('bytes', { size: '600KiB' })
  for (let at = 0; at < region.uint8.length; at += 1) region.uint8[at] = 1 + (at % 250)
  await using shared = await openStructures(space, { size: '1MiB' })
  ;(await shared.counter('counter')).addSync()
}

for (const dies of [false, true])
  test(`each call of the disk ${dies ? 'is the last one of a killed process' : 'may fail'}`, async () => {
    const file = newFile()
    await using space = await open('interrupted')
    await fill(space)
    await saveSpace(space, file)
    await using shared = await openStructures(space)
    const counter = await shared.counter('counter')
    for (let last = 1; ; last += 1) {
      const before = await verifySave(file)
      counter.addSync()
      const { disk, calls } = failingDisk(last, dies)
      const failure = await saveSpace(space, file, { disk }).then(
        () => undefined,
        (error) => error as Error & { code?: string },
      )
      const after = await verifySave(file)
      if (failure === undefined) {
        assert.ok(last > 8 && calls() < last, `${calls()} calls`)
        assert.ok(after.savedAt >= before.savedAt)
        break
      }
      assert.equal(failure.code, 'ERR_AETHER_SAVE_FAILED')
      assert.ok(after.structures === 1 && after.regions === 2)
    }
    await saveSpace(space, file)
    assert.equal(existsSync(`${file}.new`), false)
  })

test('a signal stops it, and leaves nothing', async () => {
  const file = newFile()
  await using space = await open('stopped')
  await fill(space)
  await assert.rejects(space.save({ file, signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
  const abort = new AbortController()
  const disk: Disk = {
    ...realDisk,
    write: async (...args) => {
      abort.abort(new Error('enough'))
      await realDisk.write(...args)
    },
  }
  await assert.rejects(saveSpace(space, file, { disk, signal: abort.signal }), { message: 'enough' })
  assert.deepEqual([existsSync(file), existsSync(`${file}.new`)], [false, false])
})

test('two saves to one file come one after the other', async () => {
  const file = newFile()
  await using space = await open('both')
  await using other = await open('both')
  await fill(space)
  const results = await Promise.all([space.save({ file }), other.save({ file }), space.save({ file })])
  assert.equal((await verifySave(file)).file, file)
  assert.equal(new Set(results.map(({ bytes }) => bytes)).size, 1)
  assert.equal(statSync(file).size, results[0]!.bytes)
})

test('what cannot be written to is refused with advice', async () => {
  await using space = await open('refused')
  await assert.rejects(space.save(), { code: 'ERR_AETHER_INVALID_ARGUMENT', message: /pass options\.file/ })
  await assert.rejects(space.save({ file: join(scratch, 'none', 'a') }), {
    code: 'ERR_AETHER_SAVE_FAILED',
    message: /make its directory first/,
  })
  const linked = newFile()
  symlinkSync('/dev/null', `${linked}.new`)
  await assert.rejects(space.save({ file: linked }), { message: /remove the symbolic link/ })
  await assert.rejects(open('refused', { save: {} }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await assert.rejects(open('refused', { save: { file: linked, every: '1 fortnight' } }), {
    message: /not a known unit/,
  })
})
