import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { connectionAddress } from '../../../src/cm/address.ts'
import { NetworkPlace } from '../../../src/cm/sockets/network-place.ts'

test('a program that listens there and says nothing is not waited for without end', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const met = new NetworkPlace('tcp-lo').meet('tcp', connectionAddress('127.0.0.1', port))
  const [stranger] = await once(server, 'connection')
  const closed = once(stranger.resume(), 'close')
  assert.equal(await met, undefined)
  await closed
  server.close()
})
