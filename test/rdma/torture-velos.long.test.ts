import assert from 'node:assert/strict'
import test from 'node:test'
import { resources } from './support/guest-hosts.ts'
import { tortureInGuest } from './support/guest-torture.ts'

for (const replicas of [3, 5])
  test(`${replicas} replicas over a real device are killed and stopped, by velos: all calls have an order`, async (t) => {
    const before = resources()
    t.diagnostic(await tortureInGuest(replicas, 'rxe0', { protocol: 'velos' }))
    assert.deepEqual(resources(), before)
  })
