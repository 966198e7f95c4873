import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

describe('accesses that need two pages at once', { skip: noViews }, () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 3)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  for (const [pageSize, bytes, rounds] of [
    ['4KiB', 4096, 400],
    ['2MiB', 2 ** 21, 40],
  ] as const) {
    test(`retire although every rank wants the same two: pages of ${pageSize}`, async () => {
      for (const placement of ['cyclic', 'block']) {
        const name = `${pageSize}-${placement}`
        await ranks.all('open', name, { coherence: 'mesi', size: 4 * bytes, pageSize, placement })
        // What it adds to is not atomic: that every access ends is all there is to see.
        assert.deepEqual(await ranks.all('straddle', name, bytes, rounds), [rounds, rounds, rounds])
      }
    })
  }
})
