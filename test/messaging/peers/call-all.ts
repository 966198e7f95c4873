import assert from 'node:assert/strict'
import type { PeerGroup } from '../../../src/messaging/index.ts'

export const rangeOf = (size: number): number[] => Array.from({ length: size }, (_, index) => index)
export const given = (rank: number, count: number): Float64Array =>
  Float64Array.from(rangeOf(count), (index) => rank * 1000 + index)
export const summed = (size: number, count: number): Float64Array =>
  Float64Array.from(rangeOf(count), (index) => rangeOf(size).reduce((sum, rank) => sum + rank * 1000 + index, 0))

/** Every collective of a group, and whether each rank got what it should. */
export async function callAll(
  groups: readonly PeerGroup[],
  count: number,
  of: (name: string) => object = () => ({}),
): Promise<void> {
  const { length: size } = groups
  const root = size - 1
  const all = <T>(call: (group: PeerGroup, rank: number) => Promise<T>) => Promise.all(groups.map(call))
  const everything = rangeOf(size).flatMap((rank) => [...given(rank, count)])

  const broadcast = await all((group, rank) =>
    group.broadcast(rank === root ? given(root, count) : new Float64Array(count), { root, ...of('broadcast') }),
  )
  for (const data of broadcast) assert.deepEqual(data, given(root, count))

  const scattered = await all((group, rank) =>
    group.scatter(rank === root ? Float64Array.from(everything) : undefined, new Float64Array(count), {
      root,
      ...of('scatter'),
    }),
  )
  for (const [rank, part] of scattered.entries()) assert.deepEqual(part, given(rank, count))

  const gathered = await all((group, rank) =>
    group.gather(given(rank, count), rank === root ? new Float64Array(count * size) : undefined, {
      root,
      ...of('gather'),
    }),
  )
  assert.deepEqual(gathered[root], Float64Array.from(everything))

  const allGathered = await all((group, rank) =>
    group.allGather(given(rank, count), new Float64Array(count * size), of('allGather')),
  )
  for (const data of allGathered) assert.deepEqual(data, Float64Array.from(everything))

  const reduced = await all((group, rank) =>
    group.reduce(given(rank, count), 'sum', undefined, { root, ...of('reduce') }),
  )
  assert.deepEqual(reduced[root], summed(size, count))

  const allReduced = await all((group, rank) => group.allReduce(given(rank, count), 'sum', undefined, of('allReduce')))
  for (const data of allReduced) assert.deepEqual(data, summed(size, count))

  const parts = await all((group, rank) =>
    group.reduceScatter(given(rank, count * size), 'max', new Float64Array(count), of('reduceScatter')),
  )
  for (const [rank, part] of parts.entries())
    assert.deepEqual(part, given(root, count * size).slice(rank * count, (rank + 1) * count))

  const scanned = await all((group, rank) => group.scan(given(rank, count), 'sum', undefined, of('scan')))
  for (const [rank, data] of scanned.entries()) assert.deepEqual(data, summed(rank + 1, count))

  const before = await all((group, rank) =>
    group.exclusiveScan(given(rank, count), 'sum', new Float64Array(count).fill(7), of('scan')),
  )
  for (const [rank, data] of before.entries())
    assert.deepEqual(data, rank === 0 ? new Float64Array(count).fill(7) : summed(rank, count))

  const exchanged = await all((group, rank) =>
    group.allToAll(given(rank, count * size), new Float64Array(count * size), of('allToAll')),
  )
  for (const [rank, data] of exchanged.entries()) {
    const expected = rangeOf(size).flatMap((from) => [
      ...given(from, count * size).slice(rank * count, (rank + 1) * count),
    ])
    assert.deepEqual(data, Float64Array.from(expected))
  }

  // Rank i sends i + j elements to rank j.
  const varied = await all((group, rank) => {
    const sendCounts = rangeOf(size).map((to) => (rank + to) * (count > 0 ? 1 : 0))
    const length = sendCounts.reduce((sum, each) => sum + each, 0)
    return group.allToAllV(
      new Float64Array(length).fill(rank),
      new Float64Array(length),
      { sendCounts, receiveCounts: sendCounts },
      of('allToAllV'),
    )
  })
  for (const [rank, data] of varied.entries()) {
    const expected = rangeOf(size).flatMap((from) => Array<number>(count > 0 ? from + rank : 0).fill(from))
    assert.deepEqual(data, Float64Array.from(expected))
  }

  await all((group) => group.barrier(of('barrier')))
}
