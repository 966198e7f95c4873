import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complex64, DTYPES, float64, int64 } from '../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered, values } from './support/blocks.ts'
import { type NumpyError, startNumpy, withoutNumpy } from './support/numpy.ts'

test('blocks of every dtype come back from NumPy as they went, wherever their elements lie', {
  skip: withoutNumpy,
}, async () => {
  await using numpy = await startNumpy()
  for (const dtype of Object.values(DTYPES)) {
    const sent = block(dtype, [
      [0, 1, 1],
      [1, 0, 1],
    ])
    const [same, turned] = (await numpy.call('a, b.T', [scattered(sent), sent])) as [typeof sent, typeof sent]
    assertBlock(same, sent)
    assert.deepEqual([...turned.shape], [3, 2])
  }
})

test('statements may stand before the expression, and an exception keeps its type', {
  skip: withoutNumpy,
}, async () => {
  await using numpy = await startNumpy()
  const two = block(int64, [1, 2])
  const [sum] = await numpy.call('total = a.sum()\ntotal + 2**53', [two])
  assert.deepEqual(values(sum!), [2n ** 53n + 3n])
  const wrong = numpy.call('a + np.zeros(3)', [two])
  await assert.rejects(wrong, (error: NumpyError) => error.type === 'ValueError' && error.text.includes('(2,) (3,)'))
  assert.deepEqual(values((await numpy.call('a * 1j', [block(complex64, [1])]))[0]!), [{ re: 0, im: 1 }])
})

test('blocks that differ are told apart: dtype, shape, one bit, and the sign of a zero', () => {
  const one = block(float64, [1, 0])
  assertBlock(block(float64, [1 + 2 ** -52, 0]), one, { ulps: 1 })
  assertBlock(block(float64, [Number.NaN]), block(float64, [Number.NaN]))
  assertBlock(block(float64, [1, -0]), one, { zerosEqual: true })
  assert.throws(() => assertBlock(block(float64, [1 + 2 ** -52, 0]), one), /\[0\] of float64/)
  assert.throws(() => assertBlock(block(float64, [1 + 2 ** -51, 0]), one, { ulps: 1 }), /\[0\]/)
  assert.throws(() => assertBlock(block(float64, [1, -0]), one, { ulps: 1 }), /\[1\] of float64 is -0, expected 0/)
  assert.throws(() => assertBlock(block(float64, [Number.NaN, 0]), one, { ulps: 9 }), /NaN/)
  assert.throws(() => assertBlock(block(float64, [[1, 0]]), one), /shape/)
  assert.throws(() => assertBlock(block(int64, [1, 0]), one), /dtype/)
})
