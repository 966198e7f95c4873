import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Block, newBlock } from '../../../../src/arrays/blocks/block.ts'
import { ArrayError } from '../../../../src/arrays/errors.ts'
import { matmul } from '../../../../src/arrays/local/linalg/matmul.ts'
import { RandomGenerator } from '../../../../src/arrays/local/random/generator.ts'
import type { CompressedRows } from '../../../../src/arrays/local/sparse/compressed-rows.ts'
import {
  fromDense,
  fromTriplets,
  rowsBetween,
  toDense,
  transpose,
} from '../../../../src/arrays/local/sparse/conversion.ts'
import { sparseMatmul } from '../../../../src/arrays/local/sparse/product.ts'
import {
  bool,
  complex64,
  complex128,
  DTYPES,
  type DType,
  float32,
  float64,
  int32,
  int64,
} from '../../../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered, values } from '../../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const generator = new RandomGenerator(8)
const all = Object.values(DTYPES)

/** Three of four elements are 0. */
function sparse(shape: readonly number[], dtype: DType): Block {
  const dense = newBlock(dtype, shape)
  const numbers = generator.integers(0, 20, dense.data.length, { dtype: int32 }).data
  for (let index = 0; index < numbers.length; index += 1) {
    const value = Math.max(0, Number(numbers[index]) - 15)
    const element = dtype === bool ? Math.min(1, value) : value
    dense.data[index] =
      dtype.Elements === BigInt64Array || dtype.Elements === BigUint64Array ? BigInt(element) : element
  }
  return dense
}

test('a matrix of few elements is the same matrix: every type, empty and not', () => {
  for (const dtype of all)
    for (const shape of [
      [7, 5],
      [1, 9],
      [0, 3],
      [3, 0],
    ]) {
      const dense = sparse(shape, dtype)
      const rows = fromDense(scattered(dense))
      assertBlock(toDense(rows), dense, {}, `${dtype}`)
      assertBlock(toDense(transpose(transpose(rows))), dense)
      assert.deepEqual(transpose(rows).shape, [shape[1], shape[0]])
      const vector = sparse([shape[1]!], dtype)
      assertBlock(sparseMatmul(rows, vector), matmul(dense, vector), {}, `${dtype} of [${shape}]`)
      const matrix = sparse([shape[1]!, 4], dtype)
      assertBlock(
        sparseMatmul(rows, scattered(matrix)),
        matmul(dense, matrix),
        {},
        `${dtype} of [${shape}] by a matrix`,
      )
    }
})

test('triplets of one place are added, and rows are sorted by columns', () => {
  const rows = fromTriplets(
    block(int64, [2, 0, 2, 0, 2]),
    block(int32, [1, 3, 0, 1, 1]),
    block(float64, [1, 2, 3, 4, 5]),
    [3, 4],
  )
  assert.deepEqual(values(rows.indptr), [0, 2, 2, 4])
  assert.deepEqual(values(rows.indices), [1, 3, 0, 1])
  assert.deepEqual(values(rows.data), [4, 2, 3, 6])
  assertBlock(
    toDense(rows),
    block(float64, [
      [0, 4, 0, 2],
      [0, 0, 0, 0],
      [3, 6, 0, 0],
    ]),
  )
  const empty = fromTriplets(block(int64, []), block(int64, []), block(complex64, []), [2, 2])
  assertBlock(toDense(empty), newBlock(complex64, [2, 2]))
})

test('NaN is an entry, and what is multiplied by no entry does not count', () => {
  const rows = fromDense(
    block(float64, [
      [0, Number.NaN],
      [2, 0],
    ]),
  )
  assert.deepEqual(values(rows.indptr), [0, 1, 2])
  const product = sparseMatmul(rows, block(float64, [3, Number.POSITIVE_INFINITY]))
  assert.deepEqual(values(product), [Number.NaN, 6])
})

test('the product is that of NumPy, and of the rows of each rank', { skip: withoutNumpy }, async () => {
  for (const [first, second] of [
    [float64, float64],
    [float32, float32],
    [float32, float64],
    [float64, complex128],
  ] as const) {
    const count = 20_000
    const places = [1000, 700].map((extent) => generator.integers(0, extent, count))
    const elements = generator.random(count, { dtype: first })
    const matrix = fromTriplets(places[0]!, places[1]!, elements, [1000, 700])
    const x = second === complex128 ? complexVector(700) : generator.random(700, { dtype: second })
    const script = 'm = np.zeros((1000, 700), dtype=c.dtype)\nnp.add.at(m, (a, b), c)\nm @ d'
    const [expected] = await numpy.call(script, [places[0]!, places[1]!, elements, x])
    const whole = sparseMatmul(matrix, x)
    assertBlock(whole, expected!, { epsilons: 16 }, `${first} and ${second}`)
    for (const ranks of [2, 3, 7]) {
      const bounds = Array.from({ length: ranks + 1 }, (_, rank) => Math.floor((rank * 1000) / ranks))
      const parts = bounds.slice(1).map((stop, rank) => sparseMatmul(rowsBetween(matrix, bounds[rank]!, stop), x))
      assert.deepEqual(parts.flatMap(values), values(whole), `${ranks} ranks`)
    }
  }
})

function complexVector(length: number): Block {
  return { ...newBlock(complex128, [length]), data: generator.random(2 * length).data }
}

test('what is no such matrix, or does not fit, is refused', () => {
  const refused = (call: () => unknown, code: string, words: RegExp): void =>
    assert.throws(
      call,
      (error) => error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${code}` && words.test(error.message),
    )
  const one = block(int32, [0])
  const matrix = fromDense(
    block(float64, [
      [1, 0],
      [0, 2],
      [3, 0],
    ]),
  )
  const changed = (changes: Partial<CompressedRows>): Block =>
    sparseMatmul({ ...matrix, ...changes }, block(float64, [1, 1]))
  refused(() => sparseMatmul(matrix, block(float64, [1, 2, 3])), 'SHAPE', /\(3, 2\) and \(3,\)/)
  refused(() => sparseMatmul(matrix, block(int32, [1, 2])), 'TYPE', /float64 and int32/)
  refused(
    () => fromTriplets(one, block(int32, [5]), block(float64, [1]), [3, 4]),
    'INDEX',
    /index 5 .* axis 1 with size 4/,
  )
  refused(() => fromTriplets(block(int32, [-1]), one, block(float64, [1]), [3, 4]), 'INDEX', /index -1 .* axis 0/)
  refused(() => fromTriplets(one, one, block(float64, [1, 2]), [3, 4]), 'SHAPE', /\(1,\) \(1,\) \(2,\)/)
  refused(() => fromTriplets(block(float64, [0]), one, block(float64, [1]), [3, 4]), 'TYPE', /float64/)
  refused(() => fromDense(block(float64, [1])), 'SHAPE', /\(1,\)/)
  refused(() => rowsBetween(matrix, 1, 4), 'INDEX', /rows 1 to 4/)
  refused(() => changed({ indptr: block(int32, [0, 1, 2]) }), 'SHAPE', /3 rows take \(4,\)/)
  refused(() => changed({ indptr: block(int32, [0, 2, 1, 3]) }), 'VALUE', /1 after 2/)
  refused(() => changed({ indices: block(int32, [0, 1, 2]) }), 'INDEX', /column 2 is out of bounds/)
  refused(() => changed({ indices: block(int64, [0, 1, 0]) }), 'TYPE', /int64/)
})
