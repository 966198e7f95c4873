import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/cm/index.ts'
import { encodeHello } from '../../src/messaging/hello.ts'
import {
  connectEndpoint,
  type Endpoint,
  LinkError,
  type LinkListener,
  listenEndpoints,
  type SharedReceiveOptions,
  type SharedReceiveUse,
} from '../../src/messaging/index.ts'
import { ArgumentError } from '../../src/native/index.ts'
import { Access, openDevice } from '../../src/verbs/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }
const small = { ringBytes: 1024, sends: 16, receives: 16 }

interface Served {
  readonly listener: LinkListener
  readonly servers: Endpoint[]
  readonly errors: unknown[]
}

/** Sends back what comes. A message that met no receive would end its connection: it is not repeated. */
async function serve(sharedReceiveQueue: SharedReceiveOptions): Promise<Served> {
  const servers: Endpoint[] = []
  const errors: unknown[] = []
  const listener = await listenEndpoints({
    ...where,
    rnrRetry: 0,
    sharedReceiveQueue,
    accept: (endpoint) => {
      servers.push(endpoint)
      endpoint.handlers = { receive: (data) => void endpoint.send(data.slice()).catch(() => {}) }
    },
    clientError: (error) => errors.push(error),
  })
  return { listener, servers, errors }
}

function join({ listener }: Served): Promise<Endpoint> {
  return connectEndpoint({ ...where, ...small, port: listener.port })
}

/** Sends `count` messages, each as soon as there is room and in a WRITE of its own, and takes as many answers. */
async function echo(client: Endpoint, count: number): Promise<void> {
  let got = 0
  const done = new Promise<void>((resolve) => {
    client.handlers = {
      receive: (data) => {
        assert.equal(new DataView(data.buffer, data.byteOffset).getUint32(0), got)
        got += 1
        if (got === count) resolve()
      },
    }
  })
  for (let index = 0; index < count; index += 1) {
    const data = new Uint8Array(8 + (index % 50))
    new DataView(data.buffer).setUint32(0, index)
    await client.send(data)
    client.link.flush()
  }
  await Promise.race([done, client.ended.then((error) => Promise.reject(error ?? new Error('it was closed')))])
}

function use({ listener }: Served): SharedReceiveUse {
  const [first] = listener.sharedReceives
  assert.ok(first !== undefined)
  return first
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('clients of one shared queue send as they like, and no message finds it empty', async () => {
  const served = await serve({ connectionsMax: 5, receives: 5 * 8 + 12 })
  const clients = await Promise.all(Array.from({ length: 5 }, () => join(served)))
  await Promise.all(clients.map((client) => echo(client, 400)))
  assert.equal(use(served).connections, 5)
  await Promise.all(clients.map((client) => client.close()))
  for (const client of clients) assert.equal(await client.ended, undefined)
  for (const server of served.servers) assert.equal(await server.ended, undefined)
  await until(() => use(served).connections === 0)
  assert.equal(use(served).lent, 0)
  assert.deepEqual(served.errors, [])
  served.listener.close()
})

test('one more than there may be is told so, and let in when another has gone', async () => {
  const served = await serve({ connectionsMax: 2 })
  const clients = [await join(served), await join(served)]
  await assert.rejects(join(served), (error) => {
    assert.ok(error instanceof LinkError, String(error))
    assert.deepEqual([error.reason, error.outcome], ['full', 'none'])
    assert.match(error.message, /its maximum of 2 connections/)
    return true
  })
  assert.equal((served.errors[0] as LinkError).reason, 'full')
  await clients[0]?.close()
  await served.servers[0]?.ended
  const third = await join(served)
  await echo(third, 50)
  await echo(clients[1]!, 50)
  await Promise.all([third.close(), clients[1]?.close()])
  served.listener.close()
})

test('clients that are lost in the middle of messages leave nothing behind', async () => {
  const served = await serve({ connectionsMax: 3, receives: 30 })
  const stays = await join(served)
  for (let round = 0; round < 12; round += 1) {
    const lost = [await join(served), await join(served)]
    for (const client of lost) for (let count = 0; count < 6; count += 1) client.trySend(new Uint8Array(40))
    for (const client of lost) client.link.flush()
    if (round % 2 === 0) await echo(stays, 20)
    for (const client of lost) client.link.destroy()
    await until(() => use(served).connections === 1)
  }
  const others = [await join(served), await join(served)]
  await Promise.all([stays, ...others].map((client) => echo(client, 200)))
  await Promise.all([stays, ...others].map((client) => client.close()))
  served.listener.close()
})

test('who stops sending gives back what was lent, and a greedy one leaves something for others', async () => {
  const served = await serve({ connectionsMax: 4, receives: 4 * 8 + 64 })
  const [greedy, other] = [await join(served), await join(served)]
  const pair = served.servers[0]!
  // Its WRITEs pile up while nobody looks, so it runs out and asks for more.
  pair.pause()
  let most = 0
  let sent = 0
  let answered = 0
  greedy.handlers = {
    receive: () => {
      answered += 1
    },
  }
  for (let round = 0; round < 20; round += 1) {
    await echo(other, 5)
    for (let count = 0; count < 8; count += 1) {
      if (!greedy.trySend(new Uint8Array(8))) break
      greedy.link.flush()
      sent += 1
    }
    most = Math.max(most, use(served).lent)
  }
  assert.ok(most > 0, 'nothing was lent')
  assert.ok(most <= 64 - 16, `${most} of 64 are lent`)
  pair.resume()
  await until(() => answered === sent && use(served).lent === 0)
  await Promise.all([echo(greedy, 100), echo(other, 100)])
  await Promise.all([greedy.close(), other.close()])
  served.listener.close()
})

test('one that uses more receives than it was told of ends; others do not notice', async () => {
  const served = await serve({ connectionsMax: 3, receives: 3 * 8 + 6 })
  const client = await join(served)
  using device = openDevice('shm0')
  using domain = device.createProtectionDomain()
  using memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteWrite)
  const { address, remoteKey: key } = memory
  const hello = { address, key, ringBytes: 1024, mirrorBytesMax: 1024, receives: 4, receivesMax: 4 }
  const connection = await connect({ ...where, port: served.listener.port, domain, privateData: encodeHello(hello) })
  const view = new DataView(connection.privateData.buffer, connection.privateData.byteOffset)
  const remote = { address: view.getFloat64(8, true), key: view.getUint32(16, true) }
  await until(() => served.servers.length === 2)
  const request = connection.pair.prepareWrite({ local: [], remote, immediate: 1, signaled: true })
  // Each tells of one record of 8 bytes, all in one go: an empty message.
  for (let count = 0; count < 10; count += 1) request.post(count)
  const error = await served.servers[1]?.ended
  assert.equal(error?.reason, 'protocol')
  assert.match(error.message, /more receives/)
  connection.close()
  await until(() => use(served).connections === 1)
  await echo(client, 200)
  await client.close()
  served.listener.close()
})

