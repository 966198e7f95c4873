import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NdArray, openArrays } from '../../../src/arrays/index.ts'
import { AetherError } from '../../../src/native/index.ts'
import { badValues, shownValue } from '../../public/bad-values.ts'
import { asArrays } from '../support/namespace.ts'
import { beyond } from './comparisons/beyond.ts'
import { elementwise } from './comparisons/elementwise.ts'
import { fft } from './comparisons/fft.ts'
import { linalg } from './comparisons/linalg.ts'
import * as whole from './comparisons/whole.ts'
import { Draw } from './draw.ts'

const comparisons = { ...Object.assign({}, ...Object.values(whole)), ...elementwise, ...linalg, ...fft, ...beyond }
/** Right calls of a function that are made wrong, one argument at a time. */
const CALLS = 3
const SHOWN = 20
/** As an extent these are no mistake: gigabytes would be filled. */
const tried = badValues.filter((make) => ![2 ** 31, 2 ** 32].includes(make() as number))

/** The arguments with another value at one place, and then with another value at one option. */
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
    for (const right of (comparison as (typeof elementwise)[string]).calls(new Draw(number))) {
      if (left-- === 0) break
      for (const value of tried) {
        for (const operands of wrongCalls(asArrays(right), value)) {
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
  assert.ok(calls > 10_000, `${calls} calls`)
  assert.deepEqual(faults.slice(0, SHOWN), [], `${faults.length} of ${calls} calls`)
})
