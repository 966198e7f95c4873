import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Block, blockOver, newBlock, sizeOf } from '../../../src/arrays/blocks/block.ts'
import { copyOf } from '../../../src/arrays/blocks/copying.ts'
import { permute } from '../../../src/arrays/blocks/layout.ts'
import { cumulativeProd, cumulativeSum } from '../../../src/arrays/local/cumulating.ts'
import { max, mean, min, prod, std, sum, variance } from '../../../src/arrays/local/statistics.ts'
import {
  bool,
  complex64,
  complex128,
  type DType,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  isComplex,
  uint8,
  uint32,
  uint64,
} from '../../../src/arrays/types/dtype.ts'
import { Draw } from '../differential/draw.ts'
import { assertBlock, block, scattered, values } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const NaN_ = Number.NaN

/** The order of a sum as it is promised, in as few words as possible. */
function promisedSum(numbers: readonly number[], round: (value: number) => number): number {
  const pieces: number[] = []
  for (let start = 0; start < numbers.length; start += 4096) {
    const lanes = new Array<number>(8).fill(-0)
    for (const [index, value] of numbers.slice(start, start + 4096).entries())
      lanes[index % 8] = round(lanes[index % 8]! + value)
    pieces.push(tree(lanes, round))
  }
  return tree(pieces, round)
}

function tree(values: readonly number[], round: (value: number) => number): number {
  if (values.length === 1) return values[0]!
  const next: number[] = []
  for (let index = 0; index < values.length; index += 2)
    next.push(index + 1 < values.length ? round(values[index]! + values[index + 1]!) : values[index]!)
  return tree(next, round)
}

function random(dtype: DType, shape: readonly number[], seed = 1): Block {
  const draw = new Draw(seed)
  const data = new dtype.Elements(sizeOf(shape) * dtype.lanes)
  for (let index = 0; index < data.length; index += 1) data[index] = (draw.fraction() * 2 - 1) as never
  return blockOver(data, dtype, shape)
}

suite('sums are added in the promised order', () => {
  const rounds = { float32: Math.fround, float64: (value: number) => value }
  for (const dtype of [float32, float64])
    for (const length of [1, 7, 8, 13, 4095, 4096, 4097, 12_300, 5 * 4096 + 3])
      test(`${length} of ${dtype}`, () => {
        const numbers = random(dtype, [length])
        const expected = promisedSum(
          Array.from(numbers.data as Float64Array),
          rounds[dtype.name as keyof typeof rounds],
        )
        for (const x of [numbers, scattered(numbers)]) assert.deepEqual(values(sum(x)), [expected])
      })

  test('along every axis, wherever elements lie', () => {
    for (const shape of [
      [3, 4100],
      [4100, 3],
      [2, 4100, 40],
      [40, 9, 31],
    ]) {
      const x = random(float64, shape)
      const lines = x.shape.map((_, axis) => expectedAlong(x, axis))
      for (const from of [
        x,
        scattered(x),
        permute(permute(x, shape.map((_, i) => i).reverse()), shape.map((_, i) => i).reverse()),
      ])
        for (const [axis, expected] of lines.entries()) assert.deepEqual(values(sum(from, { axis })), expected)
    }
  })

  function expectedAlong(x: Block, axis: number): number[] {
    const outer = sizeOf(x.shape.slice(0, axis))
    const inner = sizeOf(x.shape.slice(axis + 1))
    const extent = x.shape[axis]!
    const data = x.data as Float64Array
    return Array.from({ length: outer * inner }, (_, output) => {
      const first = Math.floor(output / inner) * extent * inner + (output % inner)
      const line = Array.from({ length: extent }, (_, index) => data[first + index * inner]!)
      return promisedSum(line, (value) => value)
    })
  }

  test('the parts of complex numbers each for itself', () => {
    for (const dtype of [complex64, complex128]) {
      const x = random(dtype, [9000])
      const data = Array.from(x.data as Float64Array)
      const round = rounds[dtype === complex64 ? 'float32' : 'float64']
      const [re, im] = [0, 1].map((part) =>
        promisedSum(
          data.filter((_, index) => index % 2 === part),
          round,
        ),
      )
      assert.deepEqual(values(sum(x)), [{ re, im }])
    }
  })

  test('over several axes in the order of rows', () => {
    const x = random(float64, [5, 30, 60])
    const expected = Array.from({ length: 30 }, (_, middle) => {
      const line: number[] = []
      for (let first = 0; first < 5; first += 1)
        for (let last = 0; last < 60; last += 1) line.push((x.data as Float64Array)[(first * 30 + middle) * 60 + last]!)
      return promisedSum(line, (value) => value)
    })
    assert.deepEqual(values(sum(x, { axis: [0, 2] })), expected)
    assertBlock(sum(x, { axis: [2, 0], keepdims: true }), blockOver(Float64Array.from(expected), float64, [1, 30, 1]))
  })
})

