import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PairTable } from '../../../tools/modelcheck/pair-table.ts'
import { collisionOdds, StateSet } from '../../../tools/modelcheck/state-set.ts'

test('states keep their index, whatever is added meanwhile', () => {
  const set = new StateSet()
  const vector = new Int32Array(3)
  for (const isNew of [true, false]) {
    for (let state = 0; state < 100_000; state += 1) {
      vector.set([state % 7, Math.floor(state / 7), 5])
      assert.equal(set.add(vector, 0, 3), state)
      assert.equal(set.wasNew, isNew)
    }
  }
  assert.equal(set.size, 100_000)
})

test('vectors that differ in one bit or in the order of their words are different states', () => {
  const set = new StateSet()
  for (let word = 0; word < 8; word += 1) {
    for (let bit = 0; bit < 32; bit += 1) {
      const vector = new Int32Array(8)
      vector[word] = 1 << bit
      set.add(vector, 0, 8)
      assert.ok(set.wasNew)
    }
  }
  assert.equal(set.size, 256)
})

test('the odds of a collision grow with the square of the states', () => {
  assert.ok(collisionOdds(1e6) < 1e-7)
  assert.ok(Math.abs(collisionOdds(2e6) / collisionOdds(1e6) - 4) < 1e-9)
})

test('a pair table finds what was put into it, and the last value of a pair', () => {
  const table = new PairTable(2)
  for (let first = 0; first < 100; first += 1)
    for (let second = 0; second < 100; second += 1) table.set(first, second, first - second + 200)
  table.set(5, 6, 7)
  assert.equal(table.get(5, 6), 7)
  assert.equal(table.get(99, 0), 299)
  assert.equal(table.get(100, 0), -1)
  assert.equal(table.size, 10_000)
})
