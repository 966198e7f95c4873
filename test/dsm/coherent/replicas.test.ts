/** Regions with replicas, of real processes that are killed: what was fenced outlives any one of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MemoryUse, protocols } from '../../../src/dsm/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

/** Ranks with an open region of 12 pages: of three, 0 to 3 at home at rank 0, and so on. */
async function opened(count: number, coherence: string, options: object = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, count)
  await ranks.all('join')
  await ranks.all('open', 'r', { coherence, size: 12 * 4096, replicas: 1, ...options })
  return ranks
}

const read = async (ranks: Ranks, rank: number, page: number, name: string = 'r'): Promise<number | undefined> =>
  (await ranks.on<Uint8Array>(rank, 'readBytes', name, page * 4096, 1))[0]

test('what a killed rank had fenced lives on, at its own home and elsewhere; pages that nobody had are zeros', async () => {
  const names = [...protocols.keys()]
  await using ranks = new Ranks(fixture, 3)
  await ranks.all('join')
  // One death is met by all protocols.
  for (const name of names) {
    await ranks.all('open', name, { coherence: name, size: 12 * 4096, replicas: 1 })
    // At home elsewhere, at home at the victim, written by it; and one that it has at second hand.
    await ranks.on(1, 'fillPages', name, 0, 1, 5)
    await ranks.on(1, 'fillPages', name, 4, 5, 6)
    await ranks.on(2, 'fillPages', name, 8, 9, 9)
    await ranks.on(1, 'fetchAdd', name, 8 * 4096, 0n)
    await ranks.on(1, 'fence', name)
    await ranks.on(1, 'fillPages', name, 0, 1, 7)
  }
  await ranks.kill(1)
  for (const name of names) {
    for (const rank of [2, 0]) {
      const kept = [0, 4, 8, 6].map((page) => read(ranks, rank, page, name))
      assert.deepEqual(await Promise.all(kept), [5, 6, 9, 0], name)
    }
    for (const page of [0, 4, 6, 8]) await ranks.on(page % 3 === 0 ? 2 : 0, 'fillPages', name, page, page + 1, 1)
    for (const page of [0, 4, 6, 8]) assert.equal(await read(ranks, 2, page, name), 1, name)
  }
  await Promise.all([0, 2].map((rank) => ranks.on(rank, 'closeGroup')))
})

test('a barrier fences, and so does a page that goes to another rank', async () => {
  await using ranks = await opened(3, 'directory')
  await ranks.on(1, 'fillPages', 'r', 4, 6, 5)
  await ranks.all('barrier')
  const uses = await ranks.all<MemoryUse>('memoryUse', 'r')
  assert.deepEqual(
    uses.map(({ replicaBytes }) => replicaBytes),
    [0, 8192, 8192],
  )
  await ranks.on(2, 'fillPages', 'r', 6, 7, 8)
  // Rank 1 has it alone now, and has not written it.
  await ranks.on(1, 'fetchAdd', 'r', 6 * 4096, 0n)
  await ranks.kill(1)
  assert.deepEqual([await read(ranks, 0, 4), await read(ranks, 2, 5), await read(ranks, 0, 6)], [5, 5, 8])
})

test('one rank after the other is killed: what was fenced is copied on', async () => {
  await using ranks = await opened(4, 'mesi')
  await ranks.on(1, 'fillPages', 'r', 3, 6, 5)
  await ranks.on(1, 'fence', 'r')
  await ranks.kill(1)
  for (const page of [3, 4, 5]) assert.equal(await read(ranks, 0, page), 5)
  await ranks.on(0, 'fillPages', 'r', 3, 6, 6)
  await ranks.on(0, 'fence', 'r')
  await ranks.on(0, 'releaseRange', 'r', 3 * 4096, 3 * 4096)
  await ranks.kill(2)
  for (const rank of [3, 0]) for (const page of [3, 4, 5]) assert.equal(await read(ranks, rank, page), 6)
})

test('views are fenced like explicit calls, and go on with what was fenced', { skip: noViews }, async () => {
  await using ranks = await opened(3, 'directory')
  for (let round = 1; round <= 3; round += 1) {
    await ranks.on(1, 'setElement', 'r', 'int32', 1024 * 4, round)
    await ranks.on(1, 'setElement', 'r', 'int32', 0, round)
    await ranks.on(1, 'fence', 'r')
  }
  await ranks.kill(1)
  for (const rank of [0, 2])
    for (const index of [0, 1024 * 4]) assert.equal(await ranks.on(rank, 'getElement', 'r', 'int32', index), 3)
})

test('ranks that want the same pages, with little room for them, lose no addition, and neither does a death', async () => {
  await using ranks = await opened(3, 'directory', { cacheSize: '16KiB' })
  await Promise.all([0, 1, 2].map((rank) => ranks.on(rank, 'hammer', 'r', 4, 50)))
  for (let page = 0; page < 12; page += 1) await ranks.all('fetchAdd', 'r', page * 4096, 1n)
  await ranks.all('fence', 'r')
  await ranks.kill(1)
  for (let page = 0; page < 12; page += 1) {
    const added = page === 4 ? 204n : 3n
    assert.equal(await ranks.on(page % 2 === 0 ? 0 : 2, 'fetchAdd', 'r', page * 4096, 0n), added, `page ${page}`)
  }
})
