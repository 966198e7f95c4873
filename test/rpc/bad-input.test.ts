import assert from 'node:assert/strict'
import test from 'node:test'
import { ArgumentError } from '../../src/native/index.ts'
import {
  bidirectional,
  clientStream,
  createServer,
  defineService,
  openChannel,
  rdmaCall,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'

/** What a program without types may give. */
// biome-ignore lint/suspicious/noExplicitAny: that it has no type is what these tests are about
type Anything = any

const place = { device: 'shm0', address: '127.0.0.1' }
const method = unary({ request: type<Anything>(), response: type<Anything>() })
const service = defineService({
  name: 'taken',
  methods: {
    echo: method,
    upload: clientStream({ request: type<Anything>(), response: type<number>() }),
    both: bidirectional({ request: type<Anything>(), response: type<number>() }),
    lent: rdmaCall({ buffers: 'source', request: type<void>(), response: type<void>() }),
    badMetadata: method,
  },
})

async function refuses(name: string, run: () => unknown, expected: RegExp): Promise<void> {
  const error = await (async () => run())().then(
    () => assert.fail(`${name} was taken`),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ArgumentError, `${name}: ${error}`)
  assert.match(error.message, expected, name)
}

test('what a call cannot take is an ArgumentError before anything leaves; the connection and its other calls live on', async () => {
  const handlers: Anything = {
    echo: (value: Anything) => value,
    upload: async () => 0,
    both: async function* () {},
    lent: () => undefined,
    badMetadata: (_: Anything, context: Anything) => {
      context.answerMetadata = { count: 3 }
    },
  }
  await using server = createServer().serve(service, handlers)
  const { port } = await server.listen(place)
  await using channel = openChannel({ ...place, port })
  const client: Anything = channel.client(service)
  await channel.ready()
  const isTexts = /metadata must be an object whose values are strings/
  const cases: readonly (readonly [name: string, run: () => unknown, expected: RegExp])[] = [
    ['a function', () => client.echo(() => 3), /takes only what structuredClone takes: .*could not be cloned/],
    ['a symbol', () => client.echo(Symbol('x')), /takes only what structuredClone takes/],
    ['metadata of numbers', () => client.echo(1, { metadata: { a: 3 } }), isTexts],
    ['metadata that is a text', () => client.echo(1, { metadata: 'x' }), isTexts],
    ['metadata that is a list', () => client.echo(1, { metadata: ['x'] }), isTexts],
    ['metadata of nothing', () => client.echo(1, { metadata: null }), isTexts],
    [
      'a key that is a number',
      () => client.echo(1, { idempotencyKey: 3 }),
      /idempotencyKey must be true or a string, not 3/,
    ],
    ['a signal that is none', () => client.echo(1, { signal: 3 }), /signal must be an AbortSignal/],
    [
      'no time',
      () => client.echo(1, { timeoutMs: Number.NaN }),
      /timeoutMs must be a number of milliseconds above 0, not NaN/,
    ],
    ['no stream', () => client.upload(), /upload takes its requests from an iterable/],
    ['a number for a stream', () => client.upload(3), /upload takes its requests from an iterable/],
    ['a number for a stream of both', () => client.both(3), /both takes its requests from an iterable/],
    [
      'bytes for a buffer',
      () => client.lent(undefined, { source: new Uint8Array(8) }),
      /options.source must be a buffer, as allocate\(\) or register\(\) returns/,
    ],
    ['no buffer', () => client.lent(), /lent needs a registered buffer as its source/],
    ['metadata of numbers, blocking', () => client.echoSync(1, { metadata: { a: 3 } }), isTexts],
    ['a service that is none', () => channel.client({} as Anything), /service must be what defineService\(\) returns/],
    ['metadata that is a Date', () => client.echo(1, { metadata: new Date(0) }), isTexts],
    ['an option that is misspelt', () => client.echo(1, { timeoutMS: 1 }), /did you mean 'timeoutMs'/],
    ['a key for a stream', () => client.both([], { idempotencyKey: true }), /unknown option 'idempotencyKey'/],
    ['options that are none', () => client.echo(1, 5), /options of taken\/echo must be an object/],
  ]
  const other = client.echo('beside', { timeoutMs: 30_000 })
  for (const [name, run, expected] of cases) await refuses(name, run, expected)
  await assert.rejects(client.badMetadata(), { code: 'ERR_AETHER_RPC_INVALID_RESPONSE', outcome: 'failed' })
  assert.equal(
    await client.echo(7, { metadata: { token: undefined, user: 'Ada' } }),
    7,
    'what is undefined does not travel',
  )
  assert.equal(await other, 'beside')
})

test('a contract that could not be called is refused where it is made', async () => {
  const define = defineService as Anything
  await refuses('a service without a name', () => define({ methods: {} }), /name is missing; give the service a name/)
  await refuses(
    'a service without methods',
    () => define({ name: 's' }),
    /methods must be an object whose values are made by unary/,
  )
  await refuses('a method that is none', () => define({ name: 's', methods: { x: 3 } }), /'x' is not a method/)
  await refuses(
    'a method that is missing',
    () => define({ name: 's', methods: { x: undefined } }),
    /'x' is not a method/,
  )
  // biome-ignore lint/suspicious/noThenProperty: that it is refused is what is tested
  await refuses('then', () => define({ name: 's', methods: { then: method } }), /taken for a promise/)
  await refuses(
    'two forms of one name',
    () => define({ name: 's', methods: { x: method, xSync: method } }),
    /'xSync' is the blocking form of 'x'/,
  )
  await refuses('a schema that is none', () => unary({ request: 3 as Anything }), /Standard Schema/)
  await refuses('a codec that is none', () => unary({ codec: {} as Anything }), /encode and decode/)
})

test('a server and a channel say what they need', async () => {
  const server: Anything = createServer()
  await refuses('no service', () => server.serve(undefined, {}), /service must be what defineService\(\) returns/)
  await refuses(
    'no handlers',
    () => server.serve(service),
    /handlers must be an object with a function for each method/,
  )
  await refuses('a handler missing', () => server.serve(service, {}), /'echo' of service 'taken' has no handler/)
  const create = createServer as Anything
  for (const name of ['callsMax', 'streamWindow', 'fenceMs', 'answersKept'])
    for (const value of [null, 0, Number.NaN, Symbol('x')])
      await refuses(
        `a server with ${name} ${String(value)}`,
        () => create({ [name]: value }),
        new RegExp(`${name} must`),
      )
  await refuses('too long a fence', () => create({ fenceMs: 2 ** 31 }), /fenceMs must be at most 2147483647 ms/)
  await refuses('too wide a window', () => create({ streamWindow: 2 ** 32 }), /streamWindow must be a whole number/)
  await refuses('interceptors that are none', () => create({ interceptors: [3] }), /must be a function that calls next/)
  await refuses('no link', () => server.accept({}), /link must be a link, as connectLink/)
  const open = openChannel as Anything
  for (const source of [undefined, null, 3, 'x', {}, { device: 'shm0', address: '127.0.0.1' }])
    await refuses(`a channel to ${JSON.stringify(source)}`, () => open(source), /source must be \{ address, port/)
  await server.close()
})

test('a channel whose source is wrong says so at once, in what waits for the connection', async () => {
  const open = openChannel as Anything
  const cases: readonly (readonly [name: string, source: unknown, expected: RegExp])[] = [
    ['a port', { ...place, port: 'x' }, /port must be/],
    ['a ring', { ...place, port: 1, ringBytes: 3 }, /ringBytes must be a power of two/],
    ['no link', () => undefined, /the result of source must be a link/],
  ]
  for (const [name, source, expected] of cases) {
    const channel = open(source)
    await refuses(name, () => channel.ready(), expected)
    await channel.close()
  }
})

test('metadata of a class travel as its texts, whatever its form in JSON', async () => {
  class User {
    readonly name = 'Ada'
    toJSON(): null {
      return null
    }
  }
  const users = defineService({ name: 'users', methods: { name: unary({ response: type<Anything>() }) } })
  await using server = createServer().serve(users, { name: (_, { metadata }) => metadata })
  const { port } = await server.listen(place)
  await using channel = openChannel({ ...place, port })
  assert.deepEqual(await channel.client(users).name(undefined, { metadata: new User() as Anything }), { name: 'Ada' })
})

test('metadata that cannot travel leave nothing behind of a call with buffers: neither its slot nor what rejects later', async () => {
  const lending = defineService({
    name: 'lending',
    methods: { lent: rdmaCall({ buffers: 'source', response: type<number>() }) },
  })
  await using server = createServer().serve(lending, { lent: (_, { source }) => source.length })
  const { port } = await server.listen(place)
  await using channel = openChannel({ ...place, port }, { callsMax: 1 })
  const client: Anything = channel.client(lending)
  await using source = await channel.allocate(8)
  await refuses(
    'numbers',
    () => client.lent(undefined, { source, metadata: { a: 3 } }),
    /metadata must be an object whose/,
  )
  const metadata = { a: 'x'.repeat(10_000) }
  await refuses(
    'a long text',
    () => client.lent(undefined, { source, metadata }),
    /metadata can have at most 8192 bytes of JSON, not 10008;/,
  )
  assert.equal(await client.lent(undefined, { source }), 8)
})

test('what is as good as the usual is taken', async () => {
  // biome-ignore lint/complexity/noStaticOnlyClass: that it is taken is what is tested
  class Handlers {
    static echo(value: Anything): Anything {
      return value
    }

    static async upload(texts: AsyncIterable<string>): Promise<number> {
      let count = 0
      for await (const text of texts) count += text.length
      return count
    }

    static async *both(texts: AsyncIterable<string>): AsyncGenerator<number> {
      for await (const text of texts) yield text.length
    }

    static lent(): void {}

    static badMetadata(): void {}
  }
  await using server = createServer().serve(service, Handlers)
  const { port } = await server.listen(place)
  await using channel = openChannel({ ...place, port })
  const client: Anything = channel.client(service)
  // Before there is a connection, and after.
  assert.equal(await client.echo(1, { signal: null }), 1)
  assert.equal(await client.echo(2, { signal: null }), 2)
  assert.equal(await client.echo(4, null), 4)
  // Nobody answers a call that blocks this thread: what it cannot take comes after its options.
  await refuses(
    'a function, no signal',
    () => client.echoSync(() => 3, { signal: null }),
    /takes only what structuredClone takes/,
  )
  await refuses('a function, no options', () => client.echoSync(() => 3, null), /takes only what structuredClone takes/)
  assert.equal(await client.upload('text', { signal: null }), 4)
  assert.equal(await client.upload('text', null), 4)
  const callable = Object.assign(() => undefined, { [Symbol.iterator]: () => ['some', 'texts'].values() })
  assert.equal(await client.upload(callable), 9)
  const lengths: number[] = []
  for await (const length of client.both(callable, null)) lengths.push(length)
  for await (const length of client.both('abc', { signal: null })) lengths.push(length)
  assert.deepEqual(lengths, [4, 5, 1, 1, 1])
  await using source = await channel.allocate(8)
  await client.lent(undefined, { source, signal: null })
})

test('a link of another maker needs no onMessage before it is set', async () => {
  const pings = defineService({ name: 'pings', methods: { ping: unary({ response: type<string>() }) } })
  const [mine, theirs] = memoryLinks()
  // A field that has no value yet is none in a class that declares it only.
  const link = new Proxy(mine, {
    has: (target, name) => name !== 'onMessage' && name in target,
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
  await using server = createServer().serve(pings, { ping: () => 'pong' })
  server.accept(theirs)
  await using channel = openChannel(link)
  assert.equal(await channel.client(pings).ping(), 'pong')
})
