import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ArrayError } from '../../../src/arrays/errors.ts'
import { percentile, type QuantileMethod, quantile } from '../../../src/arrays/local/quantile.ts'
import { RandomGenerator } from '../../../src/arrays/local/random/generator.ts'
import { selectPlaces } from '../../../src/arrays/local/selection.ts'
import { bool, complex64, DTYPES, float32, float64, isInteger } from '../../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const generator = new RandomGenerator(5)
const x = generator.standardNormal([3, 4, 5])
const methods: readonly QuantileMethod[] = [
  'inverted_cdf',
  'averaged_inverted_cdf',
  'closest_observation',
  'interpolated_inverted_cdf',
  'hazen',
  'weibull',
  'linear',
  'median_unbiased',
  'normal_unbiased',
  'lower',
  'higher',
  'midpoint',
  'nearest',
]
/** These differ between versions of NumPy where a quantile falls on an element. */
const changed: readonly QuantileMethod[] = ['closest_observation', 'averaged_inverted_cdf', 'inverted_cdf']

test('every method gives what NumPy gives', { skip: withoutNumpy }, async () => {
  const steps = [0, 0.01, 0.2, 0.37, 0.5, 0.625, 0.99, 1]
  const list = `[${steps.join(', ')}]`
  for (const length of [1, 2, 5, 8, 31])
    for (const method of methods) {
      const values = generator.integers(0, 30, length, { dtype: DTYPES.int16 })
      const q = changed.includes(method) ? [0.012, 0.37, 0.73, 0.99] : steps
      const [expected] = await numpy.call(
        `np.quantile(a, ${changed.includes(method) ? '[.012, .37, .73, .99]' : list}, method='${method}').astype(float)`,
        [values],
      )
      assertBlock(quantile(values, q, { method }), expected!, { ulps: 1 }, `${method} of ${length}`)
    }
})

test('axes, kept axes and several quantiles at once', { skip: withoutNumpy }, async () => {
  const q = block(float64, [
    [0, 12.5],
    [50, 97],
  ])
  const cases = [
    ['np.percentile(a, 40)', percentile(x, 40)],
    ['np.percentile(a, 40, axis=1)', percentile(x, 40, { axis: 1 })],
    ['np.percentile(a, [5, 95], axis=-1, keepdims=True)', percentile(x, [5, 95], { axis: -1, keepdims: true })],
    ['np.percentile(a, b, axis=(0, 2))', percentile(scattered(x), q, { axis: [0, 2] })],
    ['np.quantile(a, .5, axis=(2, 0), keepdims=True)', quantile(x, 0.5, { axis: [2, 0], keepdims: true })],
    ['np.quantile(a[:, :0], .5, axis=0)', quantile({ ...x, shape: [3, 0, 5] }, 0.5, { axis: 0 })],
  ] as const
  for (const [expression, ours] of cases) {
    const [expected] = await numpy.call(expression, [x, q])
    assertBlock(ours, expected!, {}, expression)
  }
})

test('every real type, NaN and infinities', { skip: withoutNumpy }, async () => {
  for (const dtype of Object.values(DTYPES).filter((one) => isInteger(one) || one === float64 || one === float32)) {
    const values = isInteger(dtype)
      ? generator.integers(0, 100, [9, 5], { dtype })
      : generator.random([9, 5], { dtype })
    // NumPy before 2.0 gives float64 for float32.
    const text = `np.quantile(a, 0.3, axis=0).astype('${isInteger(dtype) ? float64 : dtype}')`
    const [expected] = await numpy.call(text, [values])
    assertBlock(quantile(values, 0.3, { axis: 0 }), expected!, { ulps: dtype === float32 ? 4 : 0 }, `${dtype}`)
  }
  const odd = block(float64, [
    [1, Number.NaN, 3],
    [-4, 0, 1e300],
  ])
  const [expected] = await numpy.call('np.quantile(a, [0, .5, 1], axis=1)', [odd])
  assertBlock(quantile(odd, [0, 0.5, 1], { axis: 1 }), expected!)
  // NumPy has NaN here, of infinity times 0.
  const infinities = block(float64, [Number.NEGATIVE_INFINITY, 2, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
  assert.deepEqual(
    [...quantile(infinities, [0, 1 / 3, 0.9]).data],
    [Number.NEGATIVE_INFINITY, 2, Number.POSITIVE_INFINITY],
  )
})

test('what has no quantile is refused', () => {
  const refused = (call: () => unknown, code: string, words: RegExp): void =>
    assert.throws(
      call,
      (error) => error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${code}` && words.test(error.message),
    )
  refused(() => quantile(x, 1.5), 'VALUE', /range \[0, 1\]/)
  refused(() => quantile(x, Number.NaN), 'VALUE', /range \[0, 1\]/)
  refused(() => percentile(x, [50, 101]), 'VALUE', /range \[0, 100\]/)
  refused(() => quantile(x, 0.5, { axis: 3 }), 'AXIS', /axis 3 is out of bounds/)
  refused(() => quantile(x, 0.5, { method: 'best' as 'linear' }), 'VALUE', /'best' is not a valid method/)
  refused(() => quantile(block(complex64, [1]), 0.5), 'TYPE', /complex64/)
  refused(() => quantile(block(bool, [true]), 0.5), 'TYPE', /bool/)
})

test('selecting puts in place what sorting would, whatever the order was', () => {
  const orders: readonly ((index: number, length: number) => number)[] = [
    (index) => index,
    (index) => -index,
    () => 7,
    (index) => index % 2,
    (index, length) => Math.min(index, length - index),
    (index) => (index * 7919) % 1000,
  ]
  for (const order of orders)
    for (const length of [1, 33, 1000, 20_000]) {
      const values = Float64Array.from({ length }, (_, index) => order(index, length))
      const sorted = values.slice().sort()
      const places = [...new Set([0, length >> 2, length >> 1, length - 1])]
      selectPlaces(values, places)
      for (const place of places) assert.equal(values[place], sorted[place])
      assert.deepEqual(values.sort(), sorted)
    }
})
