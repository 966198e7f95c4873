import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ArgumentError } from '../../../src/native/index.ts'
import { generateKronecker } from '../../../tools/demo/kronecker.ts'

function hashOf(seed: number): string {
  const { from, to } = generateKronecker({ scale: 10, seed })
  return createHash('sha256').update(from).update(to).digest('hex')
}

test('2^scale vertices, sixteen times as many edges, all between them', () => {
  const { vertexCount, from, to } = generateKronecker({ scale: 10, seed: 1 })
  assert.equal(vertexCount, 1024)
  assert.equal(from.length, 16_384)
  assert.equal(to.length, 16_384)
  assert(from.every((vertex) => vertex < 1024) && to.every((vertex) => vertex < 1024))
})

test('the same seed gives the same graph, another seed another', () => {
  assert.equal(hashOf(7), hashOf(7))
  assert.notEqual(hashOf(7), hashOf(8))
})

test('degrees are as skewed as the initiator makes them', () => {
  const scale = 12
  const { vertexCount, from } = generateKronecker({ scale, seed: 3 })
  const degrees = new Uint32Array(vertexCount)
  for (const vertex of from) degrees[vertex]! += 1
  // The row of vertex 0 (before relabelling) is chosen with probability (A + B)^scale = 0.76^12; six standard
  // deviations either way.
  const expected = from.length * 0.76 ** scale
  const largest = Math.max(...degrees)
  assert(Math.abs(largest - expected) < 6 * Math.sqrt(expected), `largest degree ${largest}, expected ${expected}`)
})

test('labels say nothing about degrees: the four quarters have about as many edges each', () => {
  const { vertexCount, from } = generateKronecker({ scale: 14, seed: 5 })
  const quarters = [0, 0, 0, 0]
  for (const vertex of from) quarters[Math.floor((vertex * 4) / vertexCount)]! += 1
  for (const count of quarters) assert(Math.abs(count / from.length - 0.25) < 0.05, `${count} of ${from.length}`)
})

test('refuses a scale or a seed out of range', () => {
  for (const scale of [0, 28, 1.5, Number.NaN])
    assert.throws(() => generateKronecker({ scale, seed: 1 }), ArgumentError)
  for (const seed of [-1, 0.5, 2 ** 32]) assert.throws(() => generateKronecker({ scale: 3, seed }), ArgumentError)
})
