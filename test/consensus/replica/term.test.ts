import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { NUMBERS, proposerOf, roundOf, termAbove } from '../../../src/consensus/replica/term.ts'

test('a term is above what was seen, and says whose it is', () => {
  for (const seen of [0, 1, NUMBERS - 1, NUMBERS, 5 * NUMBERS + 7])
    for (const number of [0, 1, NUMBERS - 1]) {
      const term = termAbove(seen, number)!
      assert.ok(term > seen)
      assert.equal(proposerOf(term), number)
      assert.equal(roundOf(term), roundOf(seen) + 1)
    }
})

test('replicas that have seen the same take different terms', () => {
  const terms = new Set(Array.from({ length: NUMBERS }, (_, number) => termAbove(3000, number)))
  assert.equal(terms.size, NUMBERS)
})

test('terms end with 32 bits', () => {
  const last = 2 ** 32 - NUMBERS
  assert.equal(termAbove(last - 1, 0), last)
  assert.equal(termAbove(last - 1, NUMBERS - 1), 2 ** 32 - 1)
  assert.equal(termAbove(last, 0), undefined)
})
