import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embarrassinglyParallel } from './npb/embarrassingly-parallel.ts'
import { integerSort } from './npb/integer-sort.ts'
import { MeshArrays } from './support/mesh-arrays.ts'

const size = 3

test('EP of class S verifies itself', async () => {
  await using mesh = await MeshArrays.open(size, true)
  for (const error of await mesh.all((xp) => embarrassinglyParallel(xp, 'S'))) assert.ok(error < 1e-8, `${error}`)
})

test('IS of class S verifies itself, whether ranks map the memory of each other or not', async () => {
  for (const isMapped of [true, false]) {
    await using mesh = await MeshArrays.open(size, isMapped)
    for (const wrong of await mesh.all((xp) => integerSort(xp, 'S'))) assert.equal(wrong, 0)
  }
})
