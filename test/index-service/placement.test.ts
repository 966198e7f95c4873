import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayLeave } from '../../src/index-service/node/placement.ts'

const holders = [4, 5, 6]

test('a member leaves once all that are to hold the shard have it, the lowest rank first', () => {
  const voters = [1, 2, 3]
  assert.equal(mayLeave(1, { holders, have: [1, 2, 3, 4, 5], voters }), false)
  const have = [1, 2, 3, 4, 5, 6]
  assert.deepEqual(
    [1, 2, 3, 4].map((own) => mayLeave(own, { holders, have, voters })),
    [true, false, false, false],
  )
})

test('one that votes stays until each voter that has left, or is not known, has been replaced', () => {
  const have = [2, 3, 4, 5, 6]
  assert.equal(mayLeave(2, { holders, have, voters: [1, 2, 3] }), false)
  assert.equal(mayLeave(2, { holders, have, voters: [-1, 2, 3] }), false)
  assert.equal(mayLeave(2, { holders, have, voters: undefined }), false)
  assert.equal(mayLeave(2, { holders, have, voters: [4, 2, 3] }), true)
})

test('one that follows stays while a voter is to be replaced, since it may be chosen', () => {
  const have = [3, 4, 5, 6]
  assert.equal(mayLeave(3, { holders, have, voters: [4, 1, 5] }), false)
  assert.equal(mayLeave(3, { holders, have, voters: [4, 1, 5, 3] }), false)
  assert.equal(mayLeave(3, { holders, have, voters: [4, 5, 6] }), true)
})
