import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Block } from '../../../../src/arrays/blocks/block.ts'
import { ArrayError } from '../../../../src/arrays/errors.ts'
import { RandomGenerator } from '../../../../src/arrays/local/random/generator.ts'
import {
  bool,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
} from '../../../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered } from '../../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const sources = [
  ['Philox(0)', 0],
  ['Philox(2**200 + 12345)', 2n ** 200n + 12345n],
  ['Philox(key=77)', { key: 77 }],
  ['Philox(key=2**128 - 1, counter=2**256 - 3)', { key: 2n ** 128n - 1n, counter: 2n ** 256n - 3n }],
] as const

/** Calls of both, one after another on one generator each. */
const calls: readonly (readonly [string, (generator: RandomGenerator) => Block])[] = [
  ['random()', (g) => g.random()],
  ['random((7, 3))', (g) => g.random([7, 3])],
  ['random(5, dtype=np.float32)', (g) => g.random(5, { dtype: float32 })],
  ['uniform(-3, 17.5, 11)', (g) => g.uniform(-3, 17.5, 11)],
  ['random((0, 4))', (g) => g.random([0, 4])],
  ['integers(10, size=9)', (g) => g.integers(10, null, 9)],
  ['integers(-5, 5, (2, 3), endpoint=True)', (g) => g.integers(-5, 5, [2, 3], { endpoint: true })],
  ['integers(7, 8, 3)', (g) => g.integers(7, 8, 3)],
  ['integers(-2**40, 2**50, 20)', (g) => g.integers(-(2n ** 40n), 2n ** 50n, 20)],
  ['integers(-2**63, 2**63, 20)', (g) => g.integers(-(2n ** 63n), 2n ** 63n, 20)],
  ['integers(-2**62, -2**62 + 2**32, 20)', (g) => g.integers(-(2n ** 62n), -(2n ** 62n) + 2n ** 32n, 20)],
  [
    'integers(2**63, 2**63 + 3 * 2**61, 50, dtype=np.uint64)',
    (g) => g.integers(2n ** 63n, 2n ** 63n + 3n * 2n ** 61n, 50, { dtype: uint64 }),
  ],
  ['integers(0, 3 * 2**30, 50, dtype=np.uint32)', (g) => g.integers(0, 3 * 2 ** 30, 50, { dtype: uint32 })],
  ['integers(-2**31, 2**31, 20, dtype=np.int32)', (g) => g.integers(-(2 ** 31), 2 ** 31, 20, { dtype: int32 })],
  ['integers(-300, 20000, 51, dtype=np.int16)', (g) => g.integers(-300, 20000, 51, { dtype: int16 })],
  ['integers(0, 2**16, 7, dtype=np.uint16)', (g) => g.integers(0, 2 ** 16, 7, { dtype: uint16 })],
  ['integers(-100, 93, 101, dtype=np.int8)', (g) => g.integers(-100, 93, 101, { dtype: int8 })],
  ['integers(0, 256, 7, dtype=np.uint8)', (g) => g.integers(0, 256, 7, { dtype: uint8 })],
  ['integers(0, 2, 75, dtype=np.bool_)', (g) => g.integers(0, 2, 75, { dtype: bool })],
  ['random(3)', (g) => g.random(3)],
  ['permutation(200)', (g) => g.permutation(200)],
  ['permutation(np.arange(24, dtype=np.int16).reshape(2, 6, 2), axis=1)', (g) => g.permutation(counted, { axis: 1 })],
  ['permutation(1)', (g) => g.permutation(1)],
  ['normal(5, 0.25, 3)', (g) => g.normal(5, 0.25, 3)],
  ['random()', (g) => g.random()],
]
const counted = scattered(
  block(
    int16,
    Array.from({ length: 2 }, (_, i) => Array.from({ length: 6 }, (_, j) => [12 * i + 2 * j, 12 * i + 2 * j + 1])),
  ),
)

for (const [philox, source] of sources)
  test(`the stream of ${philox} is NumPy's, call by call`, { skip: withoutNumpy }, async () => {
    const generator = new RandomGenerator(source)
    const script = calls.map(([call]) => `g.${call}`).join(', ')
    const expected = await numpy.call(`g = np.random.Generator(np.random.${philox})\n[${script}]`)
    for (const [index, [name, call]] of calls.entries()) assertBlock(call(generator), expected[index]!, {}, name)
  })

test('normal numbers are those of NumPy; in the tail but for the last bit', { skip: withoutNumpy }, async () => {
  const count = 300_000
  for (const type of [float64, float32]) {
    const [expected, after] = await numpy.call(
      `g = np.random.Generator(np.random.Philox(4))\n[g.standard_normal(${count}, dtype=np.${type}), g.random()]`,
    )
    const generator = new RandomGenerator(4)
    const actual = generator.standardNormal(count, { dtype: type })
    assertBlock(actual, expected!, { ulps: 1 })
    assertBlock(generator.random(), after!)
    let others = 0
    for (const [index, value] of (actual.data as Float64Array).entries()) {
      if (Object.is(value, expected!.data[index])) continue
      assert.ok(Math.abs(value) > 3.65, `element ${index} is ${value}, expected ${expected!.data[index]}`)
      others += 1
    }
    assert.ok(others < 20, `${others} elements have another last bit`)
  }
})

test('the stream of a seed is the same on every machine', () => {
  const generator = new RandomGenerator({ key: 2024 })
  assert.deepEqual([...generator.integers(-5, 5, 8).data].map(Number), [-3, 2, -3, 1, 3, 3, -1, 3])
  assert.deepEqual(
    [...generator.standardNormal(3).data],
    [0.1594568886651232, -0.0002683401378240656, -0.7046357090177764],
  )
})

test('what cannot be drawn is refused', () => {
  const generator = new RandomGenerator(1)
  const refused = (call: () => unknown, code: string, words: RegExp) =>
    assert.throws(call, (error) => error instanceof ArrayError && error.code === code && words.test(error.message))
  refused(() => generator.integers(5, 5), 'ERR_AETHER_ARRAY_VALUE', /low >= high/)
  refused(
    () => generator.integers(0, 300, 2, { dtype: uint8 }),
    'ERR_AETHER_ARRAY_VALUE',
    /high is out of bounds for uint8/,
  )
  refused(
    () => generator.integers(-1, 3, 2, { dtype: uint8 }),
    'ERR_AETHER_ARRAY_VALUE',
    /low is out of bounds for uint8/,
  )
  refused(() => generator.integers(0, 3, 2, { dtype: float32 }), 'ERR_AETHER_ARRAY_TYPE', /float32/)
  refused(() => generator.random(2, { dtype: int64 }), 'ERR_AETHER_ARRAY_TYPE', /int64/)
  refused(() => generator.random([2, -1]), 'ERR_AETHER_ARRAY_SHAPE', /negative/)
  refused(() => generator.normal(0, -1), 'ERR_AETHER_ARRAY_VALUE', /scale < 0/)
  refused(() => generator.uniform(0, Number.POSITIVE_INFINITY), 'ERR_AETHER_ARRAY_VALUE', /exceeds valid bounds/)
  refused(() => generator.permutation(counted, { axis: 3 }), 'ERR_AETHER_ARRAY_AXIS', /axis 3 is out of bounds/)
  refused(() => new RandomGenerator({}), 'ERR_AETHER_ARRAY_VALUE', /a seed or a key/)
  refused(() => new RandomGenerator(-1), 'ERR_AETHER_ARRAY_VALUE', /seed is -1/)
})
