import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionRejectedError, connect, listen } from '../../src/cm/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }

test('private data is sent as it was at the call, whatever becomes of its buffer', async () => {
  await using listener = await listen(where)
  const privateData = Uint8Array.of(1, 2, 3)
  const asking = connect({ ...where, port: listener.port, privateData })
  structuredClone(privateData, { transfer: [privateData.buffer] })
  const request = await listener.next()
  assert.deepEqual(request?.privateData.slice(0, 3), Uint8Array.of(1, 2, 3))
  request?.reject()
  await assert.rejects(asking, ConnectionRejectedError)
})

test('private data whose buffer was transferred away before the call is empty', async () => {
  await using listener = await listen(where)
  const privateData = Uint8Array.of(1, 2, 3)
  structuredClone(privateData, { transfer: [privateData.buffer] })
  const asking = connect({ ...where, port: listener.port, privateData })
  const request = await listener.next()
  assert.equal(
    request?.privateData.every((byte) => byte === 0),
    true,
  )
  request?.reject()
  await assert.rejects(asking, ConnectionRejectedError)
})
