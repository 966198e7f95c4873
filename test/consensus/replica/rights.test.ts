import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { takesRights } from '../../../src/consensus/replica/rights.ts'
import { openSimulatedCluster } from '../../../src/providers/index.ts'
import { replicate } from '../../../src/public/consensus.ts'
import { join } from '../../../src/public/index.ts'
import { openDevice } from '../../../src/verbs/index.ts'

test('on shared memory and tcp rights do not hold: slots are compared and swapped, and mu is refused', () => {
  for (const name of ['shm0', 'tcp0']) {
    using device = openDevice(name)
    assert.equal(takesRights(device, 'auto'), false)
    assert.equal(takesRights(device, 'velos'), false)
    const message = new RegExp(`those of ${name} do not: use an InfiniBand or RoCE device`)
    assert.throws(() => takesRights(device, 'mu'), { name: 'UnsupportedError', message })
  }
})

test('where rights hold, mu is as it was asked for', () => {
  using cluster = openSimulatedCluster(1)
  const { index } = cluster.addHost()
  using device = openDevice(`${cluster.device}/${index}`)
  assert.equal(takesRights(device, 'mu'), true)
  assert.equal(takesRights(device, 'velos'), false)
  // Its time stands still, so it completes nothing that is measured.
  assert.equal(takesRights(device, 'auto'), false)
})

test('replicate tells who asks for mu where it cannot be, and what is in place of it', async () => {
  await using group = await join({ rank: 0, size: 1, rendezvous: `local:rights-${process.pid}` })
  const machine = () => ({ apply: () => 1, snapshot: () => [], restore: () => undefined })
  await assert.rejects(replicate(group, { name: 'a', machine, protocol: 'mu' }), { name: 'UnsupportedError' })
  await assert.rejects(replicate(group, { name: 'a', machine, protocol: 'paxos' as 'mu' }), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
    message: /auto, mu, velos/,
  })
  await using machineOf = await replicate(group, { name: 'a', machine })
  assert.equal((await machineOf.status()).protocol, 'velos')
})