test('integers are summed in 64 bits, and beyond these they wrap', () => {
  assertBlock(sum(block(int8, [127, 127, -1])), block(int64, 253))
  assertBlock(sum(block(uint8, [255, 255])), block(uint64, 510))
  assertBlock(sum(block(bool, [1, 0, 1])), block(int64, 2))
  assertBlock(sum(block(int8, [127, 127]), { dtype: int8 }), block(int8, -2))
  assertBlock(sum(block(int64, [1, 2]), { dtype: int32 }), block(int32, 3))
  assertBlock(sum(block(int32, [1, 2]), { dtype: float32 }), block(float32, 3))
  assertBlock(sum(block(int32, [1, 2]), { dtype: complex128 }), block(complex128, 3))
  const most = 2n ** 63n - 1n
  const wide = blockOver(BigInt64Array.of(most, 1n, most, -7n), int64, [4])
  assert.deepEqual(values(sum(wide)), [BigInt.asIntN(64, 2n * most - 6n)])
  assert.deepEqual(values(sum(blockOver(BigUint64Array.of(2n ** 64n - 1n, 3n), uint64, [2]))), [2n])
  const many = blockOver(new Uint32Array(3_000_000).fill(2 ** 32 - 1), uint32, [3_000_000])
  assert.deepEqual(values(sum(many)), [3_000_000n * (2n ** 32n - 1n)])
  const negative = blockOver(new BigInt64Array(9000).fill(-(2n ** 40n)), int64, [9000])
  assert.deepEqual(values(sum(negative)), [-9000n * 2n ** 40n])
})

test('products wrap in 64 bits as well', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const draw = new Draw(3)
  for (const dtype of [int8, int16, int32, int64, uint8, uint32, uint64])
    for (const shape of [[11], [5000], [4, 9]]) {
      const odd = draw.block(dtype, shape, { least: -100, greatest: 120 })
      for (const [index, element] of odd.data.entries())
        odd.data[index] = (typeof element === 'bigint' ? element | 1n : element | 1) as never
      const [all, along, narrow] = await numpy.call('np.prod(a), np.prod(a, axis=-1), np.prod(a, dtype=a.dtype)', [odd])
      assertBlock(prod(odd), all!)
      assertBlock(prod(odd, { axis: -1 }), along!)
      assertBlock(prod(odd, { dtype }), narrow!)
      const [running] = await numpy.call('np.multiply.accumulate(a, axis=-1, dtype=np.prod(a).dtype)', [odd])
      assertBlock(cumulativeProd(odd, { axis: -1 }), running!)
    }
})

/** NumPy's sums along the first axes lose much, so it computes with more digits. */
const precise = (axis: string) => `
wide = a.astype('clongdouble' if a.dtype.kind == 'c' else 'longdouble')
one = a.ravel()[:2]
[f(wide, axis=${axis}).astype(f(one).dtype) for f in [np.sum, np.mean, np.var]]`

test('large blocks along each axis are as in NumPy', { skip: withoutNumpy }, async () => {
  await using numpy = await startNumpy()
  const draw = new Draw(5)
  for (const dtype of [float32, float64, int16, int64, complex64])
    for (const shape of [[9001], [4100, 5], [3, 4100], [17, 20, 30], [6, 5000, 4]])
      for (const axis of [null, ...shape.keys()]) {
        const x = draw.block(dtype, shape)
        const text = axis === null ? 'None' : String(axis)
        const [total, middle, spread] = await numpy.call(precise(text), [x])
        const closeness = { epsilons: 64 }
        assertBlock(sum(x, { axis }), total!, closeness)
        assertBlock(mean(x, { axis }), middle!, closeness)
        assertBlock(variance(x, { axis }), spread!, closeness)
        if (isComplex(dtype)) continue
        const [most, least] = await numpy.call(`np.max(a, axis=${text}), np.min(a, axis=${text})`, [x])
        assertBlock(max(x, { axis }), most!)
        assertBlock(min(x, { axis }), least!)
      }
})

