import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { rehearse } from '../../../src/consensus/agent/rehearsal.ts'

test('a rehearsal has one leader after the other, and leaves nothing', () => {
  assert.equal(rehearse('shm0', 'auto'), 4)
  const before = readdirSync('/proc/self/fd').length
  assert.equal(rehearse('shm0', 'auto'), 4)
  assert.equal(readdirSync('/proc/self/fd').length, before)
})
