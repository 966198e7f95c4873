import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Block } from '../../../src/arrays/blocks/block.ts'
import { ArrayError } from '../../../src/arrays/errors.ts'
import { bincount } from '../../../src/arrays/local/bincount.ts'
import { histogram } from '../../../src/arrays/local/histogram.ts'
import { RandomGenerator } from '../../../src/arrays/local/random/generator.ts'
import {
  complex128,
  DTYPES,
  type DType,
  float32,
  float64,
  int8,
  int32,
  int64,
  isInteger,
} from '../../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const generator = new RandomGenerator(22)
const normal = generator.normal(3, 2, [50, 7])
const large = generator.standardNormal(200_000)
const weights = generator.random(200_000)
const reals = Object.values(DTYPES).filter(({ kind }) => kind !== 'complex floating')
const refused = (call: () => unknown, code: string, words: RegExp): void =>
  assert.throws(
    call,
    (error) => error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${code}` && words.test(error.message),
  )

/** Elements of every type between 0 and 100. */
function small(dtype: DType, shape: readonly number[]): Block {
  if (dtype === float32) return generator.random(shape, { dtype })
  return dtype === float64
    ? generator.random(shape)
    : generator.integers(0, dtype.name === 'bool' ? 2 : 100, shape, { dtype })
}

test('counts of equal bins are those of NumPy, for every real type', { skip: withoutNumpy }, async () => {
  for (const dtype of reals) {
    const x = small(dtype, [40, 5])
    const [counts, edges] = await numpy.call('np.histogram(a)', [x])
    const { histogram: ours, binEdges } = histogram(scattered(x))
    assertBlock(ours, counts!, {}, `${dtype}`)
    assertBlock(binEdges, edges!, { ulps: dtype === float32 ? 1 : 0 }, `edges of ${dtype}`)
  }
})

test('bins, range, density and weights', { skip: withoutNumpy }, async () => {
  const edges = block(float64, [-1, 0, 0.5, 0.5, 3, 10])
  const cases: readonly (readonly [string, ReturnType<typeof histogram>])[] = [
    ['np.histogram(a, 17)', histogram(normal, { bins: 17n })],
    ['np.histogram(a, 8, (2, 4))', histogram(normal, { bins: 8, range: [2, 4] })],
    ['np.histogram(a, 8, (20, 20))', histogram(normal, { bins: 8, range: [20, 20] })],
    ['np.histogram(a, 12, density=True)', histogram(normal, { bins: 12, density: true })],
    ['np.histogram(a, [-1, 0, .5, .5, 3, 10.])', histogram(normal, { bins: [-1, 0, 0.5, 0.5, 3, 10] })],
    ['np.histogram(a, b)', histogram(normal, { bins: edges })],
    ['np.histogram(c, 30, weights=d)', histogram(large, { bins: 30, weights })],
    ['np.histogram(e[:0])', histogram({ ...normal, shape: [0, 7] })],
    ['np.histogram(np.ones(5))', histogram(block(float64, [1, 1, 1, 1, 1]))],
    [
      'np.histogram(np.arange(6), 3, weights=np.arange(6, dtype=np.int32))',
      histogram(block(int64, [0, 1, 2, 3, 4, 5]), { bins: 3, weights: block(int32, [0, 1, 2, 3, 4, 5]) }),
    ],
    [
      'np.histogram(np.array([np.nan, 1, np.inf, 2]), 2, (0, 2))',
      histogram(block(float64, [Number.NaN, 1, Number.POSITIVE_INFINITY, 2]), { bins: 2, range: [0, 2] }),
    ],
  ]
  for (const [expression, { histogram: ours, binEdges }] of cases) {
    const [counts, theirs] = await numpy.call(expression, [normal, edges, large, weights, normal])
    assertBlock(ours, counts!, {}, expression)
    assertBlock(binEdges, theirs!, {}, `edges of ${expression}`)
  }
})

test('a value on an edge belongs to the bin on its right; on the last edge, to the last', () => {
  const eighths = block(
    float64,
    Array.from({ length: 9 }, (_, index) => index / 8),
  )
  assert.deepEqual([...histogram(eighths, { bins: 8 }).histogram.data].map(Number), [1, 1, 1, 1, 1, 1, 1, 2])
  const wide = histogram(block(float64, [0.5, 1e9]), { bins: 1000, range: [0, 1] })
  assert.equal(wide.histogram.data[500], 1n)
})

test('what has no histogram is refused', () => {
  refused(() => histogram(normal, { bins: 0 }), 'VALUE', /must be positive/)
  refused(() => histogram(normal, { bins: 1.5 }), 'TYPE', /must be an integer/)
  refused(() => histogram(normal, { bins: [2, 1] }), 'VALUE', /monotonically/)
  refused(() => histogram(normal, { bins: [2] }), 'VALUE', /two edges/)
  refused(() => histogram(normal, { bins: normal }), 'SHAPE', /must be 1d.*\(50, 7\)/)
  refused(() => histogram(normal, { range: [2, 1] }), 'VALUE', /max must be larger/)
  refused(() => histogram(block(float64, [1, Number.NaN])), 'VALUE', /autodetected range of \[NaN, NaN\] is not finite/)
  refused(() => histogram(normal, { range: [0, Number.POSITIVE_INFINITY] }), 'VALUE', /supplied range/)
  refused(() => histogram(normal, { bins: 100, range: [1, 1 + 2 ** -52] }), 'VALUE', /Too many bins/)
  refused(() => histogram(normal, { weights: large }), 'SHAPE', /\(200000,\) and \(50, 7\)/)
  refused(() => histogram(block(complex128, [1])), 'TYPE', /complex128/)
})

test('integers are counted as NumPy does', { skip: withoutNumpy }, async () => {
  for (const dtype of reals.filter(isInteger)) {
    const x = small(dtype, [300])
    const [plain, longer] = await numpy.call('[np.bincount(a.astype(np.int64), minlength=k) for k in (0, 120)]', [x])
    assertBlock(bincount(scattered(x)), plain!, {}, `${dtype}`)
    assertBlock(bincount(x, { minlength: 120 }), longer!)
  }
  const x = generator.integers(0, 50, 200_000)
  for (const each of [weights, generator.integers(-5, 5, 200_000, { dtype: int8 })]) {
    const [expected] = await numpy.call('np.bincount(a, b)', [x, each])
    assertBlock(bincount(x, { weights: each }), expected!)
  }
  assertBlock(bincount(block(int64, [])), block(int64, []))
})

test('what cannot be counted is refused', () => {
  refused(() => bincount(block(int64, [1, -1])), 'VALUE', /no negative elements/)
  refused(() => bincount(normal), 'TYPE', /float64/)
  refused(() => bincount(block(int64, [[1]])), 'SHAPE', /\(1, 1\)/)
  refused(() => bincount(block(int64, [1]), { weights: block(float64, [1, 2]) }), 'SHAPE', /\(2,\) and \(1,\)/)
  refused(() => bincount(block(int64, [1]), { minlength: -1 }), 'VALUE', /minlength/)
  refused(() => bincount(block(int64, [2n ** 40n])), 'MEMORY', /1099511627777 bins/)
})
