import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortened } from '../../../tools/modelcheck/shorten.ts'

test('what is not needed is left out, and nothing that is left can be', () => {
  const items = Array.from({ length: 100 }, (_, index) => index)
  const needed = [3, 40, 41, 99]
  const attempt = (shorter: readonly number[]): readonly number[] | undefined =>
    needed.every((item) => shorter.includes(item)) ? shorter : undefined
  assert.deepEqual(shortened(items, attempt), needed)
})

test('things that can only go together with others go one after the other', () => {
  // Each may go only where the one behind it has gone.
  const attempt = (shorter: readonly number[]): readonly number[] | undefined =>
    shorter.length > 0 && shorter.every((item, index) => item === index) ? shorter : undefined
  assert.deepEqual(shortened([0, 1, 2, 3, 4], attempt), [0])
})

test('nothing is left out where everything is needed', () => {
  assert.deepEqual(
    shortened(['a', 'b'], (shorter) => (shorter.length === 2 ? shorter : undefined)),
    ['a', 'b'],
  )
})

test('what can make do with less than it is given is taken at its word', () => {
  let attempts = 0
  const attempt = (shorter: readonly number[]): readonly number[] | undefined => {
    attempts += 1
    return shorter.includes(7) ? [7] : undefined
  }
  assert.deepEqual(shortened([5, 6, 7, 8], attempt), [7])
  assert.ok(attempts < 6)
})
