import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  connectEndpoint,
  type Endpoint,
  type IoThreadError,
  type LinkConnectionOptions,
  listenEndpoints,
  listenEndpointsOnThreads,
} from '../../src/messaging/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { endpointCases } from '../messaging/endpoint-cases.ts'
import { deviceFabric } from '../messaging/endpoint-fabrics.ts'
import { Order } from '../messaging/threads/fixtures/handlers.ts'
import { allowedList, ask, placeOf } from '../messaging/threads/support.ts'

const where = { device: 'rxe0', address: process.env['AETHER_RDMA_ADDRESS'] ?? '' }
const program = fileURLToPath(new URL('../messaging/fixtures/peer-program.js', import.meta.url))

async function join(
  options: LinkConnectionOptions = {},
): Promise<{ client: Endpoint; server: Endpoint; close(): Promise<void> }> {
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...where, ...options, accept: arrived })
  const client = await connectEndpoint({ ...where, ...options, port: listener.port })
  const server = await accepted
  const close = async (): Promise<void> => {
    listener.close()
    await Promise.all([client.close(), server.close()])
  }
  return { client, server, close }
}

test('over a real device the ring wraps many times, with random lengths and a reader that stops now and then', async () => {
  const { client, server, close } = await join({ ringBytes: 4096, receives: 16, sends: 32 })
  const random = new Random(3)
  const count = 600
  let received = 0
  server.handlers = {
    receive: (data, immediate) => {
      assert.equal(immediate, received)
      assert.ok(data.every((byte) => byte === (received & 255)))
      received += 1
      if (random.below(100) > 0) return
      server.pause()
      setTimeout(() => server.resume(), random.below(5))
    },
  }
  for (let index = 0; index < count; index += 1) {
    const data = new Uint8Array(random.below(client.link.messageBytesMax + 1)).fill(index)
    await client.sendWithImmediate(data, index)
  }
  await client.close()
  assert.equal(await client.ended, undefined)
  assert.equal(await server.ended, undefined)
  assert.equal(received, count)
  await close()
})

const fabric = deviceFabric(where.device, where.address, { maxReadAtomic: 4 })
for (const { name, run } of endpointCases) test(`over a real device: ${name}`, () => run(fabric))

test('over a real device: a process that is killed is noticed, and others are served', async () => {
  const endpoints: Endpoint[] = []
  const listener = await listenEndpoints({ ...where, accept: (endpoint) => endpoints.push(endpoint) })
  const child = fork(program, ['stuck', String(listener.port), where.device, where.address])
  await once(child, 'message')
  while (endpoints.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  child.kill('SIGKILL')
  assert.equal((await endpoints[0]?.ended)?.reason, 'lost')
  const client = await connectEndpoint({ ...where, port: listener.port })
  await client.close()
  assert.equal(await client.ended, undefined)
  listener.close()
})

test('over a real device: the traffic class of each end is in its way to the other', async () => {
  const { client, server, close } = await join({ trafficClass: 0xb8 })
  for (const { link } of [client, server]) assert.equal(link.pair.query().addressVector?.trafficClass, 0xb8)
  await client.send(Uint8Array.of(7))
  assert.deepEqual((await server.messages().next()).value?.data, Uint8Array.of(7))
  await close()
})

test('over a real device two IO threads serve, each over its own device, and one that ends takes only its own along', async () => {
  const failures: IoThreadError[] = []
  const shared = new SharedArrayBuffer(8)
  const module = new URL('../messaging/threads/fixtures/handlers.js', import.meta.url)
  const listener = await listenEndpointsOnThreads({
    ...where,
    threads: {
      module,
      count: 2,
      cpus: [0],
      data: { shared },
      startTimeoutMs: 240_000,
      failed: (error) => failures.push(error),
    },
  })
  const clients = [await connectEndpoint({ ...where, port: listener.port })]
  clients.push(await connectEndpoint({ ...where, port: listener.port }))
  const places = await Promise.all(clients.map(placeOf))
  assert.deepEqual(places.map(({ index }) => index).sort(), [0, 1])
  assert.equal(new Set([process.pid, ...places.map(({ threadId }) => threadId)]).size, 3)
  for (const { threadId } of places) assert.equal(allowedList(threadId), '0')
  const met = await Promise.all(clients.map((client) => ask(client, Order.Meet, 2)))
  assert.deepEqual(met.map(({ immediate }) => immediate).sort(), [0, 1])
  const [victim, other] = places[0]?.index === 1 ? clients : clients.toReversed()
  void victim?.send(Uint8Array.of(Order.ThrowLater)).catch(() => undefined)
  assert.equal((await victim?.ended)?.reason, 'lost')
  while (failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.deepEqual([failures[0]?.thread, failures[0]?.connections], [1, 1])
  assert.deepEqual((await ask(other!, Order.Echo, 5)).data, Uint8Array.of(0, 5))
  await listener.close()
  assert.equal(await other?.ended, undefined)
})
