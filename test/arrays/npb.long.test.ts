import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conjugateGradient } from './npb/conjugate-gradient.ts'
import { MeshArrays } from './support/mesh-arrays.ts'

test('CG of class S verifies itself', async () => {
  await using mesh = await MeshArrays.open(3, true)
  for (const error of await mesh.all((xp) => conjugateGradient(xp, 'S'))) assert.ok(error < 1e-10, `${error}`)
})
