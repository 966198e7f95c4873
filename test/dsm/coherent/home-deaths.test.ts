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

/** Three ranks with an open region of 12 pages: 0 to 3 at home at rank 0, and so on. */
async function opened<M extends Members>(ranks: M, coherence: string): Promise<M> {
  await ranks.all('join')
  await ranks.all('open', 'r', { coherence, size: 12 * 4096 })
  return ranks
}

const readByte = async (ranks: Members, rank: number, page: number): Promise<number | undefined> =>
  (await ranks.on<Uint8Array>(rank, 'readBytes', 'r', page * 4096, 1))[0]

async function outliveRank0(ranks: Members): Promise<void> {
  await ranks.on(1, 'fillPages', 'r', 0, 2, 5)
  await ranks.on(0, 'fillPages', 'r', 2, 3, 6)
  await ranks.on(0, 'fillPages', 'r', 4, 5, 6)
  assert.equal(await readByte(ranks, 2, 1), 5)
  assert.equal(await readByte(ranks, 2, 4), 6)
  await ranks.kill(0)
  for (const rank of [2, 1]) {
    // What the living had is theirs, whoever its home was; the next rank is its home now.
    assert.deepEqual([await readByte(ranks, rank, 0), await readByte(ranks, rank, 1)], [5, 5])
    assert.equal(await readByte(ranks, rank, 4), 6)
    // Rank 0 alone had the one, and nobody the other.
    for (const page of [2, 3])
      await assert.rejects(readByte(ranks, rank, page), { name: 'PageLostError', message: /rank 0,/ })
  }
  await Promise.all([1, 2].map((rank) => ranks.on(rank, 'hammer', 'r', 0, 60)))
  await ranks.on(2, 'fillPages', 'r', 1, 2, 8)
  assert.equal(await readByte(ranks, 1, 1), 8)
  await assert.rejects(ranks.on(1, 'barrier'), { name: 'MemberEndedError', message: /rank 0/ })
  await Promise.all([1, 2].map((rank) => ranks.on(rank, 'closeGroup')))
}

for (const coherence of protocols.keys()) {
  test(`${coherence}: rank 0 is killed: the region goes on, and who is left can leave`, async () => {
    await using ranks = await opened(new Ranks(fixture, 3), coherence)
    await outliveRank0(ranks)
  })

  test(`${coherence}: rank 0 is killed, and each rank is on a host of its own`, async () => {
    await using hosts = await opened(await Hosts.start(3), coherence)
    await outliveRank0(hosts)
  })

  test(`${coherence}: a page that is released to a home that is killed has been released, and lives on`, async () => {
    await using ranks = await opened(new Ranks(fixture, 3), coherence)
    await ranks.on(2, 'fillPages', 'r', 4, 5, 7)
    // It cannot take the page back while it is stopped.
    await ranks.processes[1]?.stop()
    const releasing = ranks.on(2, 'releaseRange', 'r', 4 * 4096, 4096)
    await ranks.on(2, 'sleep', 100)
    await ranks.kill(1)
    await releasing
    assert.deepEqual([await readByte(ranks, 0, 4), await readByte(ranks, 2, 4)], [7, 7])
    await ranks.on(0, 'fillPages', 'r', 4, 5, 8)
    assert.equal(await readByte(ranks, 2, 4), 8)
  })
}

for (const coherence of protocols.keys()) {
  test(`${coherence}: pages that are pinned when their home is killed hold up who would write them, and nothing else`, async () => {
    await using ranks = new Ranks(fixture, 4)
    await ranks.all('join')
    await ranks.all('open', 'r', { coherence, size: 12 * 4096 })
    // Pages 0 to 2 are at home at rank 0, then at rank 1, which has none of them.
    await ranks.on(0, 'fillPages', 'r', 0, 3, 5)
    for (const rank of [2, 3]) await ranks.on(rank, 'pin', 'r', 0, 2 * 4096)
    await ranks.kill(0)
    assert.equal(await readByte(ranks, 1, 4), 0)
    for (const rank of [2, 3]) {
      await ranks.on(rank, 'fillPages', 'r', 6 + rank, 7 + rank, rank)
      assert.equal(await readByte(ranks, 1, 6 + rank), rank)
      // Who holds a page goes on reading it.
      assert.deepEqual([await readByte(ranks, rank, 0), await readByte(ranks, rank, 1)], [5, 5])
    }
    let written = 0
    const writing = [1, 2].map(async (rank) => {
      await ranks.on(rank, 'fillPages', 'r', rank - 1, rank, 8)
      written += 1
    })
    await ranks.on(1, 'sleep', 100)
    assert.deepEqual([written, await readByte(ranks, 3, 0), await readByte(ranks, 3, 1)], [0, 5, 5])
    await ranks.on(3, 'unpin', 'r')
    await ranks.on(2, 'unpin', 'r')
    await Promise.all(writing)
    for (const rank of [1, 2, 3])
      assert.deepEqual([await readByte(ranks, rank, 0), await readByte(ranks, rank, 1)], [8, 8])
  })
}
