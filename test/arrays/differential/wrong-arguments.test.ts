import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parametersOf } from '../../../src/arrays/functions/parameters.ts'
import { FUNCTIONS } from '../../../src/arrays/functions/table.ts'
import { NdArray, openArrays } from '../../../src/arrays/index.ts'
import { AetherError } from '../../../src/native/index.ts'
import { shownValue } from '../../public/bad-values.ts'
import { isOptions, rightCalls, wrongCalls, wrongValues } from './calls.ts'

/** Tries every value at every place. Otherwise a place gets every third, and its neighbours the others. */
const ALL_VALUES = process.env['AETHER_TEST_VALUES'] === 'all'
const SHARE = 3
/** Right calls of a function that are made wrong, one argument at a time. */
const CALLS = ALL_VALUES ? 3 : 1
const SHOWN = 20
test('every function refuses wrong arguments with an error of its own, or takes them', async () => {
  const xp = await openArrays()
  const faults: string[] = []
  let calls = 0
  for (const [number, { name }] of FUNCTIONS.entries()) {
    let left = CALLS
    for (const right of rightCalls(xp, name, number)) {
      if (left-- === 0) break
      for (const [turn, value] of wrongValues.entries()) {
        for (const [place, operands] of [...wrongCalls(right, value)].entries()) {
          if (!ALL_VALUES && (turn + place + number) % SHARE !== 0) continue
          calls += 1
          try {
            const result = xp.call(name, ...operands)
            if (result instanceof NdArray) result.computeSync()
          } catch (error) {
            if (!(error instanceof AetherError))
              faults.push(`${name}(${operands.map(shownValue).join(', ')}): ${error}`)
          }
        }
      }
    }
  }
  assert.ok(calls > 4_000, `${calls} calls`)
  assert.deepEqual(faults.slice(0, SHOWN), [], `${faults.length} of ${calls} calls`)
})

test('an option that a function has not, and an operand too many, are errors and not left out', async () => {
  const xp = await openArrays()
  const code = 'ERR_AETHER_ARRAY_TYPE'
  for (const [number, { name, parameters }] of FUNCTIONS.entries()) {
    const { options, positional, isVariadic } = parametersOf(parameters)
    const [right] = rightCalls(xp, name, number)
    assert.ok(right, name)
    const operands = right.slice(0, isVariadic ? right.length : positional.length)
    const message =
      options.size > 0
        ? /unexpected keyword argument 'decending'/
        : /operands? at most|takes arrays|must be|is no array/
    const last = operands.at(-1)
    const withOptions =
      options.size > 0 && isOptions(last) ? [...operands.slice(0, -1), { ...last, decending: true }] : undefined
    assert.throws(() => xp.call(name, ...(withOptions ?? [...operands, { decending: true }])), { code, message }, name)
    if (isVariadic) continue
    const many = [...operands, ...(options.size > 0 ? [{}] : []), 1]
    assert.throws(() => xp.call(name, ...many), { code, message: /at most|as one object/ }, name)
  }
})

test('numbers that are no whole ones do not stand for these', async () => {
  const xp = await openArrays()
  const code = 'ERR_AETHER_ARRAY_TYPE'
  const x = xp.asarray([1, 2, 4])
  const eye = xp.eye(2)
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 0.5]) {
    assert.throws(() => xp.take(x, [wrong] as never), { code, message: /indices must be of integer type/ })
    assert.throws(() => xp.roll(x, wrong), { code })
    assert.throws(() => xp.roll(eye, [1, wrong], { axis: [0, 1] }), { code })
    assert.throws(() => xp.eye(3, { k: wrong }), { code })
    for (const name of ['tril', 'triu'] as const) assert.throws(() => xp[name](eye, { k: wrong }), { code })
    for (const name of ['diagonal', 'trace'] as const)
      assert.throws(() => xp.linalg[name](eye, { offset: wrong }), { code })
    assert.throws(() => xp.sparse.fromTriplets([wrong] as never, [0] as never, [1] as never, [1, 1]), { code })
  }
  assert.throws(() => xp.arange(0, 1, Number.NaN), { code: 'ERR_AETHER_ARRAY_VALUE', message: /cannot compute length/ })
  assert.deepEqual(xp.random.normal(xp.random.generator(1), 1, 0, 2n as never).toArray(), [1, 1])
  assert.deepEqual(xp.random.uniform(xp.random.generator(1), 1n as never, 1, [1]).toArray(), [1])
})

test('without a group, partitions are looked at and make no difference, and a read-only array is one', async () => {
  const xp = await openArrays()
  assert.throws(() => xp.zeros(3, { partition: 'blocks' as 'block' }), { code: 'ERR_AETHER_ARRAY_PARTITION' })
  assert.throws(() => xp.zeros(3, { partition: ['block', 'block'] }), { code: 'ERR_AETHER_ARRAY_PARTITION' })
  assert.throws(() => xp.zeros(3, { access: 'readonly' as 'read' }), { code: 'ERR_AETHER_ARRAY_VALUE' })
  const x = xp.asarray(Float64Array.of(1, 2), { partition: 'block', access: 'read' })
  assert.throws(() => x.set(0, 5), { code: 'ERR_AETHER_ARRAY_READ_ONLY' })
  assert.throws(() => x.setAt('0', 5), { code: 'ERR_AETHER_ARRAY_READ_ONLY' })
  assert.deepEqual(xp.random.random(xp.random.generator(1), [2], { partition: 'block' }).shape, [2])
})

test('an error about an argument names it, and says what it must be', async () => {
  const xp = await openArrays()
  const x = xp.asarray([1, 2, 3])
  const code = 'ERR_AETHER_ARRAY_TYPE'
  assert.throws(() => xp.call('sum', x, { axis: 'x' }), { code, message: /axis of sum\(\) must be .*, not 'x'/ })
  assert.throws(() => xp.call('sum', x, 0), { code, message: /sum\(\) takes its options as one object/ })
  assert.throws(() => xp.call('reshape', x, 3), { code, message: /shape of reshape\(\) must be a list/ })
  assert.throws(() => xp.call('astype', x), { code, message: /dtype of astype\(\) must be a data type/ })
  assert.throws(() => xp.call('resultType'), { code: 'ERR_AETHER_ARRAY_VALUE' })
  assert.throws(() => xp.call('result_type', {}), { code })
})

test('null stands for an option that is left out, and a list for one that is an array', async () => {
  const xp = await openArrays()
  const x = xp.asarray([1, 2, 4])
  assert.equal(xp.call('sum', x, { axis: null, dtype: null })?.toString(), '7.0')
  assert.deepEqual(xp.diff(x, { prepend: [0] }).toArray(), [1, 1, 2])
  assert.deepEqual(xp.repeat(x, [0, 1, 2] as never).toArray(), [2, 4, 4])
})

test('more memory than there is is an error before any is taken, and more differences than elements are none', async () => {
  const xp = await openArrays()
  const code = 'ERR_AETHER_ARRAY_MEMORY'
  for (const extent of [2 ** 40, 2 ** 53 - 1]) {
    assert.throws(() => xp.ones(extent), { code })
    assert.throws(() => xp.fft.fftfreq(extent), { code })
    assert.throws(() => xp.histogram(xp.asarray([1, 2]), { bins: extent }), { code })
  }
  assert.deepEqual(xp.diff(xp.asarray([1, 2]), { n: 2 ** 53 }).shape, [0])
})
