import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const TIMEOUT = { code: 'ERR_AETHER_TIMEOUT' }

describe('locks of a group and of its regions', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 4)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  const lock = (rank: number, name: string, options: object = {}): Promise<number | null> =>
    ranks.on(rank, 'lock', name, null, options)

  for (const coherence of ['hardware', 'mesi']) {
    test(`what is done under a region's lock is done by one at a time: ${coherence}`, async () => {
      await ranks.all('open', coherence, { coherence, size: 4096 })
      await ranks.all('addUnderLock', coherence, 64, 60)
      assert.equal(await ranks.on(1, 'fetchAdd', coherence, 64, 0n), 240n)
    })
  }

  test('readers share, a writer waits for them and they for him, in the order of asking', async () => {
    assert.equal(await lock(0, 'a', { mode: 'read' }), null)
    assert.equal(await lock(1, 'a', { mode: 'read' }), null)
    const order: string[] = []
    const writer = lock(2, 'a').then(() => order.push('writer'))
    await assert.rejects(lock(3, 'a', { timeoutMs: 300 }), { ...TIMEOUT, message: /ranks 0 and 1/ })
    const reader = lock(3, 'a', { mode: 'read' }).then(() => order.push('reader'))
    await ranks.on(0, 'unlock', 'a')
    assert.deepEqual(order, [])
    await ranks.on(1, 'unlock', 'a')
    await writer
    assert.deepEqual(order, ['writer'])
    await ranks.on(2, 'unlock', 'a')
    await reader
    await ranks.on(3, 'unlock', 'a')
  })

  test('a wait can be given up, by a time and by a signal, and takes nothing along', async () => {
    await lock(0, 'b')
    await assert.rejects(lock(1, 'b', { timeoutMs: 50 }), { ...TIMEOUT, message: /'group\/b'.* 50 ms.*rank 0/ })
    await assert.rejects(lock(2, 'b', { abortMs: 50 }), { name: 'AbortError' })
    await ranks.on(0, 'unlock', 'b')
    assert.equal(await lock(3, 'b'), null)
    await ranks.on(3, 'unlock', 'b')
  })

  test('a region has a lock for each name, apart from those of other regions and of the group', async () => {
    await ranks.all('open', 'r', { coherence: 'mesi', size: 4096 })
    await ranks.on(0, 'lock', 'one', 'r', {})
    await ranks.on(1, 'lock', 'two', 'r', { name: 'two' })
    await ranks.on(2, 'lock', 'three', 'mesi', {})
    await lock(3, 'one')
    for (const [rank, name] of ['one', 'two', 'three', 'one'].entries()) await ranks.on(rank, 'unlock', name)
  })

  test('wrong arguments are typed errors', async () => {
    const wrong = { code: 'ERR_AETHER_INVALID_ARGUMENT' }
    await assert.rejects(lock(0, ''), wrong)
    await assert.rejects(lock(0, 'x'.repeat(300)), wrong)
    await assert.rejects(lock(0, 'x', { mode: 'both' }), wrong)
    await assert.rejects(lock(0, 'x', { timeoutMs: -1 }), wrong)
    await assert.rejects(ranks.on(0, 'lock', 'x', 'r', { name: 7 }), wrong)
  })

  test('the next one is told that the holder died, until one has put it right', async () => {
    // Names that between them are kept by every rank, the dying one included.
    const names = ['k', 'l', 'm', 'n']
    await Promise.all(names.map((name) => lock(1, name)))
    const waiting = names.map((name) => lock(2, name))
    await ranks.kill(1)
    assert.deepEqual(await Promise.all(waiting), [1, 1, 1, 1])
    await Promise.all(names.map((name) => ranks.on(2, 'unlock', name)))
    assert.deepEqual(await Promise.all(names.map((name) => lock(3, name))), [null, null, null, null])
  })
})
