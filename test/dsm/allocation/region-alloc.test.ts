import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AllocationError, open } from '../../../src/dsm/index.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('../coherent/fixtures/rank.js', import.meta.url)

type Allocated = { offsetBytes: number; lengthBytes: number; created: boolean }

describe('memory within a region', () => {
  let ranks: Ranks
  before(async () => {
    ranks = new Ranks(fixture, 3)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())
  const alloc = (rank: number, name: string, bytes: number, options?: object): Promise<Allocated> =>
    ranks.on<Allocated>(rank, 'alloc', name, bytes, options)

  for (const coherence of ['mesi', 'hardware']) {
    test(`is given to one only, by whichever rank it is asked for: ${coherence}`, async () => {
      await ranks.all('open', coherence, { coherence, size: '64KiB' })
      const given = (
        await Promise.all([0, 1, 2].flatMap((rank) => [1, 2, 3].map(() => alloc(rank, coherence, 1000))))
      ).sort((a, b) => a.offsetBytes - b.offsetBytes)
      for (const [index, { offsetBytes }] of given.entries())
        assert.ok(offsetBytes % 8 === 0 && (index === 0 || offsetBytes >= given[index - 1]!.offsetBytes + 1000))
      const aligned = await alloc(1, coherence, 4096, { align: 4096 })
      assert.equal(aligned.offsetBytes % 4096, 0)
      await assert.rejects(alloc(2, coherence, 65_536), {
        code: 'ERR_AETHER_REGION_EXHAUSTED',
        message: /has no 64 KiB left in one piece/,
      })
    })

    test(`has one place for a name, and is freed once: ${coherence}`, async () => {
      const named = await Promise.all([0, 1, 2].map((rank) => alloc(rank, coherence, 512, { name: 'table' })))
      assert.equal(new Set(named.map(({ offsetBytes }) => offsetBytes)).size, 1)
      assert.equal(named.filter(({ created }) => created).length, 1)
      await assert.rejects(alloc(1, coherence, 513, { name: 'table' }), { code: 'ERR_AETHER_ALLOCATION_MISMATCH' })
      const [{ offsetBytes } = { offsetBytes: -1 }] = named
      await ranks.on(2, 'freeAt', coherence, offsetBytes)
      for (const rank of [2, 0])
        await assert.rejects(ranks.on(rank, 'freeAt', coherence, offsetBytes), { code: 'ERR_AETHER_NOT_ALLOCATED' })
      assert.equal((await alloc(0, coherence, 513, { name: 'table' })).created, true)
    })
  }

  test('wrong requests are argument errors', async () => {
    const wrong = { code: 'ERR_AETHER_INVALID_ARGUMENT' }
    for (const [bytes, options] of [
      [0],
      [1.5],
      [8, { align: 3 }],
      [8, { align: 0 }],
      [8, { name: '' }],
      [8, { name: 7 }],
    ] as const)
      await assert.rejects(alloc(0, 'mesi', bytes, options), wrong)
  })

  test('a rank that dies takes nothing of it along', async () => {
    const before = await alloc(1, 'mesi', 256, { name: 'left' })
    await ranks.kill(1)
    assert.deepEqual(await alloc(2, 'mesi', 256, { name: 'left' }), { ...before, created: false })
    assert.equal((await alloc(2, 'hardware', 64)).lengthBytes, 64)
  })
})

test('a space keeps the allocations of a region as long as the region, and shows nobody where', async () => {
  await using space = await open('allocations')
  const region = await space.openRegion('r', { size: 8192 })
  const kept = await region.alloc(100, { name: 'kept' })
  {
    await using scoped = await region.alloc(5000)
    assert.equal(scoped.offsetBytes >= kept.offsetBytes + 100, true)
    await assert.rejects(region.alloc(5000), (error) => error instanceof AllocationError && error.largestBytes! < 5000)
  }
  await region.close()
  await using again = await space.openRegion('r')
  const found = await again.alloc(100, { name: 'kept' })
  assert.deepEqual([found.created, found.offsetBytes], [false, kept.offsetBytes])
  assert.deepEqual(
    space.regions().map(({ name }) => name),
    ['r'],
  )
  await again.free(found)
  await assert.rejects(again.free(found), { code: 'ERR_AETHER_NOT_ALLOCATED' })
  await again.delete()
  await using anew = await space.openRegion('r', { size: 8192 })
  assert.equal((await anew.alloc(8192)).offsetBytes, 0)
})
