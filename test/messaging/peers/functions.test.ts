import assert from 'node:assert/strict'
import test from 'node:test'
import { algorithms, rankOrderAlgorithms } from '../../../src/collectives/algorithms.ts'
import type { CustomOperation, ElementOf } from '../../../src/collectives/index.ts'
import type { PeerGroup } from '../../../src/messaging/index.ts'
import { rangeOf } from './call-all.ts'
import { Mesh } from './mesh.ts'

/** Functions of the program as operations, by every algorithm that combines. */

const gcd = (left: number, right: number): number => (right === 0 ? left : gcd(right, left % right))
const common: CustomOperation<number> = { combine: gcd, name: 'gcd' }

/**
 * x → a x + b modulo a prime, as a 2^32 + b: of two, first the left one. Associative, and the order is seen in the
 * result.
 */
const PRIME = 65_521n
const affine: CustomOperation<bigint> = {
  combine: (left, right) => {
    const [a, b, c, d] = [left >> 32n, left & 0xffff_ffffn, right >> 32n, right & 0xffff_ffffn]
    return (((a * c) % PRIME) << 32n) + ((c * b + d) % PRIME)
  },
  commutative: false,
  name: 'affine',
}

const numbersOf = (rank: number, count: number): Int32Array =>
  Int32Array.from(rangeOf(count), (index) => 60 * (rank + 1) * ((index % 7) + 1))
const mapsOf = (rank: number, count: number): BigUint64Array =>
  BigUint64Array.from(rangeOf(count), (index) => (BigInt(rank * 31 + index + 2) << 32n) + BigInt(rank * 7 + index))

/** One of the two, and the inputs of a rank; by which the others differ. */
interface Trial<A extends Int32Array | BigUint64Array, E extends number | bigint> {
  readonly operation: CustomOperation<E>
  readonly of: (rank: number, count: number) => A
  readonly make: (count: number) => A
}

/** The inputs of some ranks combined from the left. */
function combined<A extends Int32Array | BigUint64Array, E extends number | bigint>(
  { operation, of }: Trial<A, E>,
  ranks: readonly number[],
  count: number,
): E[] {
  const vectors = ranks.map((rank) => [...of(rank, count)] as E[])
  return vectors.reduce((left, right) => left.map((value, index) => operation.combine(value, right[index]!)))
}

type Reducing = 'reduce' | 'allReduce' | 'reduceScatter' | 'scan'

/** The collectives that combine, by one algorithm. */
async function callReducing<A extends Int32Array | BigUint64Array, E extends number | bigint>(
  groups: readonly PeerGroup[],
  trial: Trial<A, E>,
  count: number,
  collective: Reducing,
  algorithm: string | undefined,
): Promise<void> {
  const { length: size } = groups
  const options = { ...(algorithm !== undefined && { algorithm: algorithm as never }) }
  const operation = trial.operation as unknown as CustomOperation<ElementOf<A>>
  const all = <T>(call: (group: PeerGroup, rank: number) => Promise<T>) => Promise.all(groups.map(call))
  const upTo = (ranks: number) => combined(trial, rangeOf(ranks), count)
  if (collective === 'reduce') {
    for (const root of [0, size - 1]) {
      const results = await all((group, rank) =>
        group.reduce(trial.of(rank, count), operation, undefined, { root, ...options }),
      )
      assert.deepEqual([...results[root]!], upTo(size))
    }
  } else if (collective === 'allReduce') {
    const results = await all((group, rank) => group.allReduce(trial.of(rank, count), operation, undefined, options))
    for (const result of results) assert.deepEqual([...result], upTo(size))
  } else if (collective === 'reduceScatter') {
    const results = await all((group, rank) =>
      group.reduceScatter(trial.of(rank, count * size), operation, trial.make(count), options),
    )
    const whole = combined(trial, rangeOf(size), count * size)
    for (const [rank, result] of results.entries())
      assert.deepEqual([...result], whole.slice(rank * count, (rank + 1) * count))
  } else {
    const scanned = await all((group, rank) => group.scan(trial.of(rank, count), operation, undefined, options))
    for (const [rank, result] of scanned.entries()) assert.deepEqual([...result], upTo(rank + 1))
    const before = await all((group, rank) => group.exclusiveScan(trial.of(rank, count), operation, undefined, options))
    for (const [rank, result] of before.entries())
      assert.deepEqual([...result], rank === 0 ? [...trial.of(0, count)] : upTo(rank))
  }
}

const maps: Trial<BigUint64Array, bigint> = {
  operation: affine,
  of: mapsOf,
  make: (count) => new BigUint64Array(count),
}
const numbers: Trial<Int32Array, number> = {
  operation: common,
  of: numbersOf,
  make: (count) => new Int32Array(count),
}

for (const collective of ['reduce', 'allReduce', 'reduceScatter', 'scan'] as const) {
  test(`${collective} by a function: by each algorithm, and in the order of ranks where the function asks for it`, async () => {
    for (const size of [1, 2, 3, 5, 8]) {
      await using mesh = await Mesh.open(size)
      const groups = mesh.groups()
      for (const count of [0, 1, 13, 2501]) {
        for (const algorithm of [undefined, ...Object.keys(algorithms[collective])])
          await callReducing(groups, numbers, count, collective, algorithm)
        for (const algorithm of [undefined, ...rankOrderAlgorithms[collective]])
          await callReducing(groups, maps, count, collective, algorithm)
      }
    }
  })

  test(`${collective} by a function that is not commutative, by an algorithm that does not keep the order, is refused`, async () => {
    await using mesh = await Mesh.open(2)
    const groups = mesh.groups()
    const others = Object.keys(algorithms[collective]).filter((name) => !rankOrderAlgorithms[collective].includes(name))
    assert.ok(others.length > 0)
    for (const algorithm of others) {
      const call = callReducing(groups, maps, 2, collective, algorithm)
      await assert.rejects(call, { code: 'ERR_AETHER_INVALID_ARGUMENT', message: /does not combine in the order/ })
    }
  })
}
