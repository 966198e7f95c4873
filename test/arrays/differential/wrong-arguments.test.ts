import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NdArray, openArrays } from '../../../src/arrays/index.ts'
import { AetherError } from '../../../src/native/index.ts'
import { badValues, shownValue } from '../../public/bad-values.ts'
import { asArrays } from '../support/namespace.ts'
import { comparisons } from './comparisons/index.ts'
import { Draw } from './draw.ts'

/** Tries every value at every place. Otherwise a place gets every third, and its neighbours the others. */
const ALL_VALUES = process.env['AETHER_TEST_VALUES'] === 'all'
const SHARE = 3
/** Right calls of a function that are made wrong, one argument at a time. */
const CALLS = ALL_VALUES ? 3 : 1
const SHOWN = 20
/** As an extent these are no mistake: gigabytes would be filled. */
const tried = badValues.filter((make) => ![2 ** 31, 2 ** 32].includes(make() as number))

/** The arguments with another value at one place, then at one option, then with one more. */
function* wrongCalls(operands: readonly unknown[], value: () => unknown): Generator<readonly unknown[]> {
  for (const [place, operand] of operands.entries()) {
    yield operands.with(place, value())
    if (!isOptions(operand)) continue
    for (const name of Object.keys(operand)) yield operands.with(place, { ...operand, [name]: value() })
  }
  yield [...operands, value()]
}

function isOptions(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

test('every function refuses wrong arguments with an error of its own, or takes them', async () => {
  const xp = await openArrays()
  const faults: string[] = []
  let calls = 0
  for (const [number, [name, comparison]] of Object.entries(comparisons).entries()) {
    let left = CALLS
    for (const right of comparison.calls(new Draw(number))) {
      if (left-- === 0) break
      for (const [turn, value] of tried.entries()) {
        for (const [place, operands] of [...wrongCalls(asArrays(right), value)].entries()) {
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
