import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { connect, createIdentifier } from '../../src/cm/index.ts'
import { rdmacmCarrier } from '../../src/cm/rdmacm/carrier.ts'

const hasRdma = existsSync('/dev/infiniband/rdma_cm')

test('without librdmacm or its device a connection says what is missing', {
  skip: hasRdma && 'this machine has /dev/infiniband/rdma_cm',
}, () => {
  const refusal = { code: 'ERR_AETHER_UNSUPPORTED', message: /librdmacm|rdma_cm/ }
  assert.throws(() => rdmacmCarrier.createIdentifier('tcp'), refusal)
})

test('a device that is not there is refused with the names of those that are', async () => {
  const refusal = { argument: 'device', message: /^device must be .*shm0.*, not 'mlx'$/ }
  assert.throws(() => createIdentifier({ device: 'mlx' }), refusal)
  await assert.rejects(connect({ device: 'mlx', address: '127.0.0.1', port: 7 }), refusal)
})

test('an identifier that was destroyed tells nothing any more', async () => {
  const identifier = createIdentifier({ device: 'shm0' })
  identifier.onEvent = () => assert.fail('an event of what was destroyed')
  identifier.resolveAddress(undefined, { address: '127.0.0.1', port: 7471, family: 4 }, 1000)
  identifier.destroy()
  identifier.destroy()
  await new Promise((resolve) => setTimeout(resolve, 20))
})
