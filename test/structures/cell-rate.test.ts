import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CellRate } from '../../src/structures/cell-rate.ts'

test('so many at once, then one each time one is paid for, and the word says all there is', () => {
  const rate = new CellRate({ limit: 4, intervalMs: 4 })
  let word = 0n
  const ask = (nowUs: number, count: number): boolean => {
    const outcome = rate.ask(word, nowUs, count)
    assert.equal(outcome.verdict.allowed, outcome.word !== undefined)
    word = outcome.word ?? word
    return outcome.verdict.allowed
  }
  assert.deepEqual([ask(10_000, 3), ask(10_000, 2), ask(10_000, 1), ask(10_000, 1)], [true, false, true, false])
  const refused = rate.ask(word, 10_400, 1).verdict
  assert.deepEqual(refused, { allowed: false, remaining: 0, retryAfterMs: 1 })
  assert.deepEqual([ask(10_999, 1), ask(11_000, 1), ask(11_000, 1)], [false, true, false])
  // A pause pays for all, and not for more.
  assert.equal(rate.ask(word, 1_000_000, 4).verdict.remaining, 0)
  assert.deepEqual([ask(1_000_000, 4), ask(1_000_000, 1)], [true, false])
})

test('an interval that does not divide by the limit lets the last one through', () => {
  const rate = new CellRate({ limit: 3, intervalMs: 1 })
  let word: bigint | undefined = 0n
  for (let call = 0; call < 3; call += 1) {
    word = rate.ask(word, 5000, 1).word
    assert.ok(word !== undefined)
  }
  assert.equal(rate.ask(word, 5000, 1).word, undefined)
})

test('what cannot be asked for at once is refused', () => {
  const rate = new CellRate({ limit: 3, intervalMs: 1 })
  for (const count of [0, -1, 1.5, 4, Number.NaN])
    assert.throws(() => rate.check(count), /count must be a whole number/)
  rate.check(3)
})