test('rings are used as far as the other end mirrors them', async () => {
  const served = await serve({ connectionsMax: 2 })
  const client = await connectEndpoint({ ...where, port: served.listener.port, peerRingBytesMax: 2048 })
  await until(() => served.servers.length === 1)
  const [server] = served.servers as [Endpoint]
  assert.equal(server.link.outgoing.length, 16 << 10)
  assert.equal(client.link.outgoing.length, 2048)
  await echo(client, 500)
  await client.close()
  served.listener.close()
})

test('receives of their own and shared ones do not go together', async () => {
  await assert.rejects(
    listenEndpoints({ ...where, receives: 16, sharedReceiveQueue: {}, accept: () => {} }),
    ArgumentError,
  )
  await assert.rejects(
    listenEndpoints({ ...where, sharedReceiveQueue: { connectionsMax: 10, receives: 79 }, accept: () => {} }),
    ArgumentError,
  )
})

test('calls that block find what has come inside a handler, too: of the link itself, and of one beside it', async () => {
  const heard: string[] = []
  const servers: Endpoint[] = []
  const listener = await listenEndpoints({
    ...where,
    sharedReceiveQueue: { connectionsMax: 2 },
    accept: (endpoint) => servers.push(endpoint),
  })
  const served = { listener, servers, errors: [] }
  const one = await join(served)
  const other = await join(served)
  await until(() => servers.length === 2)
  const [first, second] = servers as [Endpoint, Endpoint]
  const [local, remote] = [first.allocate(8), one.allocate(8)]
  remote.bytes[0] = 42
  second.handlers = { receive: (data) => heard.push(`beside: ${data[0]}`) }
  const done = new Promise<void>((resolve) => {
    first.handlers = {
      receive: () => {
        first.readSync({ buffer: local }, remote, { timeoutMs: 2000 })
        heard.push(`read: ${local.bytes[0]}`)
        other.trySend(Uint8Array.of(7))
        other.link.flush()
        const deadline = performance.now() + 2000
        while (second.poll() === 0 && performance.now() < deadline);
        resolve()
      },
    }
  })
  await one.send(Uint8Array.of(1))
  await Promise.race([done, first.ended.then((error) => assert.fail(String(error)))])
  assert.deepEqual(heard, ['read: 42', 'beside: 7'])
  await Promise.all([one, other, first, second].map((endpoint) => endpoint.close()))
  listener.close()
})
