import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Block } from '../../src/arrays/blocks/block.ts'
import { cross } from '../../src/arrays/local/linalg/cross.ts'
import { diagonal, trace } from '../../src/arrays/local/linalg/diagonal.ts'
import { matmul, outer } from '../../src/arrays/local/linalg/matmul.ts'
import { matrixPower } from '../../src/arrays/local/linalg/matrix-power.ts'
import { matrixNorm, vectorNorm } from '../../src/arrays/local/linalg/norms.ts'
import { tensordot } from '../../src/arrays/local/linalg/tensordot.ts'
import { vecdot } from '../../src/arrays/local/linalg/vecdot.ts'
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
  isInteger,
  uint8,
  uint32,
  uint64,
} from '../../src/arrays/types/dtype.ts'
import { assertBlock, block, type Closeness, scattered } from './support/blocks.ts'
import { type Numpy, startNumpy, withoutNumpy } from './support/numpy.ts'
import { randomBlock } from './support/random-block.ts'

const DTYPES = [float32, float64, complex64, complex128, int8, int16, int32, int64, uint8, uint32, uint64]

/** Sums of products have the same bits for integers; others are apart by roundings of as many terms as there are. */
const bound = (dtype: DType, terms: number): Closeness =>
  isInteger(dtype) || dtype === bool ? {} : { epsilons: 1 + terms / 2, zerosEqual: true }

/** A copy of an operand with other strides in front of the operand itself. */
const both = (operand: Block): Block[] => [operand, scattered(operand)]

