import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'node:test'
import { availableMemory } from '../../src/dsm/index.ts'

test('what is available is more than nothing and no more than the machine has', () => {
  const available = availableMemory()
  assert.ok(available !== undefined && available > 0 && available <= totalmem(), String(available))
})
