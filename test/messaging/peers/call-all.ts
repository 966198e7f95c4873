import assert from 'node:assert/strict'
import { algorithms, type CollectiveName } from '../../../src/collectives/algorithms.ts'
import { type ElementKindName, elementKind } from '../../../src/collectives/element-kind.ts'
import type { ElementArray } from '../../../src/collectives/index.ts'
import type { PeerGroup } from '../../../src/messaging/index.ts'
import { arrayOf, foldLeft, type Value, valuesOf } from '../../collectives/reference.ts'

export const rangeOf = (size: number): number[] => Array.from({ length: size }, (_, index) => index)
export const given = (rank: number, count: number): Float64Array =>
  Float64Array.from(rangeOf(count), (index) => rank * 1000 + index)
export const summed = (size: number, count: number): Float64Array =>
  Float64Array.from(rangeOf(count), (index) => rangeOf(size).reduce((sum, rank) => sum + rank * 1000 + index, 0))

/** Of a collective, by the name of its table. */
export type OptionsOf = (name: CollectiveName) => { readonly algorithm?: string }

/** So many rounds that each algorithm of each collective is named in one of them at least. */
export function algorithmRounds(): OptionsOf[] {
  const rounds = Math.max(...Object.values(algorithms).map((table) => Object.keys(table).length))
  return rangeOf(rounds).map((round) => (name) => {
    const names = Object.keys(algorithms[name])
    return { algorithm: names[round % names.length]! }
  })
}

/** Every collective of a group, and whether each rank got what it should. */
export async function callAll(
  groups: readonly PeerGroup[],
  count: number,
  optionsOf: OptionsOf = () => ({}),
  kindName: ElementKindName = 'float64',
): Promise<void> {
  const { length: size } = groups
  const root = size - 1
  const kind = elementKind(kindName)
  const of = (name: CollectiveName): object => optionsOf(name)
  const all = <T>(call: (group: PeerGroup, rank: number) => Promise<T>) => Promise.all(groups.map(call))
  const array = (values: readonly Value[]): ElementArray => arrayOf(kind, values)
  const element = (value: number): Value => (kind.big ? BigInt(value) : value)
  /** In the kind, so that short whole numbers wrap around. */
  const own = (rank: number, length: number): ElementArray => array([...given(rank, length)].map(element))
  const values = (rank: number, length: number): Value[] => valuesOf(own(rank, length))
  const everything = array(rangeOf(size).flatMap((rank) => values(rank, count)))
  const sumOf = (ranks: number, length: number): ElementArray =>
    array(
      foldLeft(
        rangeOf(ranks).map((rank) => values(rank, length)),
        kind,
        'sum',
      ),
    )
  const part = (whole: ElementArray, rank: number): ElementArray => whole.slice(rank * count, (rank + 1) * count)

  const broadcast = await all((group, rank) =>
    group.broadcast(rank === root ? own(root, count) : kind.allocate(count), { root, ...of('broadcast') }),
  )
  for (const data of broadcast) assert.deepEqual(data, own(root, count))

  const scattered = await all((group, rank) =>
    group.scatter(rank === root ? everything : undefined, kind.allocate(count), { root, ...of('scatter') }),
  )
  for (const [rank, data] of scattered.entries()) assert.deepEqual(data, own(rank, count))

  const gathered = await all((group, rank) =>
    group.gather(own(rank, count), rank === root ? kind.allocate(count * size) : undefined, { root, ...of('gather') }),
  )
  assert.deepEqual(gathered[root], everything)

  const allGathered = await all((group, rank) =>
    group.allGather(own(rank, count), kind.allocate(count * size), of('allGather')),
  )
  for (const data of allGathered) assert.deepEqual(data, everything)

  const reduced = await all((group, rank) =>
    group.reduce(own(rank, count), 'sum', undefined, { root, ...of('reduce') }),
  )
  assert.deepEqual(reduced[root], sumOf(size, count))

  const allReduced = await all((group, rank) => group.allReduce(own(rank, count), 'sum', undefined, of('allReduce')))
  for (const data of allReduced) assert.deepEqual(data, sumOf(size, count))

  const parts = await all((group, rank) =>
    group.reduceScatter(own(rank, count * size), 'max', kind.allocate(count), of('reduceScatter')),
  )
  const greatest = array(
    foldLeft(
      rangeOf(size).map((rank) => values(rank, count * size)),
      kind,
      'max',
    ),
  )
  for (const [rank, data] of parts.entries()) assert.deepEqual(data, part(greatest, rank))

  const scanned = await all((group, rank) => group.scan(own(rank, count), 'sum', undefined, of('scan')))
  for (const [rank, data] of scanned.entries()) assert.deepEqual(data, sumOf(rank + 1, count))

  const untouched = array(Array<Value>(count).fill(element(7)))
  const before = await all((group, rank) => group.exclusiveScan(own(rank, count), 'sum', untouched.slice(), of('scan')))
  for (const [rank, data] of before.entries()) assert.deepEqual(data, rank === 0 ? untouched : sumOf(rank, count))

  const exchanged = await all((group, rank) =>
    group.allToAll(own(rank, count * size), kind.allocate(count * size), of('allToAll')),
  )
  for (const [rank, data] of exchanged.entries()) {
    const expected = rangeOf(size).flatMap((from) => valuesOf(part(own(from, count * size), rank)))
    assert.deepEqual(data, array(expected))
  }

  // Rank i sends i + j elements to rank j.
  const varied = await all((group, rank) => {
    const sendCounts = rangeOf(size).map((to) => (rank + to) * (count > 0 ? 1 : 0))
    const length = sendCounts.reduce((sum, each) => sum + each, 0)
    return group.allToAllV(
      array(Array<Value>(length).fill(element(rank))),
      kind.allocate(length),
      { sendCounts, receiveCounts: sendCounts },
      of('allToAllV'),
    )
  })
  for (const [rank, data] of varied.entries()) {
    const expected = rangeOf(size).flatMap((from) => Array<Value>(count > 0 ? from + rank : 0).fill(element(from)))
    assert.deepEqual(data, array(expected))
  }

  await all((group) => group.barrier(of('barrier')))
}