describe('products', { skip: withoutNumpy }, () => {
  let numpy: Numpy
  before(async () => {
    numpy = await startNumpy()
  })
  after(() => numpy[Symbol.asyncDispose]())

  const agrees = async (actual: Block, expression: string, operands: Block[], closeness: Closeness): Promise<void> => {
    const [expected] = await numpy.call(expression, operands)
    const what = operands.map(({ dtype, shape }) => `${dtype}(${shape})`).join(', ')
    assertBlock(actual, expected!, closeness, `${expression} of ${what}`)
  }

  test('matmul has the shapes of NumPy, in every type, whatever the strides are', async () => {
    const shapes = [
      [[3], [3]],
      [[3], [3, 4]],
      [[2, 3], [3]],
      [
        [2, 3],
        [3, 4],
      ],
      [
        [5, 2, 3],
        [3, 4],
      ],
      [
        [2, 1, 2, 3],
        [5, 3, 1],
      ],
      [[3], [2, 3, 4]],
      [
        [2, 0],
        [0, 3],
      ],
      [
        [3, 0],
        [0, 0],
      ],
      [
        [2, 0, 3],
        [2, 3, 0],
      ],
      [
        [0, 2, 3],
        [3, 4],
      ],
      [
        [17, 19],
        [19, 13],
      ],
    ] as const
    for (const dtype of DTYPES)
      for (const [one, other] of shapes) {
        const a = randomBlock(dtype, one, 1)
        const b = randomBlock(dtype, other, 2)
        for (const left of both(a))
          for (const right of both(b)) await agrees(matmul(left, right), 'np.matmul(a, b)', [a, b], bound(dtype, 19))
      }
  })

  test('matmul of more than a strip of the inner axis, and of mixed types', async () => {
    for (const [first, second] of [
      [float64, float64],
      [complex128, float64],
      [float32, complex128],
      [int32, uint8],
      [int64, int64],
    ] as const) {
      const a = randomBlock(first, [9, 300], 3)
      const b = randomBlock(second, [300, 7], 4)
      const { dtype } = matmul(a, b)
      await agrees(matmul(a, b), 'np.matmul(a, b)', [a, b], bound(dtype, 300))
    }
  })

  test('integers that overflow keep their low bits, as in NumPy', async () => {
    for (const dtype of [int8, int32, uint32, int64, uint64]) {
      const a = randomBlock(dtype, [9, 20], 5)
      const large = randomBlock(dtype, [20, 9], 6)
      const factor = dtype.bytes === 8 ? 999_999_999_999_999_999n : 99_999_999
      for (let at = 0; at < large.data.length; at += 1)
        large.data[at] = ((large.data[at] as number) * (factor as number)) as never
      await agrees(matmul(a, large), 'np.matmul(a, b)', [a, large], {})
      await agrees(matmul(large, matmul(a, large)), 'np.matmul(b, np.matmul(a, b))', [a, large], {})
      const row = { ...a, shape: [20], strides: [1] }
      const column = { ...large, shape: [20], strides: [9] }
      await agrees(
        vecdot(row, column),
        'np.vecdot(a, b) if hasattr(np, "vecdot") else (a * b).sum(dtype=a.dtype)',
        [row, column],
        {},
      )
    }
  })

  test('vecdot conjugates the first operand, and has its axis from the end', async () => {
    for (const dtype of DTYPES) {
      const a = randomBlock(dtype, [4, 3, 5], 7)
      const b = randomBlock(dtype, [3, 5], 8)
      const sum = (axis: number): string => `(np.conj(a) * b).sum(axis=${axis}, dtype=a.dtype)`
      await agrees(vecdot(scattered(a), scattered(b)), sum(-1), [a, b], bound(dtype, 5))
      await agrees(vecdot(scattered(a), b, { axis: -2 }), sum(-2), [a, b], bound(dtype, 5))
    }
  })

  test('tensordot sums over the axes that are named', async () => {
    for (const dtype of [float64, complex64, int16]) {
      const a = randomBlock(dtype, [3, 4, 5], 9)
      const b = randomBlock(dtype, [4, 5, 2], 10)
      const c = randomBlock(dtype, [5, 3, 4], 11)
      await agrees(tensordot(a, b), 'np.tensordot(a, b)', [a, b], bound(dtype, 20))
      await agrees(tensordot(scattered(a), b, { axes: 0 }), 'np.tensordot(a, b, 0)', [a, b], bound(dtype, 1))
      const text = 'np.tensordot(a, b, ([0, -1], [1, 0]))'
      await agrees(
        tensordot(scattered(a), scattered(c), {
          axes: [
            [0, -1],
            [1, 0],
          ],
        }),
        text,
        [a, c],
        bound(dtype, 15),
      )
      await agrees(tensordot(a, c, { axes: [1, -1] }), 'np.tensordot(a, b, (1, -1))', [a, c], bound(dtype, 4))
    }
  })

  test('outer and cross', async () => {
    for (const dtype of DTYPES) {
      const a = randomBlock(dtype, [5], 12)
      const b = randomBlock(dtype, [7], 13)
      await agrees(outer(scattered(a), b), 'np.outer(a, b)', [a, b], bound(dtype, 1))
      const c = randomBlock(dtype, [4, 3], 14)
      const d = randomBlock(dtype, [2, 1, 3], 15)
      await agrees(cross(scattered(c), scattered(d)), 'np.cross(a, b)', [c, d], bound(dtype, 2))
      const e = randomBlock(dtype, [3, 4], 16)
      const f = randomBlock(dtype, [3, 4], 22)
      await agrees(cross(e, scattered(f), { axis: -2 }), 'np.cross(a, b, axis=-2)', [e, f], bound(dtype, 2))
    }
  })

  test('powers of matrices, also negative ones', async () => {
    for (const dtype of [float64, complex128, int64, float32]) {
      const a = randomBlock(dtype, [2, 4, 4], 17)
      for (const n of [0, 1, 2, 3, 7])
        await agrees(matrixPower(scattered(a), n), `np.linalg.matrix_power(a, ${n})`, [a], bound(dtype, 16))
      if (!isInteger(dtype)) await agrees(matrixPower(a, -3), 'np.linalg.matrix_power(a, -3)', [a], { epsilons: 2000 })
    }
  })

  test('diagonals are views, and traces have the type of a sum', async () => {
    for (const dtype of [...DTYPES])
      for (const offset of [0, 1, -1, 3, -4, 9, -9]) {
        const a = randomBlock(dtype, [2, 4, 5], 18)
        const options = `offset=${offset}, axis1=-2, axis2=-1`
        await agrees(diagonal(scattered(a), { offset }), `np.diagonal(a, ${options})`, [a], {})
        const sum = isInteger(dtype) ? `, dtype=np.${dtype.kind === 'signed integer' ? 'int64' : 'uint64'}` : ''
        await agrees(trace(scattered(a), { offset }), `np.trace(a, ${options}${sum})`, [a], bound(dtype, 4))
      }
    const a = randomBlock(float64, [3, 3], 19)
    assert.equal(diagonal(a).data, a.data)
    await agrees(trace(a, { dtype: complex128 }), 'np.trace(a, dtype=np.complex128)', [a], bound(float64, 3))
  })

  test('norms of vectors along axes', async () => {
    for (const dtype of [float32, float64, complex64, complex128])
      for (const ord of [0, 1, 2, 3, -1, -2, 0.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const a = randomBlock(dtype, [3, 4, 5], 20)
        const text = `ord=float('${ord === Infinity ? 'inf' : ord === -Infinity ? '-inf' : ord}')`
        const flat = `np.linalg.norm(a.ravel(), ${text})`
        await agrees(vectorNorm(scattered(a), { ord }), flat, [a], { ulps: 8 })
        const along = `np.linalg.norm(a, axis=1, keepdims=True, ${text})`
        await agrees(vectorNorm(scattered(a), { ord, axis: 1, keepdims: true }), along, [a], { ulps: 8 })
        const two = `np.linalg.norm(np.moveaxis(a, (0, 2), (1, 2)).reshape(4, 15), axis=1, ${text})`
        await agrees(vectorNorm(scattered(a), { ord, axis: [0, -1] }), two, [a], { ulps: 8 })
      }
  })

  test('norms of matrices', async () => {
    const orders = ['fro', 'nuc', 1, -1, 2, -2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const
    for (const dtype of [float32, float64, complex64, complex128])
      for (const ord of orders) {
        const a = randomBlock(dtype, [2, 4, 3], 21)
        const text = typeof ord === 'string' ? `'${ord}'` : `float('${ord}'.lower().replace('infinity', 'inf'))`
        const expression = `np.linalg.norm(a, axis=(-2, -1), keepdims=True, ord=${text})`
        await agrees(matrixNorm(scattered(a), { ord, keepdims: true }), expression, [a], { epsilons: 16 })
      }
  })
})

test('a matrix product of booleans is true where any product is', () => {
  const a = block(bool, [
    [true, false],
    [false, false],
  ])
  assertBlock(
    matmul(
      a,
      block(bool, [
        [false, true],
        [true, true],
      ]),
    ),
    block(bool, [
      [false, true],
      [false, false],
    ]),
  )
})

test('a norm of numbers whose squares overflow or vanish is right', () => {
  assertBlock(vectorNorm(block(float64, [3e200, 4e200])), block(float64, 5e200), { ulps: 1 })
  assertBlock(vectorNorm(block(float64, [3e-200, 4e-200])), block(float64, 5e-200), { ulps: 1 })
})

test('shapes that do not fit are named in the error', () => {
  const a = randomBlock(float64, [2, 3], 1)
  const b = randomBlock(float64, [4, 5], 1)
  assert.throws(() => matmul(a, b), /shapes \(2, 3\) and \(4, 5\) \(size 4 is different from 3\)/)
  assert.throws(() => matmul(block(float64, 1), a), /does not have enough dimensions/)
  assert.throws(() => vecdot(a, b), /\(2, 3\) and \(4, 5\)/)
  assert.throws(() => vecdot(a, a, { axis: 2 }), { code: 'ERR_AETHER_ARRAY_AXIS' })
  assert.throws(() => tensordot(a, b), /shape-mismatch for sum/)
  assert.throws(() => cross(a, randomBlock(float64, [2, 1], 1)), /dimension must be 3/)
  assert.throws(() => outer(a, b), /must be one-dimensional/)
  assert.throws(() => matrixPower(a, 2), /must be square/)
  assert.throws(() => diagonal(randomBlock(float64, [3], 1)), /must be at least two-dimensional/)
  assert.throws(() => matrixNorm(a, { ord: 7 }), /Invalid norm order 7 for matrices/)
})
