/**
 * Regions of every protocol but mesi, whose file tests what all share: what hangs on the protocol, with real processes,
 * page faults and moved bytes.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false
const ways = noViews ? ['async', 'sync'] : ['async', 'sync', 'view']

for (const coherence of [...protocols.keys()].filter((name) => name !== 'mesi')) {
  describe(`a ${coherence} region of four ranks`, () => {
    let ranks: Ranks
    let last = 0
    async function region(options: object): Promise<string> {
      const name = `region-${++last}`
      await ranks.all('open', name, { coherence, ...options })
      return name
    }

    before(async () => {
      ranks = new Ranks(fixture, 4)
      await ranks.all('join')
    })
    after(() => ranks[Symbol.asyncDispose]())

    test('what each rank writes is seen by all, by every pair of ways', async () => {
      const name = await region({ size: '64KiB' })
      let value = 0
      for (const writing of ways)
        for (const reading of ways) {
          value += 1
          await ranks.on(value % 4, 'writeBytes', name, 4090, new Uint8Array(12).fill(value), writing)
          for (const seen of await ranks.all<Uint8Array>('readBytes', name, 4090, 12, reading))
            assert.deepEqual([...seen], new Array(12).fill(value), `${writing}, ${reading}`)
        }
    })

    test('atomic additions through views of one page are exact', { skip: noViews }, async () => {
      const name = await region({ size: 4096 })
      await ranks.all('addByView', name, 5, 200_000)
      assert.deepEqual(await ranks.all('load', name, 5), [8e5, 8e5, 8e5, 8e5])
    })

    test('fetchAdd, fetchAddSync and views add exactly to the same word', async () => {
      const name = await region({ size: 8192 })
      await ranks.all('addMixed', name, 4096, 300, ways)
      assert.equal(await ranks.on(2, 'fetchAdd', name, 4096, 0n), 1200n)
    })

    for (const placement of ['block', 'cyclic']) {
      test(`random calls agree with a model: placement ${placement}`, async () => {
        const bytes = 2 ** 17
        const name = await region({ size: bytes, placement })
        // Ranges of one rank only, first apart from each other by pages, then side by side on every page.
        for (const grain of [bytes / 4, 1000]) {
          const models = await ranks.all<Uint8Array>('compareWithModel', name, 17 + grain, 25, grain, ways)
          const seen = await ranks.on<Uint8Array>(last % 4, 'readBytes', name, 0, bytes)
          for (const [rank, model] of models.entries())
            for (let unit = 0; unit * grain < model.length; unit += 1) {
              const ours = seen.subarray((unit * 4 + rank) * grain, (unit * 4 + rank + 1) * grain)
              const expected = model.subarray(unit * grain, (unit + 1) * grain)
              assert.equal(Buffer.compare(ours, expected), 0, `rank ${rank} unit ${unit}`)
            }
          await ranks.on(0, 'writeBytes', name, 0, new Uint8Array(bytes))
        }
      })
    }

    test('overlapping writes within a page are never torn for explicit calls', async () => {
      const name = await region({ size: '16KiB' })
      await ranks.all('wholeUnits', name, 5, 100, ['async', 'sync'])
    })

    test('page() names the owner of what was written', async () => {
      const name = await region({ size: '64KiB', placement: 'cyclic' })
      await ranks.on(1, 'fetchAdd', name, 2 * 4096, 7n)
      const page = (): Promise<Record<string, unknown>> => ranks.on(2, 'page', name, 2)
      // The writer has its page before the home has heard from everybody.
      let owned = await page()
      while (owned['owner'] !== 1) owned = await page()
      assert.equal(await ranks.on(0, 'fetchAdd', name, 2 * 4096, 0n), 7n)
    })

    test('a region is opened late by its home: who needs its pages waits', async () => {
      const open = { coherence, size: '32KiB' }
      await ranks.on(1, 'open', 'late', open)
      // Page 0 is at rank 0, which has not opened it.
      const waiting = ranks.on<bigint>(1, 'fetchAdd', 'late', 0, 4n)
      assert.equal(await ranks.on(1, 'fetchAdd', 'late', 2 * 4096, 1n), 0n)
      await ranks.on(0, 'open', 'late', open)
      assert.equal(await waiting, 0n)
      assert.equal(await ranks.on(0, 'fetchAdd', 'late', 0, 0n), 4n)
    })

    test('the kind is one of the parameters that ranks agree on', async () => {
      await ranks.on(0, 'open', 'fixed', { coherence, size: '1MiB' })
      assert.deepEqual(await ranks.on(3, 'open', 'fixed', { coherence }), { size: 2 ** 20, coherence, pageSize: 4096 })
      await assert.rejects(ranks.on(2, 'open', 'fixed', { coherence: 'mesi', size: '1MiB' }), {
        code: 'ERR_AETHER_REGION_MISMATCH',
        message: new RegExp(`coherence ${coherence},.*coherence mesi,`),
      })
    })
  })
}