suite('special cases', () => {
  test('what is reduced over no elements', () => {
    const none = newBlock(float64, [0, 2])
    assertBlock(sum(none, { axis: 0 }), block(float64, [0, 0]))
    assertBlock(prod(newBlock(int8, [0])), block(int64, 1))
    assertBlock(prod(newBlock(complex64, [2, 0]), { axis: 1 }), block(complex64, [1, 1]))
    assertBlock(mean(none, { axis: 0 }), block(float64, [NaN_, NaN_]))
    assertBlock(mean(newBlock(complex128, [0])), block(complex128, { re: NaN_, im: NaN_ }))
    assertBlock(variance(none), block(float64, NaN_))
    assertBlock(max(none, { axis: 1 }), newBlock(float64, [0]))
    assert.throws(() => max(none, { axis: 0 }), /zero-size array to reduction operation maximum which has no identity/)
    assert.throws(() => min(newBlock(int64, [0])), { code: 'ERR_AETHER_ARRAY_VALUE' })
  })

  test('NaN is the greatest and the least', () => {
    for (const dtype of [float32, float64]) {
      const x = block(dtype, [1, NaN_, 3])
      assertBlock(max(x), block(dtype, NaN_))
      assertBlock(min(x), block(dtype, NaN_))
    }
    const long = blockOver(new Float64Array(10_000), float64, [10_000])
    long.data[9000] = NaN_
    assertBlock(max(long), block(float64, NaN_))
  })

  test('a sum of -0 is -0', () => {
    assertBlock(sum(block(float64, [-0, -0])), block(float64, -0))
    assertBlock(cumulativeSum(block(float64, [-0, -0, 0])), block(float64, [-0, -0, 0]))
  })

  test('of zeros of both signs the greatest is 0 and the least is -0, wherever they stand', () => {
    for (const dtype of [float32, float64])
      for (const length of [2, 9, 5000])
        for (const odd of [0, -0])
          for (const place of [0, 1, length - 1]) {
            // The same line as some rows, and as some columns, which the kernels read together.
            const rows = newBlock(dtype, [9, length])
            for (let at = 0; at < rows.data.length; at += 1) rows.data[at] = at % length === place ? odd : -odd
            const all = new Array<number>(9)
            for (const x of [rows, permute(copyOf(permute(rows, [1, 0])), [1, 0])]) {
              assertBlock(max(x, { axis: 1 }), block(dtype, all.fill(0)))
              assertBlock(min(x, { axis: 1 }), block(dtype, all.fill(-0)))
            }
          }
  })

  test('64-bit integers compare by all their bits', () => {
    const near = [2n ** 62n, 2n ** 62n + 1n, -(2n ** 63n), 2n ** 62n - 1n, -1n]
    const signed = blockOver(BigInt64Array.from(near), int64, [5])
    assert.deepEqual([values(max(signed)), values(min(signed))], [[2n ** 62n + 1n], [-(2n ** 63n)]])
    const unsigned = blockOver(BigUint64Array.of(2n ** 63n, 1n, 2n ** 64n - 1n, 5n), uint64, [4])
    assert.deepEqual([values(max(unsigned)), values(min(unsigned))], [[2n ** 64n - 1n], [1n]])
  })

  test('a divisor that is not positive makes a variance NaN', () => {
    const x = block(float32, [1, 2])
    assertBlock(variance(x, { correction: 2 }), block(float32, NaN_))
    assertBlock(std(x, { correction: 3 }), block(float32, NaN_))
    assertBlock(variance(x, { correction: 1n }), block(float32, 0.5))
    assertBlock(std(block(int32, [1, 3])), block(float64, 1))
  })

  test('a product of infinities is not NaN', () => {
    const infinite = Number.POSITIVE_INFINITY
    assertBlock(prod(block(float64, [infinite, -1])), block(float64, -infinite))
    assertBlock(prod(block(complex128, [{ re: infinite, im: 1 }])), block(complex128, { re: infinite, im: 1 }))
  })
})

test('a cumulation starts with 0 or 1 if it is asked to, and needs an axis for more than one', () => {
  const x = block(int8, [
    [1, 2, 3],
    [4, 5, 6],
  ])
  assertBlock(
    cumulativeSum(x, { axis: 0, includeInitial: true }),
    block(int64, [
      [0, 0, 0],
      [1, 2, 3],
      [5, 7, 9],
    ]),
  )
  assertBlock(
    cumulativeProd(x, { axis: 1, includeInitial: true }),
    block(int64, [
      [1, 1, 2, 6],
      [1, 4, 20, 120],
    ]),
  )
  assertBlock(cumulativeSum(newBlock(float64, [0]), { includeInitial: true }), block(float64, [0]))
  assertBlock(
    cumulativeSum(x, { axis: 1, dtype: int8 }),
    block(int8, [
      [1, 3, 6],
      [4, 9, 15],
    ]),
  )
  assertBlock(cumulativeSum(block(int64, [2 ** 40, 2 ** 40, -(2 ** 42)])), block(int64, [2 ** 40, 2 ** 41, -(2 ** 41)]))
  assert.throws(() => cumulativeSum(x), /more than one dimension/)
  assert.throws(() => cumulativeSum(x, { axis: 2 }), { code: 'ERR_AETHER_ARRAY_AXIS' })
})

test('what cannot be reduced is refused in words', () => {
  const x = block(float64, [[1, 2]])
  assert.throws(() => sum(x, { axis: 2 }), /axis 2 is out of bounds for array of dimension 2/)
  assert.throws(() => sum(x, { axis: [0, -2] }), /duplicate value in axis/)
  assert.throws(() => max(block(complex64, [1])), { code: 'ERR_AETHER_ARRAY_TYPE' })
  assert.throws(() => sum(x, { dtype: bool }), /use any\(\) or all\(\)/)
})
