import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { blockOver, newBlock } from '../../../src/arrays/blocks/block.ts'
import { argsort, sort } from '../../../src/arrays/local/sorting.ts'
import {
  complex64,
  complex128,
  DTYPES,
  float32,
  float64,
  int64,
  isComplex,
  uint64,
} from '../../../src/arrays/types/dtype.ts'
import { Draw } from '../differential/draw.ts'
import { assertBlock, block, values } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const [NaN_, infinite] = [Number.NaN, Number.POSITIVE_INFINITY]

test('every type, in short and in long rows, along every axis, is in the order of NumPy', {
  skip: withoutNumpy,
}, async () => {
  await using numpy = await startNumpy()
  const draw = new Draw(7)
  for (const dtype of Object.values(DTYPES))
    for (const shape of [[1], [48], [49], [3000], [7, 60], [60, 7], [3, 50, 4]]) {
      const range = { least: -120, greatest: 120, special: !isComplex(dtype) }
      const x = draw.block(dtype, shape, range)
      for (const axis of shape.keys()) {
        const [sorted, order] = await numpy.call(
          `np.sort(a, axis=${axis}, kind='stable'), np.argsort(a, axis=${axis}, kind='stable')`,
          [x],
        )
        assertBlock(sort(x, { axis }), sorted!)
        assertBlock(argsort(x, { axis }), order!)
      }
    }
})

suite('equal elements keep their order', () => {
  for (const length of [6, 60]) {
    const zeros = Array.from({ length }, (_, index) => [0, -0, 1, -0, NaN_, -1][index % 6]!)
    const expected = (descending: boolean) => {
      const rank = (index: number) => (Number.isNaN(zeros[index]) ? 2 : zeros[index]!)
      const sign = descending ? -1 : 1
      return zeros.map((_, index) => index).sort((one, other) => sign * (rank(one) - rank(other)) || one - other)
    }
    for (const dtype of [float32, float64])
      for (const descending of [false, true])
        test(`${length} of ${dtype}${descending ? ', descending' : ''}`, () => {
          const order = expected(descending)
          const x = block(dtype, zeros)
          assertBlock(argsort(x, { descending }), block(int64, order))
          assertBlock(
            sort(x, { descending }),
            block(
              dtype,
              order.map((index) => zeros[index]!),
            ),
          )
        })
  }
})

test('64-bit integers are ordered by all their bits', () => {
  const list = [2n ** 62n + 1n, -1n, 2n ** 62n, -(2n ** 63n), 2n ** 63n - 1n, 0n, -(2n ** 32n), 2n ** 32n]
  for (const times of [1, 9]) {
    const many = Array.from({ length: times }, () => list).flat()
    const ascending = many.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
    const x = blockOver(BigInt64Array.from(many), int64, [many.length])
    assert.deepEqual(values(sort(x)), ascending)
    const order = values(argsort(x)) as bigint[]
    assert.deepEqual(
      order.map((index) => many[Number(index)]),
      ascending,
    )
    assert.deepEqual(values(sort(x, { descending: true })), ascending.toReversed())
  }
  assert.deepEqual(values(argsort(blockOver(BigUint64Array.of(2n ** 63n, 1n, 2n ** 64n - 1n), uint64, [3]))), [
    1n,
    0n,
    2n,
  ])
})

test('complex numbers are ordered by real, then by imaginary part, and those with NaN come last', {
  skip: withoutNumpy,
}, async () => {
  await using numpy = await startNumpy()
  const parts = [0, -0, 1, -infinite, infinite, NaN_]
  const all = parts.flatMap((re) => parts.map((im) => ({ re, im })))
  for (const dtype of [complex64, complex128])
    for (const list of [all, all.slice(0, 24), [...all, ...all]]) {
      const x = block(dtype, list)
      const [order] = await numpy.call("np.argsort(a, kind='stable')", [x])
      assertBlock(argsort(x), order!)
    }
})

test('a block of no elements, and one of no axes', () => {
  assertBlock(sort(newBlock(float64, [0])), newBlock(float64, [0]))
  assertBlock(argsort(newBlock(float64, [3, 0]), { axis: 0 }), newBlock(int64, [3, 0]))
  assert.throws(() => sort(block(float64, 1)), /axis -1 is out of bounds for array of dimension 0/)
  assert.throws(() => argsort(block(float64, [1]), { axis: 1 }), { code: 'ERR_AETHER_ARRAY_AXIS' })
})

test('the operand is left as it was', () => {
  const x = block(float64, [3, 1, 2])
  assertBlock(sort(x, { descending: true }), block(float64, [3, 2, 1]))
  assertBlock(x, block(float64, [3, 1, 2]))
})
