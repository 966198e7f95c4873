import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ShmBackings } from '../../src/providers/shm/backings.ts'
import { openDevice, VerbsError } from '../../src/verbs/index.ts'

test('no region is longer than 4 GiB, whether it is made or registered: offsets within one have 32 bits', () => {
  using device = openDevice('shm0')
  const domain = device.createProtectionDomain()
  const isTooLong = (error: unknown): boolean =>
    error instanceof VerbsError && error.errnoName === 'EINVAL' && /at most 4 GiB/.test(error.message)
  assert.equal(device.attributes.maxMemoryRegionBytes, 2 ** 32)
  assert.throws(() => domain.allocate(2 ** 32 + 1, 0), isTooLong)
  // As long as a buffer may be from Node.js 22 on.
  const long = { length: 2 ** 32 + 1, byteOffset: 0, buffer: new ArrayBuffer(8) } as unknown as Uint8Array
  assert.throws(() => new ShmBackings({}).register(long, 0, undefined), isTooLong)
})
