import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionRejectedError, connect, listen } from '../../src/cm/index.ts'
import { encodeHello } from '../../src/messaging/hello.ts'
import {
  connectEndpoint,
  type Endpoint,
  type EndpointHandlers,
  type LinkConnectionOptions,
  LinkError,
  type LinkListener,
  listenEndpoints,
} from '../../src/messaging/index.ts'
import { ArgumentError } from '../../src/native/index.ts'
import { Access, openDevice } from '../../src/verbs/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }

interface Ends {
  readonly client: Endpoint
  readonly server: Endpoint
  readonly listener: LinkListener
  close(): Promise<void>
}

async function join(
  options: LinkConnectionOptions & { handlers?: EndpointHandlers; messageBytesMax?: number } = {},
): Promise<Ends> {
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
  return { client, server, listener, close }
}

function turns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): unknown => (left === 0 ? resolve() : setImmediate(turn, left - 1))
    turn(count)
  })
}

for (const completion of ['events', 'polling', 'adaptive'] as const) {
  test(`callbacks: every message arrives once, in order, with completion by ${completion}`, async () => {
    const { client, server, close } = await join({ completion })
    const seen: string[] = []
    const done = new Promise<void>((resolve) => {
      server.handlers = {
        receive: (data, immediate, endpoint) => {
          assert.equal(endpoint, server)
          seen.push(`${data.length}:${immediate}`)
          if (immediate === 99) resolve()
        },
      }
    })
    for (let index = 0; index < 99; index += 1) await client.send(new Uint8Array(index))
    await client.sendWithImmediate(new Uint8Array(3), 99)
    await done
    assert.deepEqual(seen, [...Array.from({ length: 99 }, (_, index) => `${index}:undefined`), '3:99'])
    await close()
  })
}

test('an iteration holds the sender back, and then gives everything', async () => {
  const { client, server, close } = await join({ ringBytes: 4096 })
  let sent = 0
  const sending = (async () => {
    for (; sent < 400; sent += 1) await client.sendWithImmediate(new Uint8Array(1000), sent)
    await client.close()
  })()
  await turns(2000)
  assert.ok(sent < 100, `${sent} messages were sent to an end that takes none`)
  let received = 0
  for await (const { data, immediate } of server) {
    assert.equal(data.length, 1000)
    assert.equal(immediate, received)
    received += 1
  }
  await sending
  assert.equal(received, 400)
  await close()
})

test('messages that are too long for the ring arrive in order with the others, copied or in place', async () => {
  const { client, server, close } = await join({ ringBytes: 1024 })
  const lengths: number[] = []
  const done = new Promise<void>((resolve) => {
    server.handlers = {
      receive: (data, immediate) => {
        assert.ok(data.every((byte) => byte === data.length % 251))
        lengths.push(data.length)
        if (immediate === 1) resolve()
      },
    }
  })
  const filled = (length: number): Uint8Array => new Uint8Array(length).fill(length % 251)
  const placed = client.allocate(200_000)
  placed.bytes.set(filled(150_000), 8)
  await Promise.all([
    client.send(filled(10)),
    client.send(filled(100_000)),
    client.send({ buffer: placed, offset: 8, length: 150_000 }),
    client.send(filled(400)),
    client.sendWithImmediate(filled(5000), 1),
  ])
  await done
  assert.deepEqual(lengths, [10, 100_000, 150_000, 400, 5000])
  await close()
})

test('both ends send long messages at once, and neither waits for the other for ever', async () => {
  const { client, server, close } = await join({ ringBytes: 1024 })
  const all = [client, server].map(async (endpoint) => {
    let received = 0
    const done = new Promise<void>((resolve) => {
      endpoint.handlers = {
        receive: (data) => {
          assert.equal(data.length, 20_000)
          received += 1
          if (received === 50) resolve()
        },
      }
    })
    await Promise.all(Array.from({ length: 50 }, () => endpoint.send(new Uint8Array(20_000))))
    await done
  })
  await Promise.all(all)
  await close()
})

