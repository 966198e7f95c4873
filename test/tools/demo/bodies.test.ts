import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coordinates, placeBodies, runBodies } from '../../../tools/demo/bodies.ts'

const bodies = 100

function place(): readonly [Float64Array, Float64Array] {
  const positions = [new Float64Array(bodies * coordinates), new Float64Array(bodies * coordinates)] as const
  placeBodies(positions[0])
  return positions
}

test('shares put together have the bits of one process', () => {
  const whole = runBodies(place(), { first: 0, end: bodies }, 1)
  const together = place()
  runBodies(together, { first: 0, end: 33 }, 1)
  runBodies(together, { first: 33, end: bodies }, 1)
  assert.deepEqual(new BigUint64Array(together[1].buffer), new BigUint64Array(whole.buffer))
})

test('two bodies approach each other, and their centre stays', () => {
  const positions = [Float64Array.of(0, 0, 0, 1, 0, 0), new Float64Array(6)] as const
  let steps = 0
  const last = runBodies(positions, { first: 0, end: 2 }, 10, () => {
    steps += 1
  })
  assert.equal(steps, 10)
  assert(last[0]! > 0 && last[3]! < 1)
  assert(Math.abs(last[0]! + last[3]! - 1) < 1e-12)
})
