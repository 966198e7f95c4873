import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import {
  connectEndpoint,
  type Endpoint,
  type ListenEndpointsOptions,
  listenEndpoints,
} from '../../src/messaging/index.ts'
import { ArgumentError } from '../../src/native/index.ts'

const place = { device: 'shm0', address: '127.0.0.1' }

/** What a program without types may give. */
// biome-ignore lint/suspicious/noExplicitAny: that it has no type is what these tests are about
type Anything = any

/** Listen until the test has ended, well or badly. */
async function listenDuring(t: TestContext, options: Pick<ListenEndpointsOptions, 'accept' | 'clientError'>) {
  const listener = await listenEndpoints({ ...place, ...options })
  t.after(() => listener.close())
  return listener
}

async function refuses(name: string, run: () => unknown, expected: RegExp): Promise<void> {
  const error = await (async () => run())().then(
    () => assert.fail(`${name} was taken`),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ArgumentError, `${name}: ${error}`)
  assert.match(error.message, expected, name)
}

test('what cannot be sent, written or read is an ArgumentError that says what is taken; the connection lives on', async (t) => {
  let arrived!: (endpoint: Endpoint) => void
  const accepted = new Promise<Endpoint>((resolve) => {
    arrived = resolve
  })
  const listener = await listenDuring(t, { accept: (endpoint) => arrived(endpoint) })
  await using endpoint = await connectEndpoint({ ...place, port: listener.port })
  const client: Anything = endpoint
  await using server = await accepted
  const local = client.allocate(64)
  const lent = server.allocate(64)
  const remote = { address: lent.address, key: lent.key }
  const isMessage = /data must be a Uint8Array/
  const isRange = /local must be a range \{ buffer, offset, length \}/
  const isPlace = /remote must be \{ address, key \}/
  const cases: readonly (readonly [name: string, run: () => unknown, expected: RegExp])[] = [
    ['send of a text', () => client.send('text'), isMessage],
    ['send of null', () => client.send(null), isMessage],
    ['send of nothing', () => client.send(), isMessage],
    ['send of numbers', () => client.send(new Float64Array(3)), isMessage],
    ['send of an ArrayBuffer', () => client.send(new ArrayBuffer(8)), isMessage],
    [
      'send beyond a buffer',
      () => client.send({ buffer: local, offset: 60, length: 8 }),
      /8 bytes from offset 60 are not a part of a buffer of 64 bytes/,
    ],
    [
      'send of a negative length',
      () => client.send({ buffer: local, length: -1 }),
      /-1 bytes from offset 0 are not a part of a buffer of 64 bytes/,
    ],
    ['trySend of a text', () => client.trySend('text'), isMessage],
    ['trySend of a range', () => client.trySend({ buffer: local }), /to send a range, call `send`/],
    ['no immediate', () => client.sendWithImmediate(new Uint8Array(1)), /immediate must be an integer of 32 bits/],
    ['write of nothing', () => client.write(undefined, remote), isRange],
    ['write of bytes', () => client.write(new Uint8Array(8), remote), isRange],
    ['write of another buffer', () => client.write({ buffer: { bytes: new Uint8Array(8) } }, remote), isRange],
    ['write to nowhere', () => client.write({ buffer: local }), isPlace],
    [
      'write to no number',
      () => client.write({ buffer: local }, { address: 'x', key: 1 }),
      /remote.address must be an integer/,
    ],
    [
      'write to no key',
      () => client.write({ buffer: local }, { address: 4096 }),
      /remote.key must be an integer of 32 bits/,
    ],
    ['read of nothing', () => client.read(undefined, remote), isRange],
    ['read from nowhere', () => client.read({ buffer: local }), isPlace],
    ['postWrite to nowhere', () => client.postWrite(1, { buffer: local }), isPlace],
    ['writeSync to nowhere', () => client.writeSync({ buffer: local }), isPlace],
    [
      'writeSync without time',
      () => client.writeSync({ buffer: local }, remote, { timeoutMs: 'x' }),
      /timeoutMs must be a number of milliseconds above 0/,
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
      /handlers.receive must be a function .*, not 5/,
    ],
    [
      'no handlers',
      () => {
        client.handlers = 5
      },
      /handlers of an endpoint must be an object such as/,
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
})

test('handlers that cannot be are refused before there is a connection', async (t) => {
  let connections = 0
  const count = (): void => {
    connections += 1
  }
  const listener = await listenDuring(t, { accept: count, clientError: count })
  const connect = connectEndpoint as Anything
  const listen = listenEndpoints as Anything
  const handlers = { receive: 5 }
  await refuses(
    'a client',
    () => connect({ ...place, port: listener.port, handlers }),
    /handlers.receive must be a function/,
  )
  await refuses(
    'a listener',
    () => listen({ ...place, accept: count, handlers }),
    /handlers.receive must be a function/,
  )
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(connections, 0)
})

test('where a listener or a connection cannot be, it is said before anything is made', async () => {
  const listen = listenEndpoints as Anything
  const connect = connectEndpoint as Anything
  await refuses('a listener of nobody', () => listen(), /accept must be a function/)
  await refuses('a listener without accept', () => listen(place), /accept must be a function/)
  await refuses('an accept that is none', () => listen({ ...place, accept: 3 }), /accept must be a function/)
  await refuses('a connection to nobody', () => connect(), /options must be an object such as/)
  await refuses(
    'no address',
    () => connect({ device: 'shm0', port: 1 }),
    /address must be a numeric IPv4 or IPv6 address/,
  )
  await refuses('a port that is none', () => connect({ ...place, port: 'x' }), /port must be an integer/)
  await refuses(
    'a device that is none',
    () => connect({ ...place, device: 3, port: 1 }),
    /device must be the name of a device/,
  )
  await refuses(
    'a time that is none',
    () => connect({ ...place, port: 1, connectTimeoutMs: 'x' }),
    /connectTimeoutMs must be more than 0 and at most \d+, not 'x'/,
  )
  await refuses(
    'private data of another kind',
    () => connect({ ...place, port: 1, privateData: 'x' }),
    /privateData must be a Uint8Array/,
  )
})
