import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseDevice, inspectDevice } from '../../../src/cluster/group/device-choice.ts'
import { JoinError } from '../../../src/cluster/group/errors.ts'
import type { Machine } from '../../../src/cluster/hosts/machine.ts'
import { deviceNames } from '../../../src/verbs/index.ts'

const machine = (host: string, space: string, processes: string): Machine => ({ host, space, processes })
const together = [machine('a', 's', 'p'), machine('a', 's', 'p')]
const twoUsers = [machine('a', 's', 'p'), machine('a', 't', 'p')]
const twoMachines = [machine('a', 's', 'p'), machine('b', 't', 'q'), machine('a', 's', 'p')]

test('ranks of one machine are connected through its memory, unless another device is named', () => {
  assert.equal(chooseDevice(undefined, together), 'shm0')
  assert.equal(chooseDevice('mlx5_0', together), 'mlx5_0')
  assert.equal(chooseDevice('shm0', twoUsers), 'shm0')
})

test('shared memory does not reach another machine', () => {
  assert.throws(
    () => chooseDevice('shm0', twoMachines),
    (error) => error instanceof JoinError && /ranks 0, 2 are on a, rank 1 is on b; choose an RDMA/.test(error.message),
  )
})

test('without an active RDMA device, who is where is said, and what to do', (context) => {
  const rdma = deviceNames().filter((name) => name !== 'shm0')
  if (rdma.length > 0) return context.skip(`there are RDMA devices here: ${rdma.join(', ')}`)
  assert.throws(
    () => chooseDevice(undefined, twoMachines),
    (error) =>
      error instanceof JoinError &&
      /rank 1 is on b, and there is no RDMA device here: .*rdma link add/.test(error.message),
  )
})

test('a device is looked at before the agent has to use it', () => {
  assert.equal(inspectDevice('shm0', 3).linkLayer, 'shared-memory')
  assert.throws(() => inspectDevice('nonesuch0', 3), { code: 'ERR_AETHER_VERBS', message: /nonesuch0/ })
})
