import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseDevice, hasRdma, inspectDevice } from '../../../src/cluster/group/device-choice.ts'
import { JoinError } from '../../../src/cluster/group/errors.ts'
import type { Machine } from '../../../src/cluster/hosts/machine.ts'
import { deviceNames } from '../../../src/verbs/index.ts'

const machine = (host: string, space: string, processes: string): Machine => ({ host, space, processes })
const together = [machine('a', 's', 'p'), machine('a', 's', 'p')]
const twoUsers = [machine('a', 's', 'p'), machine('a', 't', 'p')]
const twoMachines = [machine('a', 's', 'p'), machine('b', 't', 'q'), machine('a', 's', 'p')]

test('ranks of one machine are connected through its memory, unless another device is named', () => {
  assert.equal(chooseDevice(undefined, together, true), 'shm0')
  assert.equal(chooseDevice('mlx5_0', together, true), 'mlx5_0')
  assert.equal(chooseDevice('shm0', twoUsers, true), 'shm0')
})

test('shared memory does not reach another machine', () => {
  assert.throws(
    () => chooseDevice('shm0', twoMachines, true),
    (error) =>
      error instanceof JoinError && /ranks 0, 2 are on a, rank 1 is on b; name no device, or tcp0/.test(error.message),
  )
})

test('ranks of several machines meet over TCP unless each has an RDMA device', (context) => {
  assert.equal(chooseDevice(undefined, twoMachines, false), 'tcp0')
  const rdma = deviceNames().filter((name) => name !== 'shm0' && !name.startsWith('tcp'))
  if (rdma.length > 0) return context.skip(`there are RDMA devices here: ${rdma.join(', ')}`)
  assert.equal(hasRdma(), false)
  assert.equal(chooseDevice(undefined, twoMachines, true), 'tcp0')
})

test('a device is looked at before the agent has to use it', () => {
  assert.equal(inspectDevice('shm0', 3).linkLayer, 'shared-memory')
  assert.throws(() => inspectDevice('nonesuch0', 3), { code: 'ERR_AETHER_VERBS', message: /nonesuch0/ })
})
