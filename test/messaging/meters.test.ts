import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { EndpointMeter } from '../../src/messaging/endpoint-meter.ts'
import { connectEndpoint, type Endpoint, listenEndpoints } from '../../src/messaging/index.ts'
import { setProfiling, threadProfile } from '../../src/profiling/index.ts'
import { Mesh } from './peers/mesh.ts'

before(() => setProfiling(true))
after(() => setProfiling(false))

test('an endpoint counts messages and bytes of any length, both ways, and its figures outlive it', async () => {
  const where = { device: 'shm0', address: '127.0.0.1' }
  const start = threadProfile()
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...where, accept: arrived })
  const client = await connectEndpoint({ ...where, port: listener.port })
  const server = await accepted
  const long = client.link.messageBytesMax + 1000
  await Promise.all([client.send(new Uint8Array(10)), client.send(new Uint8Array(long))])
  assert.equal(client.trySend(new Uint8Array(5)), true)
  const messages = server.messages()
  for (let received = 0; received < 3; received += 1) await messages.next()
  const since = threadProfile().since(start)
  const counted = since.counters().filter(({ name, rest }) => name === 'messaging.endpoint' && !rest)
  const bytes = 15 + long
  assert.deepEqual(
    counted.map(({ values }) => values).sort((a, b) => (a['messagesSent'] ?? 0) - (b['messagesSent'] ?? 0)),
    [
      { messagesSent: 0, bytesSent: 0, messagesReceived: 3, bytesReceived: bytes },
      { messagesSent: 3, bytesSent: bytes, messagesReceived: 0, bytesReceived: 0 },
    ],
  )
  listener.close()
  await Promise.all([client.close(), server.close()])
  const ended = threadProfile().since(start)
  assert.equal(ended.total('messaging.endpoint', 'bytesSent'), bytes)
  assert.deepEqual(
    ended.counters().filter(({ name, rest }) => name === 'messaging.endpoint' && !rest),
    [],
  )
})

test('messages that have to wait are timed until there is room, or they are fetched; others are not', async () => {
  const where = { device: 'shm0', address: '127.0.0.1' }
  const start = threadProfile()
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...where, accept: arrived, ringBytes: 4096 })
  const client = await connectEndpoint({ ...where, port: listener.port, ringBytes: 4096 })
  const server = await accepted
  const waits = (): number => threadProfile().since(start).histogram('messaging.endpoint.wait').count
  const messages = server.messages()
  await client.send(new Uint8Array(10))
  await messages.next()
  assert.equal(waits(), 0)
  await Promise.all([client.send(new Uint8Array(100_000)), messages.next()])
  assert.equal(waits(), 1)
  server.pause()
  const body = new Uint8Array(client.link.messageBytesMax)
  const sent = Array.from({ length: 16 }, () => client.send(body))
  assert.equal(waits(), 1)
  server.resume()
  for (let received = 0; received < sent.length; received += 1) await messages.next()
  await Promise.all(sent)
  const waited = waits()
  assert.ok(waited > 1 && waited <= 17, `${waited}`)
  // What fails has no time, and is told to its sender as ever.
  server.pause()
  const cut = Array.from({ length: 16 }, () => client.send(body))
  const ends = Promise.allSettled(cut)
  client.destroy()
  assert.ok((await ends).some(({ status }) => status === 'rejected'))
  listener.close()
  await Promise.all([client.close(), server.close()])
})

test('collectives are counted by kind and algorithm', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const start = threadProfile()
  for (let round = 0; round < 4; round += 1) await Promise.all(groups.map((group) => group.barrier()))
  await Promise.all(
    groups.map((group) => group.allReduce(new Float64Array(100), 'sum', new Float64Array(100), { algorithm: 'ring' })),
  )
  const since = threadProfile().since(start)
  const of = (label: string) =>
    since.counters().find((each) => each.name === 'messaging.collective' && each.label === label)?.values
  assert.deepEqual(of('barrier/dissemination'), { calls: 12, done: 12, bytesSent: 24, bytesReceived: 24 })
  const ring = of('allReduce/ring')
  assert.deepEqual([ring?.['calls'], ring?.['done']], [3, 3])
  assert.equal(ring?.['bytesSent'], 2 * 2 * 800)
  assert.equal(ring?.['bytesReceived'], ring?.['bytesSent'])
  assert.equal(since.histogram('messaging.collective.time').count, 15)
})

test('a message that waits when its endpoint is closed makes no histogram that nobody closes', async () => {
  const meter = EndpointMeter.of(4711, 'gone')!
  let arrived = (): void => {}
  const waiting = meter.waiting(new Promise<void>((resolve) => (arrived = resolve)))
  meter.close()
  arrived()
  await waiting
  const left = threadProfile()
    .histograms()
    .filter(({ label, rest }) => label === '4711 gone' && !rest)
  assert.deepEqual(left, [])
})
