import assert from 'node:assert/strict'
import test from 'node:test'
import { type Block, blockOver, newBlock } from '../../../src/arrays/blocks/block.ts'
import { copyInto, elementsOf } from '../../../src/arrays/blocks/copying.ts'
import { indicesOfTrue, pick, pickingOf } from '../../../src/arrays/blocks/picking.ts'
import { kernels } from '../../../src/arrays/kernels/call.ts'
import { multiplyNatively } from '../../../src/arrays/kernels/native-products.ts'
import {
  compressNatively,
  countBinsNatively,
  placesNatively,
  repeatNatively,
  takeNatively,
} from '../../../src/arrays/kernels/native-selecting.ts'
import { bincount } from '../../../src/arrays/local/bincount.ts'
import { castTo } from '../../../src/arrays/local/casting.ts'
import {
  bool,
  DTYPES,
  float64,
  int64,
  isComplex,
  isFloating,
  isInteger,
  isWide,
  realOf,
  uint32,
} from '../../../src/arrays/types/dtype.ts'
import { randomBlock, randomNumbers } from '../support/random-block.ts'

const skip = kernels() === undefined && 'there is no addon with kernels'
const types = Object.values(DTYPES)

test('elements by index, of every type and on every axis, are those that the twin picks', { skip }, () => {
  const next = randomNumbers(1)
  for (const dtype of types)
    for (const shape of [[40], [5, 7], [3, 4, 5]])
      for (const axis of shape.keys())
        for (const type of [int64, uint32]) {
          const extent = shape[axis]!
          const indices = Array.from(
            { length: 12 },
            () => Math.floor(next() * extent) - (type === int64 ? Math.floor(next() * 2) * extent : 0),
          )
          const data =
            type === int64
              ? new BigInt64Array(indices.map((index) => BigInt(index >= extent ? 0 : index)))
              : new Uint32Array(indices)
          const block = randomBlock(dtype, shape, 3)
          const picker = blockOver(data, type, [3, 4])
          const expected = pick(block, pickingOf(block, [axis], [picker], false))
          const taken = takeNatively(block, axis, picker)!
          assert.deepEqual(taken.shape, expected.shape)
          assert.deepEqual(taken.data, expected.data, `${dtype} along axis ${axis}`)
        }
})

test('an index that is outside is left to the twin', { skip }, () => {
  const block = randomBlock(float64, [10], 1)
  for (const index of [10n, -11n, 2n ** 62n])
    assert.equal(takeNatively(block, 0, blockOver(new BigInt64Array([1n, index]), int64, [2])), undefined)
})

test('an index is checked where there is nothing to take, too', { skip }, () => {
  const taken = (shape: readonly number[], axis: number, index: bigint): readonly number[] | undefined =>
    takeNatively(newBlock(float64, shape), axis, blockOver(BigInt64Array.of(index), int64, [1]))?.shape
  assert.deepEqual(taken([3, 0], 0, -3n), [1, 0])
  assert.equal(taken([3, 0], 0, 3n), undefined)
  assert.deepEqual(taken([0, 3], 1, 2n), [0, 1])
  assert.equal(taken([0, 3], 1, -4n), undefined)
  assert.equal(taken([0, 3], 0, 0n), undefined)
})

test('elements where a mask is true, of every type, are those that the twin picks', { skip }, () => {
  for (const dtype of types)
    for (const axes of [1, 2, 3])
      for (const share of [0, 0.3, 1]) {
        const shape = [30, 4, 3]
        const next = randomNumbers(axes)
        const mask = newBlock(bool, shape.slice(0, axes))
        for (let at = 0; at < mask.data.length; at += 1) mask.data[at] = Number(next() < share)
        const block = randomBlock(dtype, shape, 5)
        const indices = indicesOfTrue(mask).map((found) => blockOver(found, float64, [found.length]))
        const expected = pick(block, pickingOf(block, [...mask.shape.keys()], indices, false))
        const found = compressNatively(block, mask)!
        assert.deepEqual(found.shape, expected.shape)
        assert.deepEqual(found.data, expected.data, `${dtype}, ${axes} axes`)
        const places = placesNatively(mask)!
        assert.deepEqual(
          [...(places.data as BigInt64Array)].map(Number),
          [...mask.data].flatMap((value, at) => (value ? [at] : [])),
        )
      }
})

