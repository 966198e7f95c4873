import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PageCache } from '../../../src/dsm/coherent/page-cache.ts'
import type { MemoryUse } from '../../../src/dsm/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { drawn } from '../../support/drawn.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const ways = 'refused' in probe ? ['async', 'sync'] : ['async', 'sync', 'view']

const MIB = 2 ** 20
const BOUND = MIB / 2
type Swept = { wrong: number[]; residentBytes: number; registeredBytes: number }

describe('memory for pages of other ranks', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 3)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  for (const placement of drawn(['block', 'cyclic', { blockCyclic: 32 }, 'first-touch'], 2)) {
    test(`stays within its bound whatever is touched, and nothing written is lost: ${JSON.stringify(placement)}`, async () => {
      const name = `bounded-${JSON.stringify(placement)}`
      const size = 6 * MIB
      const pages = size / 4096
      await ranks.all('open', name, { coherence: 'mesi', size, placement, cacheSize: BOUND })
      // Where who touches first is home, that is rank 2; else rank 0 sweeps the last third, rank 2's.
      const [from, to] = [(2 * pages) / 3, pages]
      await ranks.on(2, 'seedPages', name, from, to)
      const isStrewn = placement === 'cyclic' || typeof placement === 'object'
      const homeBytes = isStrewn ? ((to - from) * 4096) / 3 + 32 * 4096 : 0
      for (const [round, way] of ways.entries()) {
        const swept = await ranks.on<Swept>(0, 'sweep', name, from, to, way, round + 1)
        assert.deepEqual(swept.wrong, [])
        assert.ok(swept.residentBytes <= BOUND + homeBytes, `${way}: ${swept.residentBytes} resident`)
        assert.ok(swept.registeredBytes <= BOUND + homeBytes, `${way}: ${swept.registeredBytes} registered`)
        assert.ok(swept.residentBytes > 0 && swept.registeredBytes > 0)
      }
      // Somebody who has no bound of another kind to run into sees what the last one wrote.
      const seen = await ranks.on<Swept>(1, 'sweep', name, from, to, 'async', ways.length + 1)
      assert.deepEqual(seen.wrong, [])
    })
  }

  test('a page is given back right after its use where nothing is to be kept', async () => {
    await ranks.all('open', 'uncached', { coherence: 'mesi', size: '64KiB', cacheEnabled: false })
    for (const way of ways) {
      await ranks.on(1, 'writeBytes', 'uncached', 60_000, Uint8Array.of(ways.indexOf(way) + 1), way)
      // Page 14 is at rank 2, the last; nobody but it has it soon after, though nobody asked for it.
      let page = await ranks.on<{ state: string; owner: number | null }>(2, 'page', 'uncached', 14)
      while (page.owner === 1) page = await ranks.on(2, 'page', 'uncached', 14)
      assert.deepEqual(
        [...(await ranks.on<Uint8Array>(2, 'readBytes', 'uncached', 60_000, 1))],
        [ways.indexOf(way) + 1],
      )
    }
    assert.equal((await ranks.on<MemoryUse>(1, 'memoryUse', 'uncached')).cacheSize, 0)
  })

  test('random calls of all agree with a model under a bound of four pages', async () => {
    for (const cache of [{ cacheSize: 4 * 4096 }, { cacheEnabled: false }]) {
      const name = `model-${Object.keys(cache)[0]}`
      await ranks.all('open', name, { coherence: 'mesi', size: 96 * 4096, placement: 'cyclic', ...cache })
      for (const grain of [96 * 1024, 1000]) {
        const models = await ranks.all<Uint8Array>('compareWithModel', name, 7 + grain, 40, grain, ways)
        const seen = await ranks.on<Uint8Array>(0, 'readBytes', name, 0, 96 * 4096)
        for (const [rank, model] of models.entries())
          for (let unit = 0; unit * grain < model.length; unit += 1)
            assert.equal(
              Buffer.compare(
                seen.subarray((unit * 3 + rank) * grain, (unit * 3 + rank + 1) * grain),
                model.subarray(unit * grain, (unit + 1) * grain),
              ),
              0,
              `${name} rank ${rank} unit ${unit}`,
            )
        await ranks.on(0, 'writeBytes', name, 0, new Uint8Array(96 * 4096))
      }
    }
  })

  test('gives way to what is pinned, and to nothing else', async () => {
    await ranks.all('open', 'tight', { coherence: 'mesi', size: 96 * 4096, cacheSize: 8 * 4096 })
    // Four of eight: what is not pinned has to make do with the rest.
    await ranks.on(0, 'pin', 'tight', 64 * 4096, 4 * 4096, { access: 'write' })
    for (const way of ways) {
      await ranks.on(0, 'readBytes', 'tight', 68 * 4096, 28 * 4096, way)
      const { residentBytes } = await ranks.on<MemoryUse>(0, 'memoryUse', 'tight')
      assert.ok(residentBytes <= 8 * 4096, `${residentBytes}`)
    }
    await ranks.on(0, 'unpin', 'tight')
  })

  test('every rank has its own bound; what cannot be one is refused', async () => {
    await ranks.on(0, 'open', 'own', { coherence: 'mesi', size: MIB, cacheSize: '64KiB' })
    await ranks.on(1, 'open', 'own', { coherence: 'mesi', size: MIB })
    assert.deepEqual(
      (await Promise.all([0, 1].map((rank) => ranks.on<MemoryUse>(rank, 'memoryUse', 'own')))).map(
        (use) => use.cacheSize,
      ),
      [65_536, null],
    )
    const wrong = { code: 'ERR_AETHER_INVALID_ARGUMENT' }
    for (const cache of [
      { cacheSize: 4096 },
      { cacheSize: 0 },
      { cacheSize: 'much' },
      { cacheEnabled: 'no' },
      { cacheEnabled: false, cacheSize: MIB },
    ])
      await assert.rejects(
        ranks.on(0, 'open', 'wrong', { coherence: 'mesi', size: MIB, ...cache }),
        wrong,
        JSON.stringify(cache),
      )
    await assert.rejects(ranks.on(0, 'open', 'own', { coherence: 'mesi' }), { code: 'ERR_AETHER_REGION_MISMATCH' })
    await ranks.on(0, 'close', 'own')
    await assert.rejects(ranks.on(0, 'open', 'own', { coherence: 'mesi' }), { code: 'ERR_AETHER_REGION_MISMATCH' })
    await ranks.on(0, 'open', 'own', { coherence: 'mesi', cacheSize: '64KiB' })
  })
})

test('memory is not given back under a page that has come and gone while the release was under way', () => {
  const releases: { readonly isUnused: () => boolean; readonly done: () => void }[] = []
  const cache = new PageCache({
    limitBytes: 0,
    unitBytes: 4096,
    pageBytes: 4096,
    now: () => 0,
    at: () => {},
    isHere: () => false,
    isBusy: () => false,
    takeUsed: () => false,
    evict: () => true,
    release: (_unit, isUnused, done) => releases.push({ isUnused, done }),
  })
  cache.enter(1)
  cache.evicted(1)
  assert.equal(releases[0]!.isUnused(), true)
  // The page comes, is written, and is on its way out again.
  cache.enter(1)
  cache.evicted(1)
  assert.equal(releases[0]!.isUnused(), false)
  releases[0]!.done()
  assert.equal(releases.length, 2)
  assert.equal(releases[1]!.isUnused(), true)
  releases[1]!.done()
  assert.deepEqual([releases.length, cache.usedBytes], [2, 0])
})
