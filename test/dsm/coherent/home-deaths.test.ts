/**
 * Rank 0, which also keeps the names of regions and the rendezvous, is killed, on one machine and between hosts; and
 * homes are killed while pages come back to them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Hosts } from '../../support/hosts.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)

type Members = Pick<Ranks, 'on' | 'all'> & AsyncDisposable & { kill(rank: number): Promise<unknown> }

const names = [...protocols.keys()]

/**
 * Ranks with a region of 12 pages of each protocol, by its name: one death is met by all protocols. Of three ranks,
 * rank 0 is home of pages 0 to 3, and so on.
 */
async function opened<M extends Members>(ranks: M): Promise<M> {
  await ranks.all('join')
  for (const coherence of names) await ranks.all('open', coherence, { coherence, size: 12 * 4096 })
  return ranks
}

const readByte = async (ranks: Members, rank: number, page: number, name: string): Promise<number | undefined> =>
  (await ranks.on<Uint8Array>(rank, 'readBytes', name, page * 4096, 1))[0]

async function outliveRank0(ranks: Members): Promise<void> {
  for (const name of names) {
    await ranks.on(1, 'fillPages', name, 0, 2, 5)
    await ranks.on(0, 'fillPages', name, 2, 3, 6)
    await ranks.on(0, 'fillPages', name, 4, 5, 6)
    assert.equal(await readByte(ranks, 2, 1, name), 5)
    assert.equal(await readByte(ranks, 2, 4, name), 6)
  }
  await ranks.kill(0)
  for (const name of names) {
    for (const rank of [2, 1]) {
      // What the living had is theirs, whoever its home was; the next rank is its home now.
      const first = [await readByte(ranks, rank, 0, name), await readByte(ranks, rank, 1, name)]
      assert.deepEqual(first, [5, 5], name)
      assert.equal(await readByte(ranks, rank, 4, name), 6, name)
      // Rank 0 alone had the one, and nobody the other.
      for (const page of [2, 3])
        await assert.rejects(readByte(ranks, rank, page, name), { name: 'PageLostError', message: /rank 0,/ })
    }
    await Promise.all([1, 2].map((rank) => ranks.on(rank, 'hammer', name, 0, 60)))
    await ranks.on(2, 'fillPages', name, 1, 2, 8)
    assert.equal(await readByte(ranks, 1, 1, name), 8, name)
  }
  await assert.rejects(ranks.on(1, 'barrier'), { name: 'MemberEndedError', message: /rank 0/ })
  await Promise.all([1, 2].map((rank) => ranks.on(rank, 'closeGroup')))
}

test('rank 0 is killed: the regions go on, and who is left can leave', async () => {
  await using ranks = await opened(new Ranks(fixture, 3))
  await outliveRank0(ranks)
})

test('rank 0 is killed, and each rank is on a host of its own', async () => {
  await using hosts = await opened(await Hosts.start(3))
  await outliveRank0(hosts)
})

test('a page that is released to a home that is killed has been released, and lives on', async () => {
  await using ranks = await opened(new Ranks(fixture, 3))
  for (const name of names) await ranks.on(2, 'fillPages', name, 4, 5, 7)
  // It cannot take the pages back while it is stopped.
  await ranks.processes[1]?.stop()
  const releasing = names.map((name) => ranks.on(2, 'releaseRange', name, 4 * 4096, 4096))
  await ranks.on(2, 'sleep', 100)
  await ranks.kill(1)
  await Promise.all(releasing)
  for (const name of names) {
    assert.deepEqual([await readByte(ranks, 0, 4, name), await readByte(ranks, 2, 4, name)], [7, 7], name)
    await ranks.on(0, 'fillPages', name, 4, 5, 8)
    assert.equal(await readByte(ranks, 2, 4, name), 8, name)
  }
})

test('pages that are pinned when their home is killed hold up who would write them, and nothing else', async () => {
  await using ranks = await opened(new Ranks(fixture, 4))
  // Pages 0 to 2 are at home at rank 0, then at rank 1, which has none of them.
  for (const name of names) {
    await ranks.on(0, 'fillPages', name, 0, 3, 5)
    for (const rank of [2, 3]) await ranks.on(rank, 'pin', name, 0, 2 * 4096)
  }
  await ranks.kill(0)
  const firstTwo = async (rank: number, name: string): Promise<unknown> => [
    await readByte(ranks, rank, 0, name),
    await readByte(ranks, rank, 1, name),
  ]
  for (const name of names) {
    assert.equal(await readByte(ranks, 1, 4, name), 0, name)
    for (const rank of [2, 3]) {
      await ranks.on(rank, 'fillPages', name, 6 + rank, 7 + rank, rank)
      assert.equal(await readByte(ranks, 1, 6 + rank, name), rank, name)
      // Who holds a page goes on reading it.
      assert.deepEqual(await firstTwo(rank, name), [5, 5], name)
    }
    let written = 0
    const writing = [1, 2].map(async (rank) => {
      await ranks.on(rank, 'fillPages', name, rank - 1, rank, 8)
      written += 1
    })
    await ranks.on(1, 'sleep', 100)
    assert.deepEqual([written, await firstTwo(3, name)], [0, [5, 5]], name)
    await ranks.on(3, 'unpin', name)
    await ranks.on(2, 'unpin', name)
    await Promise.all(writing)
    for (const rank of [1, 2, 3]) assert.deepEqual(await firstTwo(rank, name), [8, 8], name)
  }
})
