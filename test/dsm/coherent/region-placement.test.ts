import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { PageDescription } from '../../../src/dsm/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)

describe('where the pages of a region have their home', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 3)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  const open = (name: string, placement: unknown): Promise<unknown> =>
    ranks.all('open', name, { coherence: 'mesi', size: '36KiB', placement })
  const homes = async (name: string, rank: number): Promise<(number | null)[]> => {
    const pages = await Promise.all(
      Array.from({ length: 9 }, (_, page) => ranks.on<PageDescription>(rank, 'page', name, page)),
    )
    return pages.map(({ home }) => home)
  }

  test('runs in turn, and what the program says page by page', async () => {
    await open('runs', { blockCyclic: 2 })
    await open('said', [2, 2, 1, 0, 0, 1, 2, 1, 0])
    for (const name of ['runs', 'said']) {
      await ranks.on(1, 'writeBytes', name, 0, new Uint8Array(36_864).fill(5))
      for (const seen of await ranks.all<Uint8Array>('readBytes', name, 0, 36_864))
        assert.ok(seen.every((byte) => byte === 5))
    }
    assert.deepEqual(await homes('runs', 0), [0, 0, 1, 1, 2, 2, 0, 0, 1])
    assert.deepEqual(await homes('said', 0), [2, 2, 1, 0, 0, 1, 2, 1, 0])
  })

  test('the rank that touches a page first is its home, and what all write is exact', async () => {
    await open('touched', 'first-touch')
    assert.deepEqual(await homes('touched', 0), new Array(9).fill(null))
    // Each rank the pages of its own third, in one of the orders of asking: own register, another's.
    await Promise.all([0, 1, 2].map((rank) => ranks.on(rank, 'fillPages', 'touched', 3 * rank, 3 * rank + 3, rank + 1)))
    for (const rank of [0, 1, 2]) assert.deepEqual(await homes('touched', rank), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    for (const seen of await ranks.all<Uint8Array>('readBytes', 'touched', 0, 36_864))
      assert.deepEqual(
        Array.from({ length: 9 }, (_, page) => seen[page * 4096]),
        [1, 1, 1, 2, 2, 2, 3, 3, 3],
      )
  })

  test('a page that all touch at once has one home, and no addition is lost', async () => {
    await open('raced', 'first-touch')
    for (let page = 0; page < 9; page += 1) await ranks.all('addMixed', 'raced', page * 4096 + 8, 20, ['async', 'sync'])
    const [first, ...others] = await Promise.all([0, 1, 2].map((rank) => homes('raced', rank)))
    assert.ok(first?.every((home) => home !== null))
    for (const other of others) assert.deepEqual(other, first)
    for (let page = 0; page < 9; page += 1)
      assert.equal(await ranks.on(page % 3, 'fetchAdd', 'raced', page * 4096 + 8, 0n), 60n)
  })

  test('ranks that do not say the same are refused, and told what there is', async () => {
    const mismatch = { code: 'ERR_AETHER_REGION_MISMATCH' }
    const size = '36KiB'
    const other = [0, 2, 1, 0, 0, 1, 2, 1, 0]
    for (const placement of ['block', 'first-touch', { blockCyclic: 3 }, other]) {
      await assert.rejects(ranks.on(1, 'open', 'runs', { coherence: 'mesi', size, placement }), mismatch)
      await assert.rejects(ranks.on(1, 'open', 'said', { coherence: 'mesi', size, placement }), mismatch)
    }
    await ranks.on(0, 'open', 'late', { coherence: 'mesi', size, placement: other })
    // What was said page by page has to be said again; the rest is found.
    await assert.rejects(ranks.on(1, 'open', 'late', { coherence: 'mesi' }), mismatch)
    await ranks.on(1, 'open', 'late', { coherence: 'mesi', placement: other })
    await ranks.on(0, 'open', 'later', { coherence: 'mesi', size, placement: { blockCyclic: 3 } })
    await ranks.on(2, 'open', 'later', { coherence: 'mesi' })
  })

  test('a home that is none of the ranks, and a list of another length, are argument errors', async () => {
    const wrong = { code: 'ERR_AETHER_INVALID_ARGUMENT' }
    for (const placement of [[0, 1], [0, 1, 2, 0, 1, 2, 0, 1, 3], { blockCyclic: -1 }, 'anywhere'])
      await assert.rejects(ranks.on(0, 'open', 'wrong', { coherence: 'mesi', size: '36KiB', placement }), wrong)
  })

  test('a page whose register dies before anybody has touched it cannot be had; the others can', async () => {
    await open('orphaned', 'first-touch')
    // Known at rank 0 before: its register is asked no more. Pages 2, 5 and 8 have theirs at rank 2.
    await ranks.on(0, 'writeBytes', 'orphaned', 5 * 4096, Uint8Array.of(3))
    await ranks.kill(2)
    await assert.rejects(ranks.on(1, 'readBytes', 'orphaned', 8 * 4096, 1), { code: 'ERR_AETHER_PAGE_LOST' })
    // What one survivor knew of its register's decisions, all know.
    for (const rank of [0, 1])
      assert.deepEqual([...(await ranks.on<Uint8Array>(rank, 'readBytes', 'orphaned', 5 * 4096, 1))], [3])
    await ranks.on(1, 'writeBytes', 'orphaned', 4096, Uint8Array.of(4))
    assert.deepEqual([...(await ranks.on<Uint8Array>(0, 'readBytes', 'orphaned', 4096, 1))], [4])
  })
})
