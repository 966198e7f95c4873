import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openArrays } from '../../src/arrays/index.ts'

const xp = await openArrays()

test('arange counts as its arguments are, with options after any of them', () => {
  assert.deepEqual(xp.arange(4, { dtype: xp.int8 }).toTypedArray(), Int8Array.of(0, 1, 2, 3))
  assert.deepEqual(xp.arange(1n, 10n, 3n).toArray(), [1n, 4n, 7n])
  assert.deepEqual(xp.arange(5, 0, -2, { dtype: xp.uint64 }).toArray(), [5n, 3n, 1n])
  assert.deepEqual(xp.arange(0, 1, 0.25).toArray(), [0, 0.25, 0.5, 0.75])
  assert.deepEqual(xp.arange(3, 3).shape, [0])
  assert.throws(() => xp.arange(0, 300, 100, { dtype: xp.int8 }), { code: 'ERR_AETHER_ARRAY_VALUE' })
  assert.throws(() => xp.arange(0, 1, 0), { code: 'ERR_AETHER_ARRAY_VALUE' })
})

test('linspace ends where it should', () => {
  assert.deepEqual(xp.linspace(0, 1, 3).toArray(), [0, 0.5, 1])
  assert.deepEqual(xp.linspace(0, 1, 2, { endpoint: false }).toArray(), [0, 0.5])
  assert.deepEqual(xp.linspace(0, 10, 5, { dtype: xp.int64 }).toArray(), [0n, 2n, 5n, 7n, 10n])
  assert.deepEqual(xp.linspace(0, { re: 0, im: 2 }, 2).toArray(), [
    { re: 0, im: 0 },
    { re: 0, im: 2 },
  ])
})

test('lists may hold arrays and typed arrays, whose type they take', () => {
  const x = xp.asarray([1, 2], { dtype: xp.float32 })
  assert.deepEqual(xp.asarray([[x.at(0), x.at(1)], x]).toArray(), [
    [1, 2],
    [1, 2],
  ])
  assert.equal(xp.asarray([x, Float64Array.of(3, 4)]).dtype, xp.float64)
})

test('what has no room is refused before anything is taken', () => {
  assert.throws(() => xp.zeros([2 ** 26, 2 ** 26]), {
    code: 'ERR_AETHER_ARRAY_MEMORY',
    message: /^Unable to allocate \d+ bytes for an array with shape \(67108864, 67108864\) and data type float64$/,
  })
  assert.throws(() => xp.zeros([-1]), { code: 'ERR_AETHER_ARRAY_SHAPE' })
})

test('functions of the namespace are found by their names in the standard', () => {
  const x = xp.asarray([3, 4])
  assert.deepEqual((xp.call('cumulative_sum', x) as typeof x).toArray(), [3, 7])
  assert.equal((xp.call('linalg.vector_norm', x) as typeof x).item(), 5)
  assert.throws(() => xp.call('no_such'), { code: 'ERR_AETHER_ARRAY_VALUE' })
})