test('a message that is longer than the peer takes fails at its sender, and the connection goes on', async () => {
  const { client, server, close } = await join({ ringBytes: 1024, messageBytesMax: 10_000 })
  await assert.rejects(client.send(new Uint8Array(10_001)), ArgumentError)
  await client.send(Uint8Array.of(1))
  assert.deepEqual((await server.messages().next()).value?.data, Uint8Array.of(1))
  await close()
})

test('blocking calls work inside a handler', async () => {
  const { client, server, close } = await join()
  const memory = client.allocate(8)
  memory.bytes.fill(6)
  const here = server.allocate(8)
  const read = new Promise<number | undefined>((resolve) => {
    server.handlers = {
      receive: (data) => {
        const view = new DataView(data.buffer, data.byteOffset)
        server.readSync({ buffer: here }, { address: view.getFloat64(0), key: view.getUint32(8) })
        resolve(here.bytes[7])
      },
    }
  })
  const token = new DataView(new ArrayBuffer(12))
  token.setFloat64(0, memory.address)
  token.setUint32(8, memory.key)
  await client.send(new Uint8Array(token.buffer))
  assert.equal(await read, 6)
  await close()
})

test('atomics on words of the peer, more at once than there are cells', async () => {
  const { client, server, close } = await join()
  const there = server.allocate(16)
  const words = new BigUint64Array(there.bytes.buffer, there.bytes.byteOffset, 2)
  const olds = await Promise.all(Array.from({ length: 200 }, () => client.fetchAdd(there, 3n)))
  assert.deepEqual(
    olds.toSorted((a, b) => Number(a - b)),
    Array.from({ length: 200 }, (_, index) => BigInt(3 * index)),
  )
  assert.equal(await client.compareSwap(there, { compare: 600n, swap: 1n }), 600n)
  assert.equal(await client.compareSwap(there, { compare: 600n, swap: 2n }), 1n)
  assert.equal(words[0], 1n)
  words[1] = 0xff00n
  assert.equal(
    await client.maskedCompareSwap(
      { address: there.address + 8, key: there.key },
      { compare: 0xff00n, compareMask: 0xff00n, swap: 0x12n, swapMask: 0xffn },
    ),
    0xff00n,
  )
  assert.equal(words[1], 0xff12n)
  assert.equal(
    await client.maskedFetchAdd({ address: there.address + 8, key: there.key }, { add: 0xffn, boundaries: 0x80n }),
    0xff12n,
  )
  assert.equal(words[1], 0xff11n)
  await close()
})

test('atomics that wait for their turn when the connection ends, however many, are told so, and so is what is called later', async () => {
  const { client, server, close } = await join()
  const there = server.allocate(16)
  const here = client.allocate(8)
  const waiting = Promise.allSettled(Array.from({ length: 10_000 }, () => client.fetchAdd(there, 1n)))
  client.destroy()
  for (const each of await waiting) {
    assert.equal(each.status, 'rejected')
    assert.equal((each.reason as LinkError).code, 'ERR_AETHER_LINK')
  }
  await turns(10)
  const over = { name: 'LinkError', outcome: 'none' }
  await assert.rejects(client.write({ buffer: here }, there), over)
  await assert.rejects(client.read({ buffer: here }, there), over)
  await assert.rejects(client.writeWithImmediate({ buffer: here }, there, 1), over)
  await assert.rejects(client.fetchAdd(there, 1n), over)
  await assert.rejects(client.compareSwap(there, { compare: 1n, swap: 2n }), over)
  assert.throws(() => client.writeSync({ buffer: here }, there), over)
  assert.throws(() => client.readSync({ buffer: here }, there), over)
  assert.throws(() => client.postWrite(1, { buffer: here }, there), over)
  assert.equal((await client.ended)?.reason, 'destroyed')
  await close()
})

