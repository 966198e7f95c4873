import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conjugateGradient } from './npb/conjugate-gradient.ts'
import { embarrassinglyParallel } from './npb/embarrassingly-parallel.ts'
import { integerSort } from './npb/integer-sort.ts'
import { MeshArrays } from './support/mesh-arrays.ts'

test('CG of class S verifies itself', async () => {
  await using mesh = await MeshArrays.open(3, true)
  for (const error of await mesh.all((xp) => conjugateGradient(xp, 'S'))) assert.ok(error < 1e-10, `${error}`)
})

test('CG of class W verifies itself', async () => {
  await using mesh = await MeshArrays.open(2, true)
  for (const error of await mesh.all((xp) => conjugateGradient(xp, 'W'))) assert.ok(error < 1e-10, `${error}`)
})

test('EP of class W verifies itself', async () => {
  await using mesh = await MeshArrays.open(3, true)
  for (const error of await mesh.all((xp) => embarrassinglyParallel(xp, 'W'))) assert.ok(error < 1e-8, `${error}`)
})

test('IS of class W verifies itself', async () => {
  await using mesh = await MeshArrays.open(3, true)
  for (const wrong of await mesh.all((xp) => integerSort(xp, 'W'))) assert.equal(wrong, 0)
})
