import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { checkSequentialConsistency, type Observation } from '../../../tools/simulation/index.ts'

const store = (location: number, left: number): Observation => ({ kind: 'store', location, seen: -1, left })
const load = (location: number, seen: number): Observation => ({ kind: 'load', location, seen, left: -1 })
const add = (location: number, seen: number, left: number): Observation => ({ kind: 'add', location, seen, left })
const [X, Y] = [0, 1]

test('what one order explains is sequentially consistent', () => {
  assert.equal(checkSequentialConsistency([]), 'yes')
  assert.equal(
    checkSequentialConsistency([
      [store(X, 1), load(Y, 0)],
      [store(Y, 2), load(X, 1)],
    ]),
    'yes',
  )
  assert.equal(
    checkSequentialConsistency([
      [store(X, 1), store(Y, 2)],
      [load(Y, 2), load(X, 1)],
    ]),
    'yes',
  )
  // Old values may be seen, as long as each thread moves on only.
  assert.equal(checkSequentialConsistency([[store(X, 1)], [load(X, 0), load(X, 0), load(X, 1)]]), 'yes')
  assert.equal(checkSequentialConsistency([[add(X, 0, 5)], [add(X, 5, 7)], [load(X, 7)]]), 'yes')
})

test('store buffering: both load before what the other stored', () => {
  assert.equal(
    checkSequentialConsistency([
      [store(X, 1), load(Y, 0)],
      [store(Y, 2), load(X, 0)],
    ]),
    'no',
  )
})

test('message passing: the flag is there, the message is not', () => {
  assert.equal(
    checkSequentialConsistency([
      [store(X, 1), store(Y, 2)],
      [load(Y, 2), load(X, 0)],
    ]),
    'no',
  )
})

test('independent reads of independent writes in two orders', () => {
  const writers = [[store(X, 1)], [store(Y, 2)]]
  assert.equal(checkSequentialConsistency([...writers, [load(X, 1), load(Y, 0)], [load(Y, 2), load(X, 0)]]), 'no')
  assert.equal(checkSequentialConsistency([...writers, [load(X, 1), load(Y, 0)], [load(Y, 2), load(X, 1)]]), 'yes')
})

test('coherence of one location: two readers see two stores in two orders', () => {
  const writers = [[store(X, 1)], [store(X, 2)]]
  assert.equal(checkSequentialConsistency([...writers, [load(X, 1), load(X, 2)], [load(X, 2), load(X, 1)]]), 'no')
})

test('a lost update: two adds start from the same', () => {
  assert.equal(checkSequentialConsistency([[add(X, 0, 1)], [add(X, 0, 2)]]), 'no')
})

test('a value that nobody stored', () => {
  assert.equal(checkSequentialConsistency([[load(X, 9)]]), 'no')
})
