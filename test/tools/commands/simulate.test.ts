import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'

test('many seeds: a table, and status 0 where nothing was violated', () => {
  const { status, stdout } = aether('simulate', '--seeds', '3', '--threads', '1', '--protocol', 'directory')
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^protocol +seeds +failed/)
  assert.match(stdout, /^directory +3 +0 /m)
})

test('one seed is told in full, and with fewer hazards it is the same seed', () => {
  const { status, stdout } = aether('simulate', '--seed', '17')
  assert.equal(status, 0, stdout)
  assert.match(stdout, /hazard: /)
  assert.match(stdout, /course [0-9a-f]{16}/)
  const without = aether('simulate', '--seed', '17', '--hazards', 'none')
  assert.doesNotMatch(without.stdout, /hazard: /)
  assert.equal(without.stdout.split('\n')[0], stdout.split('\n')[0])
})

test('as JSON', () => {
  const { stdout } = aether('simulate', '--seeds', '2', '--threads', '1', '--json')
  const { seeds, failures } = JSON.parse(stdout) as { seeds: number; failures: unknown[] }
  assert.deepEqual([seeds, failures], [2, []])
})

test('a protocol that there is not is refused', () => {
  const { status, stderr } = aether('simulate', '--protocol', 'mosi')
  assert.equal(status, 2)
  assert.match(stderr, /there is no protocol 'mosi'; there are/)
})
