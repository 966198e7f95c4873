import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PageDescription } from '../../../src/dsm/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

type Counted = Record<string, number>

describe('ranges that a program knows that it is going to use', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 2)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  /** A region of so many pages whose second half has its home at rank 1, which rank 0 has not touched. */
  async function open(name: string, pages: number, options: object = {}): Promise<void> {
    await ranks.all('open', name, { coherence: 'mesi', size: pages * 4096, ...options })
  }
  /** What rank 0's agent counted during `run`. */
  async function counted(run: () => Promise<unknown>): Promise<Counted> {
    const before = await ranks.on<Counted>(0, 'profile', 0)
    await run()
    const now = await ranks.on<Counted>(0, 'profile', 0)
    return Object.fromEntries(Object.entries(now).map(([name, value]) => [name, value - (before[name] ?? 0)]))
  }
  const numbers = (from: number, to: number, step = 1): number[] =>
    Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step)

  for (const access of ['read', 'write'] as const) {
    test(`are brought at once, and then used without a fault: ${access}`, async () => {
      const name = `acquired-${access}`
      await open(name, 1600)
      // The view is there before the pages are: else each is mapped into it when it is touched.
      if (!noViews) await ranks.on(0, 'touchPages', name, [], false)
      const during = await counted(() => ranks.on(0, 'acquire', name, 800 * 4096, 800 * 4096, access))
      assert.equal(during['pagesReceived'], 800)
      if (noViews) return
      const after = await counted(() => ranks.on(0, 'touchPages', name, numbers(800, 1600), access === 'write'))
      assert.deepEqual([after['readFaults'], after['writeFaults']], [0, 0])
    })
  }

  test('are given up and written back, so that the next one has them from their home', async () => {
    await open('released', 64)
    await ranks.on(0, 'writeBytes', 'released', 32 * 4096, new Uint8Array(32 * 4096).fill(6))
    assert.equal((await ranks.on<PageDescription>(1, 'page', 'released', 40)).owner, 0)
    const during = await counted(() => ranks.on(0, 'releaseRange', 'released', 0, 64 * 4096))
    assert.equal(during['evictions'], 32)
    const home = await ranks.on<PageDescription>(1, 'page', 'released', 40)
    assert.deepEqual([home.state, home.owner, home.sharers], ['U', null, []])
    assert.ok(
      (await ranks.on<Uint8Array>(1, 'readBytes', 'released', 32 * 4096, 32 * 4096)).every((byte) => byte === 6),
    )
    await ranks.on(0, 'releaseRange', 'released', 0, 0)
  })

  test('are kept while they are pinned, and nobody else gets them until then', async () => {
    await open('pinned', 64)
    await ranks.on(0, 'pin', 'pinned', 40 * 4096, 8 * 4096, { access: 'write' })
    let seen = false
    const waiting = ranks.on<Uint8Array>(1, 'readBytes', 'pinned', 41 * 4096, 1).then((bytes) => {
      seen = true
      return bytes
    })
    await ranks.on(0, 'releaseRange', 'pinned', 0, 64 * 4096)
    await sleep(50)
    await ranks.on(0, 'writeBytes', 'pinned', 42 * 4096, Uint8Array.of(9), noViews ? 'sync' : 'view')
    assert.equal(seen, false)
    await ranks.on(0, 'unpin', 'pinned')
    assert.equal((await waiting)[0], 0)
    assert.equal((await ranks.on<Uint8Array>(1, 'readBytes', 'pinned', 42 * 4096, 1))[0], 9)
  })

  test('that both pin at once are had by one after the other', async () => {
    await open('both', 32)
    const pinOnce = async (rank: number): Promise<void> => {
      for (let round = 0; round < 10; round += 1) {
        await ranks.on(rank, 'pin', 'both', 0, 32 * 4096, { access: 'write' })
        await ranks.on(rank, 'unpin', 'both')
      }
    }
    await Promise.all([pinOnce(0), pinOnce(1)])
  })

  test('mean the same in one memory of all', async () => {
    await ranks.all('open', 'one', { coherence: 'hardware', size: 8192 })
    await ranks.on(0, 'acquire', 'one', 0, 8192, 'write')
    await ranks.on(0, 'pin', 'one', 0, 8192)
    await ranks.on(0, 'unpin', 'one')
    await ranks.on(0, 'releaseRange', 'one', 0, 8192)
  })

  test('that cannot be are typed errors', async () => {
    await open('wrong', 64, { cacheSize: 4 * 4096 })
    const [bounds, argument] = ['ERR_AETHER_OUT_OF_BOUNDS', 'ERR_AETHER_INVALID_ARGUMENT']
    const calls = [
      [['acquire', 0, 65 * 4096, 'read'], bounds],
      [['acquire', 0, 8, 'both'], argument],
      [['release', -1, 8], bounds],
      [['pin', 0, 64 * 4096, { access: 'write' }], argument],
      [['pin', 64 * 4096, 1], bounds],
      [['pin', 0, 1, { access: 'execute' }], argument],
    ] as const
    for (const [call, code] of calls)
      assert.deepEqual(await ranks.on(0, 'errorsOf', 'wrong', [call]), [code], JSON.stringify(call))
  })

  for (const write of [false, true]) {
    test(`that are ${write ? 'written' : 'read'} page by page are fetched ahead; no more than a batch is fetched in vain`, {
      skip: noViews,
    }, async () => {
      const name = `ahead-${write}`
      await open(name, 1024)
      const during = await counted(() => ranks.on(0, 'touchPages', name, numbers(512, 812), write))
      assert.ok((during['prefetches'] ?? 0) >= 290, JSON.stringify(during))
      assert.ok((during['pagesReceived'] ?? 0) <= 300 + 64, JSON.stringify(during))
    })
  }

  test('that are jumped about in are not fetched ahead', { skip: noViews }, async () => {
    await open('jumps', 1024)
    for (const step of [3, 7]) {
      const during = await counted(() => ranks.on(0, 'touchPages', 'jumps', numbers(512 + step, 1024, step), false))
      assert.equal(during['prefetches'], 0)
    }
  })
})