test('a WRITE with a notice keeps its place among messages: behind those that wait, before those of the same turn', async () => {
  const { client, server, close } = await join({ ringBytes: 1024 })
  const there = server.allocate(8)
  const here = client.allocate(8)
  here.bytes.fill(4)
  const seen: [string, number][] = []
  server.pause()
  let messages = 0
  while (client.trySend(new Uint8Array(100))) messages += 1
  const before = client.send(new Uint8Array(100))
  const waiting = client.writeWithImmediate({ buffer: here }, there, 1)
  const behind = client.send(new Uint8Array(100))
  const done = new Promise<void>((resolve) => {
    server.handlers = {
      receive: (_, immediate) => {
        seen.push(['message', there.bytes[0]!])
        if (immediate === 2) resolve()
      },
      written: () => seen.push(['notice', there.bytes[0]!]),
    }
  })
  server.resume()
  await Promise.all([before, waiting, behind])
  while (seen.length < messages + 3) await turns(1)
  here.bytes.fill(5)
  const alone = client.writeWithImmediate({ buffer: here }, there, 1)
  assert.ok(client.trySend(new Uint8Array(100), 2))
  await alone
  await done
  const kinds = seen.map(([kind]) => kind)
  assert.deepEqual(kinds, [...Array(messages + 1).fill('message'), 'notice', 'message', 'notice', 'message'])
  assert.deepEqual(seen.at(0), ['message', 0])
  assert.deepEqual(
    seen.slice(messages + 1).map(([, byte]) => byte),
    [4, 4, 5, 5],
  )
  await close()
})

test('a WRITE with a notice that is refused here tells the peer nothing', async () => {
  const { client, server, close } = await join()
  const there = server.allocate(8)
  const here = client.allocate(8)
  const seen: unknown[] = []
  server.handlers = { receive: (data) => seen.push(data.length), written: (immediate) => seen.push(immediate) }
  await assert.rejects(client.writeWithImmediate({ buffer: here, offset: 4, length: 8 }, there, 1), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
  })
  await assert.rejects(client.writeWithImmediate({ buffer: here }, there, -1), { argument: 'immediate' })
  await client.send(new Uint8Array(3))
  while (seen.length === 0) await turns(1)
  assert.deepEqual(seen, [3])
  const closed = client.close()
  await assert.rejects(client.writeWithImmediate({ buffer: here }, there, 1), { name: 'LinkError', outcome: 'none' })
  await closed
  await server.ended
  await assert.rejects(server.writeWithImmediate({ buffer: here }, there, 1), { name: 'LinkError', outcome: 'none' })
  await close()
})

test('physical memory of the peer, by its key', async () => {
  using device = openDevice('shm0', { physicalBytes: 4096 })
  const domain = device.createProtectionDomain()
  const physical = domain.registerPhysical(Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite)
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ domain, address: where.address, accept: arrived })
  const client = await connectEndpoint({ ...where, port: listener.port })
  const server = await accepted
  const here = client.allocate(16)
  here.bytes.fill(8)
  const peer = client.physicalPeer(physical.remoteKey)
  await peer.write({ buffer: here, length: 8 }, 100)
  peer.writeSync({ buffer: here, length: 8 }, 108)
  here.bytes.fill(0)
  await peer.read({ buffer: here, length: 8 }, 104)
  peer.readSync({ buffer: here, offset: 8, length: 8 }, 104)
  assert.ok(here.bytes.every((byte) => byte === 8))
  listener.close()
  await client.close()
  await server.close()
  await turns(5)
})

test('closing has one closeTimeoutMs for all that waits and for the peer, and says what was not taken', async (t) => {
  const { client, server, close } = await join({ ringBytes: 1024, closeTimeoutMs: 1000 })
  server.pause()
  while (client.trySend(new Uint8Array(100))) await turns(1)
  const late = client.send(new Uint8Array(100))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const closed = client.close()
  t.mock.timers.tick(600)
  // It takes some, so that what waits may leave, and then looks at nothing any more: the peer's word is what is waited
  // for now.
  let taken = 0
  server.handlers = {
    receive: () => {
      taken += 1
      if (taken === 5) server.pause()
    },
  }
  server.resume()
  await late
  const { mock } = t.mock.method(server.link, 'advance', () => 0)
  await turns(20)
  assert.ok(client.link.open)
  t.mock.timers.tick(400)
  await closed
  const error = await client.ended
  assert.deepEqual([error?.reason, error?.outcome], ['lost', 'unknown'])
  assert.match(String(error), /within 1000 ms/)
  mock.restore()
  t.mock.timers.reset()
  await close()
})