test('products of matrices of every type, of any extents and strides, are the sums of products', { skip }, () => {
  const next = randomNumbers(9)
  const transposedOf = (block: Block): Block => ({
    ...block,
    shape: block.shape.toReversed(),
    strides: block.strides.toReversed(),
  })
  for (const dtype of types)
    for (let round = 0; round < 8; round += 1) {
      const [rows, inner, columns] = [0, 1, 2].map(() => 1 + Math.floor(next() * (round < 4 ? 9 : 40))) as [
        number,
        number,
        number,
      ]
      const isTurned = round % 2 === 1
      const x1 = isTurned ? transposedOf(randomBlock(dtype, [inner, rows], 1)) : randomBlock(dtype, [rows, inner], 1)
      const x2 = isTurned
        ? transposedOf(randomBlock(dtype, [columns, inner], 2))
        : randomBlock(dtype, [inner, columns], 2)
      const result = newBlock(dtype, [rows, columns])
      assert.ok(multiplyNatively(x1, x2, result))
      const [a, b] = [elementsOf(x1), elementsOf(x2)]
      const { lanes } = dtype
      for (let i = 0; i < rows; i += 1)
        for (let j = 0; j < columns; j += 1) {
          let [re, im] = [0, 0]
          for (let k = 0; k < inner; k += 1) {
            const [p, q] = [lanes * (i * inner + k), lanes * (k * columns + j)]
            const [ar, ai] = [Number(a[p]), lanes === 2 ? Number(a[p + 1]) : 0]
            const [br, bi] = [Number(b[q]), lanes === 2 ? Number(b[q + 1]) : 0]
            re += ar * br - ai * bi
            im += ar * bi + ai * br
          }
          const found = [0, 1].slice(0, lanes).map((lane) => Number(result.data[lanes * (i * columns + j) + lane]))
          const expected = (isComplex(dtype) ? [re, im] : [re]).map((value) =>
            dtype === bool ? Number(value !== 0) : value,
          )
          const wrapped = isFloating(dtype)
            ? expected
            : expected.map((value) => Number(wrap(value, dtype.bytes, dtype.kind === 'signed integer')))
          const bound = isFloating(dtype) ? inner * 4 * (realOf(dtype) === float64 ? 2 ** -52 : 2 ** -23) : 0
          found.forEach((value, lane) => {
            assert.ok(
              Math.abs(value - wrapped[lane]!) <= bound,
              `${dtype} ${rows}, ${inner}, ${columns}: ${value}, ${wrapped[lane]}`,
            )
          })
        }
    }
})

function wrap(value: number, bytes: number, signed: boolean): bigint {
  return signed ? BigInt.asIntN(8 * bytes, BigInt(value)) : BigInt.asUintN(8 * bytes, BigInt(value))
}

test('large products on several threads, and stacks that are broadcast', { skip }, () => {
  const [x1, x2] = [randomBlock(float64, [300, 500], 1), randomBlock(float64, [500, 260], 2)]
  const result = newBlock(float64, [300, 260])
  assert.ok(multiplyNatively(x1, x2, result))
  const [a, b] = [x1.data as Float64Array, x2.data as Float64Array]
  for (let place = 0; place < 300 * 260; place += 777) {
    const [i, j] = [Math.floor(place / 260), place % 260]
    let sum = 0
    for (let k = 0; k < 500; k += 1) sum += a[i * 500 + k]! * b[k * 260 + j]!
    assert.ok(Math.abs((result.data[place] as number) - sum) < 1e-12, `element ${i}, ${j}`)
  }
  const stack = newBlock(float64, [3, 300, 260])
  assert.ok(multiplyNatively(x1, { ...randomBlock(float64, [3, 500, 260], 2), offset: 0 }, stack))
  assert.ok(Math.abs((stack.data[5] as number) - (result.data[5] as number)) < 1e-12)
  const many = newBlock(float64, [50, 3, 3])
  const small = randomBlock(float64, [50, 3, 3], 4)
  assert.ok(multiplyNatively(small, small, many))
  const s = small.data as Float64Array
  assert.ok(Math.abs((many.data[18] as number) - (s[18]! * s[18]! + s[19]! * s[21]! + s[20]! * s[24]!)) < 1e-12)
})

test('elements several times, of every type, lie behind each other', { skip }, () => {
  for (const dtype of types)
    for (const times of [0, 1, 3]) {
      const block = { ...randomBlock(dtype, [9], 4), offset: 2, shape: [7] }
      const repeated = repeatNatively(block, times)!
      const expected = newBlock(dtype, [7, times])
      copyInto(expected, { ...block, shape: [7, times], strides: [1, 0] })
      assert.deepEqual(repeated.data, expected.data, `${dtype} ${times} times`)
    }
})

test('integers of every type are counted, and one without a bin is left to the twin', { skip }, () => {
  for (const dtype of types.filter(isInteger)) {
    const numbers = randomBlock(dtype, [5000], 8)
    const expected = new BigInt64Array(12)
    for (const number of numbers.data) expected[Number(number)]! += 1n
    assert.deepEqual(bincount(numbers, { minlength: 12 }).data, expected, `${dtype}`)
    numbers.data[4000] = (isWide(dtype) ? 2n ** 33n : 100) as never
    const bins = newBlock(int64, [12])
    const wide = castTo(numbers, int64)
    assert.equal(countBinsNatively(wide, bins), false)
  }
  const negative = blockOver(BigInt64Array.of(1n, -1n), int64, [2])
  assert.throws(() => bincount(negative), { message: /must have no negative elements/ })
})
