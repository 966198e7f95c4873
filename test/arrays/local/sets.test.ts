import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Block, blockOver, newBlock } from '../../../src/arrays/blocks/block.ts'
import { isin, uniqueAll, uniqueCounts, uniqueInverse, uniqueValues } from '../../../src/arrays/local/sets.ts'
import {
  bool,
  complex64,
  complex128,
  DTYPES,
  float32,
  float64,
  int8,
  int64,
  isFloating,
  uint8,
} from '../../../src/arrays/types/dtype.ts'
import { Draw } from '../differential/draw.ts'
import { assertBlock, block, values } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const NaN_ = Number.NaN

test('values, first places, inverse and counts are as in NumPy, for all types', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const draw = new Draw(11)
  for (const dtype of Object.values(DTYPES))
    for (const shape of [[], [0], [9], [30, 40], [2, 3, 4]]) {
      const x = rounded(draw.block(dtype, shape, { least: -3, greatest: 3 }))
      const expected = await numpy.call(
        `v, i, n, c = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
v, i.astype('int64'), n.reshape(a.shape).astype('int64'), c.astype('int64')`,
        [x],
      )
      const { values: found, indices, inverseIndices, counts } = uniqueAll(x)
      for (const [index, result] of [found, indices, inverseIndices, counts].entries())
        assertBlock(result, expected[index]!, { zerosEqual: true })
      assertBlock(uniqueValues(x), found)
      assert.deepEqual(uniqueCounts(x), { values: found, counts })
      assert.deepEqual(uniqueInverse(x), { values: found, inverseIndices })
    }
})

function rounded(x: Block): Block {
  if (isFloating(x.dtype))
    for (const [index, value] of x.data.entries()) x.data[index] = Math.round(Number(value)) as never
  return x
}

test('each NaN is a value of its own, 0 and -0 are one: the first of them', () => {
  for (const dtype of [float32, float64]) {
    const { values: found, indices, inverseIndices, counts } = uniqueAll(block(dtype, [NaN_, -0, 1, 0, NaN_, -1]))
    assertBlock(found, block(dtype, [-1, -0, 1, NaN_, NaN_]))
    assertBlock(indices, block(int64, [5, 1, 2, 0, 4]))
    assertBlock(inverseIndices, block(int64, [3, 1, 2, 1, 4, 0]))
    assertBlock(counts, block(int64, [1, 2, 1, 1, 1]))
  }
  for (const dtype of [complex64, complex128]) {
    const x = block(dtype, [
      { re: 1, im: NaN_ },
      { re: 1, im: NaN_ },
      { re: -0, im: 0 },
      { re: 0, im: -0 },
    ])
    assertBlock(uniqueCounts(x).counts, block(int64, [2, 1, 1]))
  }
})

test('64-bit integers that differ in one bit are two', () => {
  const x = blockOver(BigInt64Array.of(2n ** 62n + 1n, 2n ** 62n, 2n ** 62n + 1n), int64, [3])
  assert.deepEqual(values(uniqueValues(x)), [2n ** 62n, 2n ** 62n + 1n])
})

test('isin compares by value, in the type that both have in common', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const draw = new Draw(13)
  for (const dtype of Object.values(DTYPES)) {
    const x = rounded(draw.block(dtype, [3, 40], { least: 0, greatest: 30 }))
    const within = rounded(draw.block(dtype, [12], { least: 0, greatest: 30 }))
    const [is, isNot] = await numpy.call('np.isin(a, b), np.isin(a, b, invert=True)', [x, within])
    assertBlock(isin(x, within), is!)
    assertBlock(isin(x, within, { invert: true }), isNot!)
  }
  assertBlock(isin(block(int8, [-1, 3]), block(uint8, [255, 3])), block(bool, [0, 1]))
  assertBlock(isin(block(float32, [NaN_, -0]), block(float64, [NaN_, 0])), block(bool, [0, 1]))
  assertBlock(isin(block(int8, 3), newBlock(int8, [0])), block(bool, 0))
  assert.throws(() => isin(block(int8, [1]), block(float64, [1])), { code: 'ERR_AETHER_ARRAY_TYPE' })
})
