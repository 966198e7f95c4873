import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openArrays } from '../../src/arrays/open-arrays.ts'

const xp = await openArrays()

test('random numbers are arrays, in the order of the calls on a generator', () => {
  const generator = xp.random.generator({ key: 2024 })
  assert.deepEqual(xp.random.integers(generator, -5, 5, 8).toArray(), [-3n, 2n, -3n, 1n, 3n, 3n, -1n, 3n])
  const [first, second] = [xp.random.normal(generator, 0, 1, [2, 3]), xp.random.normal(generator, 0, 1, [2, 3])]
  assert.deepEqual(first.shape, [2, 3])
  assert.notDeepEqual(first.toArray(), second.toArray())
  const again = xp.random.generator({ key: 2024 })
  xp.random.integers(again, -5, 5, 8)
  assert.deepEqual(xp.random.standardNormal(again, [2, 3]).toArray(), first.toArray())
  const rows = xp.asarray([
    [1, 2],
    [3, 4],
    [5, 6],
  ])
  assert.deepEqual(xp.random.permutation(xp.random.generator(3), rows).shape, [3, 2])
})

test('histograms, counts, quantiles and sums of products take arrays and lists', () => {
  const x = xp.asarray([1, 2, 2, 3, 3, 3])
  const { histogram, binEdges } = xp.histogram(x, { bins: 2 })
  assert.deepEqual(histogram.toArray(), [1n, 5n])
  assert.deepEqual(binEdges.toArray(), [1, 2, 3])
  assert.deepEqual(xp.bincount(xp.asarray([0n, 2n, 2n]), { weights: xp.asarray([0.5, 1, 2]) }).toArray(), [0.5, 0, 3])
  assert.equal(xp.percentile(x, 50).item(), 2.5)
  assert.deepEqual(x.quantile([0, 1]).toArray(), [1, 3])
  assert.equal(xp.einsum('i,i->', x, xp.asarray([1, 1, 1, 1, 1, 0.5])).item(), 12.5)
})

test('a sparse matrix is a record of arrays', () => {
  const matrix = xp.sparse.fromTriplets(xp.asarray([1n, 0n]), xp.asarray([0n, 1n]), xp.asarray([2, 3]), [2, 2])
  assert.deepEqual(matrix.indptr.toArray(), [0, 1, 2])
  assert.deepEqual(xp.sparse.matmul(matrix, xp.asarray([10, 100])).toArray(), [300, 20])
  assert.deepEqual(xp.sparse.toDense(xp.sparse.transpose(matrix)).toArray(), [
    [0, 2],
    [3, 0],
  ])
})
