import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, listen } from '../../src/cm/index.ts'
import { connectEndpoint, type Endpoint, listenEndpoints } from '../../src/messaging/index.ts'
import { ArgumentError } from '../../src/native/index.ts'
import type { QueuePair } from '../../src/verbs/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }

function serviceOf(pair: QueuePair): (number | undefined)[] {
  const { addressVector } = pair.query()
  assert.ok(addressVector !== undefined)
  return [addressVector.serviceLevel, addressVector.trafficClass]
}

test('service level and traffic class reach the queue pair of the end that gave them', async () => {
  using listener = await listen(where)
  const answering = listener.next().then((request) => request?.accept({ trafficClass: 8 }))
  using client = await connect({ ...where, port: listener.port, serviceLevel: 3, trafficClass: 0xb8 })
  using server = await answering
  assert.deepEqual(serviceOf(client.pair), [3, 0xb8])
  assert.deepEqual(serviceOf(server!.pair), [undefined, 8])
})

test('service level and traffic class of endpoints', async () => {
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...where, accept: arrived, serviceLevel: 5 })
  const client = await connectEndpoint({ ...where, port: listener.port, trafficClass: 0x20 })
  const server = await accepted
  assert.deepEqual(serviceOf(client.link.pair), [undefined, 0x20])
  assert.deepEqual(serviceOf(server.link.pair), [5, undefined])
  await client.send(Uint8Array.of(1))
  assert.deepEqual((await server.messages().next()).value?.data, Uint8Array.of(1))
  listener.close()
  await client.close()
})

test('a service level or traffic class that its field does not hold is refused', async () => {
  for (const wrong of [{ serviceLevel: 16 }, { serviceLevel: 1.5 }, { trafficClass: -1 }, { trafficClass: 256 }])
    await assert.rejects(connect({ ...where, port: 1, ...wrong }), ArgumentError)
})
