import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, ReadOnlyError } from '../../src/dsm/index.ts'
import { probeUserfault } from '../../src/dsm/mmu/probe.ts'
import { native } from '../../src/native/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./coherent/fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

const READ_ONLY = 'ERR_AETHER_READ_ONLY'
const writes = [
  ['write', 0, Uint8Array.of(1)],
  ['writeSync', 0, Uint8Array.of(1)],
  ['fetchAdd', 0, 1n],
  ['fetchAddSync', 0, 1n],
  ['compareSwap', 0, 0n, 1n],
  ['compareSwapSync', 0, 0n, 1n],
  ['swap', 0, 1n],
  ['swapSync', 0, 1n],
  ['prefetch', 0, 8, { access: 'write' }],
] as const

describe('a region that some open for reading only', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 2)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  for (const coherence of ['hardware', 'mesi']) {
    test(`is read there, by calls and views, and every call that writes is a typed error: ${coherence}`, async () => {
      await ranks.on(0, 'open', coherence, { coherence, size: 8192 })
      await ranks.on(1, 'open', coherence, { coherence, size: 8192, access: 'read' })
      await ranks.on(0, 'writeBytes', coherence, 4090, new Uint8Array(12).fill(4))
      for (const way of noViews && coherence === 'mesi' ? ['async', 'sync'] : ['async', 'sync', 'view'])
        assert.deepEqual(
          [...(await ranks.on<Uint8Array>(1, 'readBytes', coherence, 4090, 12, way))],
          new Array(12).fill(4),
        )
      assert.deepEqual(
        await ranks.on(1, 'errorsOf', coherence, writes),
        writes.map(() => READ_ONLY),
      )
      await ranks.on(1, 'prefetch', coherence, 0, 8192)
      assert.deepEqual(
        await ranks.all('fetchAdd', coherence, 0, 0n).catch((error: Error) => error.name),
        'ReadOnlyError',
      )
      assert.equal(await ranks.on(0, 'fetchAdd', coherence, 0, 0n), 0n)
    })
  }

  test('is open with one access at a time in a process, and may be opened again with another', async () => {
    await ranks.on(0, 'open', 'again', { coherence: 'mesi', size: 4096 })
    await assert.rejects(ranks.on(0, 'open', 'again', { coherence: 'mesi', access: 'read' }), {
      code: 'ERR_AETHER_REGION_MISMATCH',
      message: /access 'write'; it can be opened differently when it was closed/,
    })
    await ranks.on(1, 'open', 'again', { coherence: 'mesi', access: 'read' })
    await ranks.on(1, 'close', 'again')
    await ranks.on(1, 'open', 'again', { coherence: 'mesi', access: 'write' })
    assert.equal(await ranks.on(1, 'fetchAdd', 'again', 8, 1n), 0n)
    await assert.rejects(ranks.on(0, 'open', 'wrong', { size: 4096, access: 'append' }), {
      code: 'ERR_AETHER_INVALID_ARGUMENT',
    })
  })

  for (const coherence of ['mesi', 'hardware']) {
    test(`a store into its view ends the process with a sentence, and nothing is written: ${coherence}`, {
      skip: coherence === 'mesi' ? noViews : false,
    }, async () => {
      await using others = new Ranks(fixture, 2)
      await others.all('join')
      await others.on(0, 'open', 'ledger', { coherence, size: 8192 })
      await others.on(1, 'open', 'ledger', { coherence, size: 8192, access: 'read' })
      assert.equal(await others.on(1, 'getElement', 'ledger', 'int32', 5), 0)
      await assert.rejects(others.on(1, 'setElement', 'ledger', 'int32', 5, 7))
      const ended = await others.processes[1]!.ended()
      assert.equal(ended.code, 72, ended.err)
      assert.match(ended.err, /region 'ledger' is open for reading only in this process, and a view of it was written/)
      // The page may have gone with the dead rank; where it is here, it is as it was.
      if (coherence === 'hardware') assert.equal(await others.on(0, 'getElement', 'ledger', 'int32', 5), 0)
    })
  }
})

test("a space's regions can be opened for reading only, and what is closed can be written by nobody's harm", async () => {
  await using space = await open('access-modes')
  await using written = await space.openRegion('r', { size: 8192 })
  const read = await space.openRegion('r', { access: 'read' })
  assert.deepEqual([written.access, read.access], ['write', 'read'])
  written.int32[3] = 9
  const view = read.int32
  assert.equal(view[3], 9)
  assert.throws(() => read.writeSync(0, Uint8Array.of(1)), ReadOnlyError)
  await read.close()
  // Memory of nobody lies there now, which may be written.
  view[3] = 1
  assert.equal(written.int32[3], 9)
})

test('only a view can be made read-only', () => {
  const memory = new Uint8Array(8192)
  const address = Math.ceil(native.addressOf(memory) / 4096) * 4096
  assert.throws(() => native.makeViewReadOnly(address, 4096, 'no'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})
