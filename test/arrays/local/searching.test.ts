import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockOver, newBlock } from '../../../src/arrays/blocks/block.ts'
import { argmax, argmin, countNonzero, nonzero, searchsorted } from '../../../src/arrays/local/searching.ts'
import { argsort } from '../../../src/arrays/local/sorting.ts'
import {
  complex64,
  DTYPES,
  float32,
  float64,
  int8,
  int16,
  int64,
  isComplex,
  uint64,
} from '../../../src/arrays/types/dtype.ts'
import { Draw } from '../differential/draw.ts'
import { assertBlock, block, scattered } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const NaN_ = Number.NaN

test('the first of the greatest and of the least is found, or the first NaN', () => {
  for (const dtype of [float32, float64]) {
    const x = block(dtype, [
      [1, 5, -2, 5],
      [1, NaN_, 7, NaN_],
      [NaN_, 1, 1, 1],
      [0, -0, 0, -0],
    ])
    for (const from of [x, scattered(x)]) {
      assertBlock(argmax(from, { axis: 1 }), block(int64, [1, 1, 0, 0]))
      assertBlock(argmin(from, { axis: 1, keepdims: true }), block(int64, [[2], [1], [0], [0]]))
      assertBlock(argmax(from), block(int64, 5))
    }
  }
  const wide = blockOver(BigInt64Array.of(2n ** 62n, 2n ** 62n + 1n, -1n, -(2n ** 63n)), int64, [4])
  assertBlock(argmax(wide), block(int64, 1))
  assertBlock(argmin(wide), block(int64, 3))
  assertBlock(argmax(blockOver(BigUint64Array.of(1n, 2n ** 64n - 1n, 2n ** 63n), uint64, [3])), block(int64, 1))
  assertBlock(argmax(newBlock(float64, [0, 3]), { axis: 1 }), newBlock(int64, [0]))
  assert.throws(() => argmax(newBlock(float64, [0])), /attempt to get argmax of an empty sequence/)
  assert.throws(() => argmin(block(complex64, [1])), { code: 'ERR_AETHER_ARRAY_TYPE' })
  assert.throws(() => argmin(block(int8, [1]), { axis: -2 }), /axis -2 is out of bounds for array of dimension 1/)
})

test('NaN is not zero, and -0 is', () => {
  const x = block(float64, [
    [NaN_, 0, -0],
    [1, 0, Number.NEGATIVE_INFINITY],
  ])
  assertBlock(countNonzero(x), block(int64, 3))
  assertBlock(countNonzero(x, { axis: 0 }), block(int64, [2, 0, 1]))
  const [rows, columns] = nonzero(x)
  assertBlock(rows!, block(int64, [0, 1, 1]))
  assertBlock(columns!, block(int64, [0, 0, 2]))
  assertBlock(countNonzero(block(complex64, [{ re: 0, im: NaN_ }, 0])), block(int64, 1))
  assertBlock(nonzero(block(int16, [0, 0]))[0]!, newBlock(int64, [0]))
  assert.throws(() => nonzero(block(int8, 1)), /not allowed/)
})

test('places among sorted elements are as in NumPy, for all types', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const draw = new Draw(17)
  for (const dtype of Object.values(DTYPES)) {
    const range = { least: 0, greatest: 20, special: !isComplex(dtype) }
    const [x, wanted] = [draw.block(dtype, [70], range), draw.block(dtype, [5, 9], range)]
    const sorter = argsort(x)
    for (const side of ['left', 'right'] as const) {
      const [places] = await numpy.call(`np.searchsorted(a, b, side='${side}', sorter=c)`, [x, wanted, sorter])
      assertBlock(searchsorted(x, wanted, { side, sorter }), places!)
    }
  }
})

test('what searchsorted does not take', () => {
  const x = block(int8, [1, 2])
  assertBlock(searchsorted(x, block(int64, 300)), block(int64, 2))
  assertBlock(searchsorted(newBlock(int8, [0]), x), block(int64, [0, 0]))
  assert.throws(() => searchsorted(block(int8, [[1]]), x), { code: 'ERR_AETHER_ARRAY_SHAPE' })
  assert.throws(() => searchsorted(x, x, { side: 'middle' as 'left' }), /must be 'left' or 'right' \(got 'middle'\)/)
  assert.throws(() => searchsorted(x, x, { sorter: block(int8, [0]) }), /\(1,\), but must have \(2,\)/)
  assert.throws(() => searchsorted(x, x, { sorter: block(float32, [0, 1]) }), { code: 'ERR_AETHER_ARRAY_TYPE' })
  assert.throws(() => searchsorted(x, x, { sorter: block(int8, [0, 2]) }), { code: 'ERR_AETHER_ARRAY_INDEX' })
  assert.throws(() => searchsorted(x, block(float32, [1])), { code: 'ERR_AETHER_ARRAY_TYPE' })
})
