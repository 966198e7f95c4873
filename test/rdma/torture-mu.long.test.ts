import assert from 'node:assert/strict'
import test from 'node:test'
import { resources } from './support/guest-hosts.ts'
import { tortureInGuest } from './support/guest-torture.ts'

test('three replicas over a real device are killed and stopped, by mu: all calls have an order', async (t) => {
  const before = resources()
  t.diagnostic(await tortureInGuest(3, 'rxe0', { protocol: 'mu' }))
  assert.deepEqual(resources(), before)
})
