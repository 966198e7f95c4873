import assert from 'node:assert/strict'
import test from 'node:test'
import { connectEndpoint, type Endpoint, listenEndpoints } from '../../src/messaging/index.ts'
import { ArgumentError } from '../../src/native/index.ts'

const place = { device: 'shm0', address: '127.0.0.1' }

/** What a program without types may give. */
// biome-ignore lint/suspicious/noExplicitAny: that it has no type is what these tests are about
type Anything = any

async function refuses(name: string, run: () => unknown, expected: RegExp): Promise<void> {
  const error = await (async () => run())().then(
    () => assert.fail(`${name} was taken`),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ArgumentError, `${name}: ${error}`)
  assert.match(error.message, expected, name)
}

test('what cannot be sent, written or read is an ArgumentError that says what is taken; the connection lives on', async () => {
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenEndpoints({ ...place, accept: (endpoint) => arrived(endpoint) })
  const client: Anything = await connectEndpoint({ ...place, port: listener.port })
  const server = await accepted
  const local = client.allocate(64)
  const lent = server.allocate(64)
  const remote = { address: lent.address, key: lent.key }
  const isMessage = /a message is a Uint8Array/
  const isRange = /a range is \{ buffer, offset, length \}/
  const isPlace = /a place in the peer's memory is \{ address, key \}/
  const cases: readonly (readonly [name: string, run: () => unknown, expected: RegExp])[] = [
    ['send of a text', () => client.send('text'), isMessage],
    ['send of null', () => client.send(null), isMessage],
    ['send of nothing', () => client.send(), isMessage],
    ['send of numbers', () => client.send(new Float64Array(3)), isMessage],
    ['send of an ArrayBuffer', () => client.send(new ArrayBuffer(8)), isMessage],
    [
      'send beyond a buffer',
      () => client.send({ buffer: local, offset: 60, length: 8 }),
      /8 bytes from 60 on are no part/,
    ],
    ['send of a negative length', () => client.send({ buffer: local, length: -1 }), /-1 bytes from 0 on/],
    ['trySend of a text', () => client.trySend('text'), isMessage],
    ['trySend of a range', () => client.trySend({ buffer: local }), /send takes ranges/],
    ['no immediate', () => client.sendWithImmediate(new Uint8Array(1)), /an immediate is an integer of 32 bits/],
    ['write of nothing', () => client.write(undefined, remote), isRange],
    ['write of bytes', () => client.write(new Uint8Array(8), remote), isRange],
    ['write of another buffer', () => client.write({ buffer: { bytes: new Uint8Array(8) } }, remote), isRange],
    ['write to nowhere', () => client.write({ buffer: local }), isPlace],
    [
      'write to no number',
      () => client.write({ buffer: local }, { address: 'x', key: 1 }),
      /remote.address must be an integer/,
    ],
    ['write to no key', () => client.write({ buffer: local }, { address: 4096 }), /remote.key must fit 32 bits/],
    ['read of nothing', () => client.read(undefined, remote), isRange],
    ['read from nowhere', () => client.read({ buffer: local }), isPlace],
    ['postWrite to nowhere', () => client.postWrite(1, { buffer: local }), isPlace],
    ['writeSync to nowhere', () => client.writeSync({ buffer: local }), isPlace],
    [
      'writeSync without time',
      () => client.writeSync({ buffer: local }, remote, { timeoutMs: 'x' }),
      /a time-out is more than 0/,
    ],
    ['writeWithImmediate to nowhere', () => client.writeWithImmediate({ buffer: local }, undefined, 1), isPlace],
    ['fetchAdd of a number', () => client.fetchAdd(remote, 1), /must be a bigint/],
    ['fetchAdd nowhere', () => client.fetchAdd(undefined, 1n), isPlace],
    ['compareSwap of numbers', () => client.compareSwap(remote, { compare: 1, swap: 2n }), /must be a bigint/],
    ['maskedFetchAdd of a number', () => client.maskedFetchAdd(remote, { add: 1 }), /must be a bigint/],
    [
      'maskedCompareSwap, a mask',
      () => client.maskedCompareSwap(remote, { compare: 1n, swap: 2n, swapMask: 3 }),
      /swapMask must be a bigint/,
    ],
    [
      'a handler that is none',
      () => {
        client.handlers = { receive: 5 }
      },
      /'receive' is a function, not number/,
    ],
    [
      'no handlers',
      () => {
        client.handlers = 5
      },
      /handlers are an object of functions/,
    ],
  ]
  for (const [name, run, expected] of cases) await refuses(name, run, expected)
  await client.write({ buffer: local }, remote)
  const { done, value } = await (async () => {
    await client.send(new Uint8Array([7]))
    return server[Symbol.asyncIterator]().next()
  })()
  assert.equal(done, false)
  assert.deepEqual([...(value?.data ?? [])], [7], 'the connection has lived on')
  await client.close()
  await server.ended
  await listener.close()
})

test('handlers that cannot be are refused before there is a connection', async () => {
  let connections = 0
  const count = (): void => {
    connections += 1
  }
  const listener = await listenEndpoints({ ...place, accept: count, clientError: count })
  const connect = connectEndpoint as Anything
  const listen = listenEndpoints as Anything
  const handlers = { receive: 5 }
  await refuses('a client', () => connect({ ...place, port: listener.port, handlers }), /'receive' is a function/)
  await refuses('a listener', () => listen({ ...place, accept: count, handlers }), /'receive' is a function/)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(connections, 0)
  listener.close()
})

test('where a listener or a connection cannot be, it is said before anything is made', async () => {
  const listen = listenEndpoints as Anything
  const connect = connectEndpoint as Anything
  await refuses('a listener of nobody', () => listen(), /accept is a function/)
  await refuses('a listener without accept', () => listen(place), /accept is a function/)
  await refuses('an accept that is none', () => listen({ ...place, accept: 3 }), /accept is a function/)
  await refuses('a connection to nobody', () => connect(), /an address is IPv4 or IPv6/)
  await refuses('no address', () => connect({ device: 'shm0', port: 1 }), /an address is IPv4 or IPv6/)
  await refuses('a port that is none', () => connect({ ...place, port: 'x' }), /a port is an integer/)
  await refuses('a device that is none', () => connect({ ...place, device: 3, port: 1 }), /a device is the name of one/)
  await refuses(
    'a time that is none',
    () => connect({ ...place, port: 1, connectTimeoutMs: 'x' }),
    /more than 0 and at most \d+ ms, not x/,
  )
  await refuses(
    'private data of another kind',
    () => connect({ ...place, port: 1, privateData: 'x' }),
    /private data are a Uint8Array/,
  )
})
