import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { drawn } from '../../support/drawn.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

const RANKS = 2
const PAGES = 512
const watched = drawn(['mesi', 'moesi', 'directory', 'token'], 2)

describe('pages that are touched for the first time', { skip: noViews }, () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, RANKS)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  for (const coherence of watched)
    for (const placement of ['block', 'cyclic'])
      for (const downwards of [false, true])
        test(`lose no store of all at once: ${coherence}, ${placement}, ${downwards ? 'down' : 'up'}wards`, async () => {
          const name = `first-${coherence}-${placement}-${downwards}`
          await ranks.all('open', name, { size: PAGES * 4096, coherence, placement })
          await ranks.all('addToPages', name, PAGES, downwards)
          for (let rank = 0; rank < RANKS; rank += 1)
            assert.deepEqual(await ranks.on(rank, 'pagesOtherThan', name, PAGES, RANKS), [], `seen by rank ${rank}`)
        })

  for (const coherence of watched)
    test(`lose no store of one after the other: ${coherence}`, async () => {
      const name = `turns-${coherence}`
      await ranks.all('open', name, { size: RANKS * PAGES * 4096, coherence, placement: 'block' })
      // Pages of rank 0's are had by rank 1 first, then by their home, which has nothing else to do: what it is let
      // into, it writes at once.
      await ranks.on(1, 'addToPages', name, PAGES, true)
      await ranks.on(0, 'addToPages', name, PAGES, true)
      for (const rank of [1, 0]) assert.deepEqual(await ranks.on(rank, 'pagesOtherThan', name, PAGES, 2), [])
    })
})