test('closing gives up what waits for room after closeTimeoutMs', async (t) => {
  const { client, server, close } = await join({ ringBytes: 1024, closeTimeoutMs: 1000 })
  server.pause()
  while (client.trySend(new Uint8Array(100))) await turns(1)
  const waiting = [client.send(new Uint8Array(100)), client.send(new Uint8Array(5000))]
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const closed = client.close()
  t.mock.timers.tick(999)
  await turns(20)
  assert.ok(client.link.open)
  t.mock.timers.tick(1)
  await closed
  const given = { name: 'LinkError', reason: 'lost', outcome: 'unknown' }
  for (const each of waiting) await assert.rejects(each, given)
  t.mock.timers.reset()
  await close()
})

test('a WRITE that the peer does not allow fails by itself, tells why, and ends the connection', async () => {
  const { client, server, close } = await join()
  const here = client.allocate(8)
  await assert.rejects(client.write({ buffer: here }, { address: 1 << 20, key: 12_345 }), /RemoteAccessError/)
  assert.equal((await client.ended)?.reason, 'lost')
  assert.equal((await server.ended)?.reason, 'lost')
  await close()
})

test('what a handler throws ends its connection and no other', async () => {
  const errors: unknown[] = []
  const endpoints: Endpoint[] = []
  const listener = await listenEndpoints({
    ...where,
    handlers: {
      receive: () => {
        throw new Error('a mistake of the program')
      },
      error: (error) => errors.push(error),
    },
    accept: (endpoint) => endpoints.push(endpoint),
  })
  const [first, second] = (await Promise.all([1, 2].map(() => connectEndpoint({ ...where, port: listener.port })))) as [
    Endpoint,
    Endpoint,
  ]
  await first.send(new Uint8Array(8))
  assert.equal((await first.ended)?.reason, 'lost')
  assert.match(String(errors), /a mistake of the program/)
  assert.equal((errors[0] as LinkError).reason, 'handler')
  assert.ok(second.open)
  listener.close()
  await second.close()
})

test('maxReadAtomic: what the queue pairs of both ends have is the lower of what one starts and the other serves', async () => {
  const { client, server, close } = await join({ maxReadAtomic: 3 })
  assert.equal(client.link.pair.query().maxReadAtomic, 3)
  assert.equal(server.link.pair.query().maxReadAtomic, 3)
  await close()
  const limited = await join({ maxReadAtomic: 5, maxDestinationReadAtomic: 2 })
  for (const { link } of [limited.client, limited.server]) {
    const { maxReadAtomic, maxDestinationReadAtomic } = link.pair.query()
    assert.deepEqual([maxReadAtomic, maxDestinationReadAtomic], [2, 2])
  }
  await limited.close()
})

test('private data travels both ways', async () => {
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...where, accept: arrived, privateData: Uint8Array.of(1, 2) })
  const client = await connectEndpoint({ ...where, port: listener.port, privateData: Uint8Array.of(3, 4, 5) })
  const server = await accepted
  assert.deepEqual([...client.privateData.subarray(0, 3)], [1, 2, 0])
  assert.deepEqual([...server.privateData.subarray(0, 4)], [3, 4, 5, 0])
  await assert.rejects(
    connectEndpoint({ ...where, port: listener.port, privateData: new Uint8Array(33) }),
    ArgumentError,
  )
  listener.close()
  await client.close()
})

test('clients that speak otherwise are turned away, and the next one is served', async () => {
  const errors: unknown[] = []
  const listener = await listenEndpoints({ ...where, accept: () => {}, clientError: (error) => errors.push(error) })
  const hello = { address: 0, key: 0, ringBytes: 4096, mirrorBytesMax: 4096, receives: 4, receivesMax: 4 }
  const otherVersion = encodeHello(hello)
  otherVersion[4] = 99
  const wrong = [
    new Uint8Array(0),
    crypto.getRandomValues(new Uint8Array(56)),
    otherVersion,
    encodeHello({ ...hello, ringBytes: 512 }),
    encodeHello({ ...hello, mirrorBytesMax: 2 ** 40 }),
    encodeHello({ ...hello, receivesMax: 3 }),
    encodeHello({ ...hello, receives: 0 }),
    encodeHello({ ...hello, address: Number.NaN }),
  ]
  for (const privateData of wrong)
    await assert.rejects(connect({ ...where, port: listener.port, privateData }), ConnectionRejectedError)
  assert.equal(errors.length, wrong.length)
  for (const error of errors) assert.equal((error as LinkError).reason, 'incompatible')
  const client = await connectEndpoint({ ...where, port: listener.port })
  await client.close()
  assert.equal(await client.ended, undefined)
  listener.close()
})

