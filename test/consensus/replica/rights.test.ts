import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { takesRights } from '../../../src/consensus/replica/rights.ts'
import { openSimulatedCluster } from '../../../src/providers/index.ts'

test('on shared memory and tcp rights do not hold: slots are compared and swapped, and mu is refused', () => {
  for (const device of ['shm0', 'tcp0']) {
    assert.equal(takesRights(device, 'auto'), false)
    assert.equal(takesRights(device, 'velos'), false)
    assert.throws(() => takesRights(device, 'mu'), { name: 'UnsupportedError', message: /rights of .* do not|RoCE/ })
  }
})

test('where rights hold, mu is as it was asked for', () => {
  using cluster = openSimulatedCluster(1)
  const { index } = cluster.addHost()
  assert.equal(takesRights(`${cluster.device}/${index}`, 'mu'), true)
  assert.equal(takesRights(`${cluster.device}/${index}`, 'velos'), false)
})
