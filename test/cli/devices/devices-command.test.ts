import assert from 'node:assert/strict'
import test from 'node:test'
import type { DeviceDescription } from '../../../src/cli/devices/describe.ts'
import { aether } from '../command-line.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('devices --json tells ports, gids, capabilities and limits', options, () => {
  const { status, stdout, stderr } = aether('devices', 'shm0', '--json')
  assert.equal(status, 0, stderr)
  const [device]: DeviceDescription[] = JSON.parse(stdout)
  assert.equal(device?.provider, 'shm')
  assert.equal(device?.ports[0]?.state, 'active')
  assert.ok(device?.ports[0]?.gids.some(({ gid }) => gid === device.gid))
  assert.equal(device?.capabilities['rc'], true)
  assert.ok(Number(device?.limits['maxQueuePairs']) > 0)
})

test('devices lists shm0 on every machine, and details where a name is given', options, () => {
  assert.match(aether('devices').stdout, /shm0 +shm +1 +active +shared-memory/)
  assert.doesNotMatch(aether('devices').stdout, /maxQueuePairs/)
  assert.match(aether('devices', 'shm0').stdout, /maxQueuePairs +\d+/)
})

test('a device that is not there is an error that names those that are', options, () => {
  const { status, stderr } = aether('devices', 'mlx5_9')
  assert.equal(status, 1)
  assert.match(stderr, /no device "mlx5_9"/)
})