test('a server that is no endpoint is called that', async () => {
  await using listener = await listen(where)
  const answering = listener.next().then((request) => request?.accept())
  await assert.rejects(connectEndpoint({ ...where, port: listener.port }), (error) => {
    assert.ok(error instanceof LinkError)
    assert.equal(error.reason, 'incompatible')
    return true
  })
  ;(await answering)?.close()
})

/** What the words of the ring are, and the immediate that tells of them. */
interface Garbage {
  readonly what: string
  readonly words: readonly number[]
  readonly immediate: number
}

const ones = new Array<number>(1024).fill(0xffffffff)
const garbage: readonly Garbage[] = [
  { what: 'a length beyond what came', words: [0x00ffffff], immediate: 2 },
  { what: 'a length beyond the ring', words: [0x0fffffff], immediate: 512 },
  { what: 'padding in the middle', words: [0xf0000000], immediate: 4 },
  { what: 'more than the ring holds', words: [], immediate: 100_000 },
  { what: 'nothing at all', words: [], immediate: 0 },
  { what: 'an unknown signal', words: [], immediate: 0x80000000 },
  { what: 'a signal with something beside it', words: [], immediate: 0x81010000 },
  { what: 'an answer to no question', words: [], immediate: 0x82000000 },
  { what: 'receives that nobody asked back', words: [], immediate: 0x85000001 },
  { what: 'an unknown kind', words: [0xd0000000], immediate: 1 },
  { what: 'an offer of impossible memory', words: [0x30000018, ...ones.slice(1)], immediate: 4 },
  { what: 'a short offer', words: [0x30000008], immediate: 2 },
  { what: 'an answer to an offer that was not made', words: [0x50000000], immediate: 1 },
]
for (const { what, words, immediate } of garbage) {
  test(`garbage in the ring: ${what}; the connection ends, the server does not`, async () => {
    const endpoints: Endpoint[] = []
    const listener = await listenEndpoints({
      ...where,
      ringBytes: 4096,
      handlers: { receive: () => {} },
      accept: (endpoint) => endpoints.push(endpoint),
    })
    using device = openDevice('shm0')
    using domain = device.createProtectionDomain()
    using memory = domain.allocate(8192, Access.LocalWrite | Access.RemoteWrite)
    const { address, remoteKey: key } = memory
    const receives = { receives: 16, receivesMax: 16 }
    const privateData = encodeHello({ address, key, ringBytes: 4096, mirrorBytesMax: 4096, ...receives })
    const connection = await connect({ ...where, port: listener.port, domain, privateData })
    const view = new DataView(connection.privateData.buffer, connection.privateData.byteOffset)
    const remote = { address: view.getFloat64(8, true), key: view.getUint32(16, true) }
    new Uint32Array(memory.bytes.buffer, memory.bytes.byteOffset, 1024).set(words)
    await connection.pair.write({ local: memory.subarray(0, 4096), remote, immediate })
    while (endpoints.length === 0) await turns(1)
    const error = await endpoints[0]!.ended
    assert.equal(error?.reason, 'protocol')
    connection.close()
    const client = await connectEndpoint({ ...where, port: listener.port })
    await client.close()
    assert.equal(await client.ended, undefined)
    listener.close()
  })
}

test('a connection that nobody answers ends in the time given', async () => {
  await assert.rejects(connectEndpoint({ ...where, port: 1, connectTimeoutMs: 2000 }), ConnectionRejectedError)
  await using silent = await listen(where)
  await assert.rejects(connectEndpoint({ ...where, port: silent.port, connectTimeoutMs: 50 }), {
    code: 'ERR_AETHER_TIMEOUT',
  })
})
