import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'

test('a number of replicas that is even is refused', () => {
  const { status, stderr } = aether('bench', 'replicate', '--processes', '4')
  assert.equal(status, 2)
  assert.match(stderr, /replicas are an odd number/)
})
