import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import test from 'node:test'
import {
  borrowedBytes,
  bytes,
  type CallContext,
  defineService,
  json,
  RpcError,
  ServiceError,
  type StandardSchema,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { type Deferred, deferred, type PairOptions, rejection, serverPair, until } from './support.ts'

const bank = defineService({
  name: 'bank',
  errors: { overdrawn: type<{ missing: number }>() },
  methods: {
    add: unary({ request: type<{ a: number; b: number }>(), response: type<number>() }),
    withdraw: unary({ request: type<number>(), response: type<number>() }),
    echo: unary({ request: type<unknown>(), response: type<unknown>() }),
    echoJson: unary({ request: type<unknown>(), response: type<unknown>(), codec: json }),
    echoBytes: unary({ request: type<Uint8Array>(), response: type<Uint8Array>(), codec: bytes }),
    length: unary({ request: type<Uint8Array>(), response: type<Uint8Array>(), codec: borrowedBytes }),
    fail: unary({}),
    wait: unary({ response: type<string>() }),
    later: unary({ request: type<number>(), response: type<number>() }),
  },
})

interface Seen {
  context: CallContext | undefined
  readonly errors: unknown[]
  readonly waiting: Deferred<string>
}

function bankPair(options: PairOptions = {}) {
  const seen: Seen = { context: undefined, errors: [], waiting: deferred<string>() }
  const onHandlerError = (error: unknown): void => void seen.errors.push(error)
  const pair = serverPair(
    (server) =>
      server.serve(bank, {
        add: ({ a, b }) => a + b,
        withdraw(amount) {
          if (amount > 100) throw bank.error('overdrawn', { missing: amount - 100 }, 'not so much')
          return 100 - amount
        },
        echo: (value) => value,
        echoJson: async (value) => value,
        echoBytes: (value) => value,
        length: (value) => Uint8Array.of(value.length & 255),
        fail() {
          throw new TypeError('broken')
        },
        wait(_, context) {
          seen.context = context
          return seen.waiting.promise
        },
        async later(value) {
          await new Promise((resolve) => setImmediate(resolve))
          return value
        },
      }),
    { ...options, server: { onHandlerError, ...options.server } },
  )
  return Object.assign(pair, { client: pair.channel.client(bank), seen })
}

function told(error: unknown): readonly [string, string] {
  assert.ok(error instanceof RpcError, String(error))
  return [error.code, error.outcome]
}

test('a call gets its answer', async () => {
  await using pair = bankPair()
  assert.equal(await pair.client.add({ a: 1, b: 2 }), 3)
  assert.equal(await pair.client.later(7), 7)
})

test('a thousand calls at once get each its own answer, through a ring that holds few', async () => {
  await using pair = bankPair({ links: { ringBytes: 2048, receives: 4 } })
  const numbers = Array.from({ length: 1000 }, (_, index) => index)
  const answers = await Promise.all(numbers.map((n) => (n % 3 === 0 ? pair.client.later(n) : pair.client.echo(n))))
  assert.deepEqual(answers, numbers)
})

test('an answer longer than the ring leaves a server that only polls', async () => {
  await using pair = bankPair({ links: { ringBytes: 4096, delayTurnsMax: 0 }, channel: { timeoutMs: Infinity } })
  await pair.channel.ready()
  const long = 'long'.repeat(20_000)
  const answer = pair.client.wait()
  await until(() => pair.server.active > 0)
  pair.seen.waiting.resolve(long)
  // The answer begins, and finds room for its first part only.
  for (let tick = 0; tick < 8; tick += 1) await Promise.resolve()
  let came: string | undefined
  void answer.then((text) => {
    came = text
  })
  // The event loop has no turn meanwhile.
  for (let polls = 0; polls < 1000; polls += 1) {
    pair.server.poll()
    pair.clientLink.poll()
  }
  for (let tick = 0; tick < 8; tick += 1) await Promise.resolve()
  assert.equal(came, long)
})

test('a body that is longer than the ring comes in parts, both ways', async () => {
  await using pair = bankPair({ links: { ringBytes: 4096, receives: 4 } })
  const body = new Uint8Array(100_000).map((_, index) => index * 7)
  const [whole, small] = await Promise.all([pair.client.echoBytes(body), pair.client.add({ a: 2, b: 2 })])
  assert.deepEqual(whole, body)
  assert.equal(small, 4)
  const both = { body, text: 'x'.repeat(50_000) }
  assert.deepEqual(await pair.client.echo(both), both)
})

test('a body longer than an end takes is refused by that end, and others go on', async () => {
  await using pair = bankPair({
    links: { ringBytes: 4096 },
    server: { bodyBytesMax: 20_000 },
    channel: { bodyBytesMax: 10_000 },
  })
  const atServer = await rejection(pair.client.echoBytes(new Uint8Array(30_000)))
  assert.deepEqual(told(atServer), ['ERR_AETHER_RPC_TOO_LARGE', 'refused'])
  const atClient = await rejection(pair.client.echoBytes(new Uint8Array(15_000)))
  assert.deepEqual(told(atClient), ['ERR_AETHER_RPC_TOO_LARGE', 'failed'])
  assert.equal((await pair.client.echoBytes(new Uint8Array(9000))).length, 9000)
})

test("answers of lent requests are the caller's own", async () => {
  const service = defineService({
    name: 'lent',
    methods: { echo: unary({ request: type<Uint8Array>(), response: type<Uint8Array>(), codec: borrowedBytes }) },
  })
  await using pair = serverPair((server) => server.serve(service, { echo: (value) => value }), {
    links: { ringBytes: 1024, receives: 4 },
  })
  const client = pair.channel.client(service)
  const bodies = Array.from({ length: 200 }, (_, n) => new Uint8Array(100 + n).fill(n))
  assert.deepEqual(await Promise.all(bodies.map((body) => client.echo(body))), bodies)
})

test('codecs are per method', async () => {
  await using pair = bankPair()
  assert.deepEqual(await pair.client.echoJson({ a: [1, null] }), { a: [1, null] })
  assert.equal(await pair.client.echoJson(undefined), undefined)
  const metadata = { of: 'a frame with an extension' }
  assert.equal(await pair.client.echoJson(undefined, { metadata }), undefined)
  await assert.rejects(pair.client.echoJson(1n), { argument: 'value', message: /JSON/ })
  assert.deepEqual(await pair.client.length(new Uint8Array(200)), Uint8Array.of(200))
})

test("an error of the service comes with its reason and details, a handler's own failure with its text", async () => {
  await using pair = bankPair()
  const overdrawn = await rejection(pair.client.withdraw(130))
  assert.ok(bank.isError(overdrawn, 'overdrawn'))
  assert.ok(overdrawn instanceof ServiceError)
  assert.deepEqual([overdrawn.details.missing, overdrawn.message], [30, 'not so much'])
  const failed = await rejection(pair.client.fail())
  assert.deepEqual(told(failed), ['ERR_AETHER_RPC_HANDLER', 'failed'])
  assert.match(String(failed), /bank\/fail: TypeError: broken/)
  assert.deepEqual(pair.seen.errors.map(String), ['TypeError: broken'])
})

test('what cannot be encoded ends its own call, at either end', async () => {
  await using pair = bankPair()
  await assert.rejects(
    pair.client.echo(() => 1),
    /could not be cloned/,
  )
  const unsendable = defineService({ name: 'u', methods: { get: unary({ response: type<unknown>() }) } })
  pair.server.serve(unsendable, { get: () => Symbol('x') })
  const error = await rejection(pair.channel.client(unsendable).get())
  assert.deepEqual(told(error), ['ERR_AETHER_RPC_INVALID_RESPONSE', 'failed'])
  assert.equal(await pair.client.add({ a: 1, b: 1 }), 2)
})

test('a deadline ends the call at both ends, and says that the outcome is not known', async () => {
  await using pair = bankPair()
  await pair.channel.ready()
  const error = await rejection(pair.client.wait(undefined, { timeoutMs: 20 }))
  assert.deepEqual(told(error), ['ERR_AETHER_RPC_DEADLINE', 'unknown'])
  await until(() => pair.seen.context?.signal.aborted === true)
  assert.equal(await pair.client.add({ a: 1, b: 1 }), 2)
})

test('what is left of the time is told to the handler', async () => {
  await using pair = bankPair()
  const call = pair.client.wait(undefined, { timeoutMs: 60_000 })
  await until(() => pair.seen.context !== undefined)
  const remainingMs = pair.seen.context!.remainingMs!
  assert.ok(remainingMs > 0 && remainingMs <= 60_000, String(remainingMs))
  pair.seen.waiting.resolve('done')
  assert.equal(await call, 'done')
})

test("a handler's time is counted from before it runs, not from when it asks", async () => {
  const service = defineService({ name: 'busy', methods: { spend: unary({ response: type<readonly number[]>() }) } })
  await using pair = serverPair((server) =>
    server.serve(service, {
      spend(_, context) {
        const began = performance.now()
        while (performance.now() - began < 5);
        const spentMs = performance.now() - began
        return [spentMs, context.remainingMs]
      },
    }),
  )
  const [spentMs, remainingMs] = await pair.channel.client(service).spend(undefined, { timeoutMs: 60_000 })
  assert.ok(remainingMs! <= 60_000 - spentMs!, `${remainingMs} ms after ${spentMs} ms`)
})

test('an abort ends the call with its reason, and reaches the handler', async () => {
  await using pair = bankPair()
  const controller = new AbortController()
  const call = pair.client.wait(undefined, { signal: controller.signal })
  await until(() => pair.seen.context !== undefined)
  const signal = pair.seen.context!.signal
  controller.abort(new Error('changed my mind'))
  await assert.rejects(call, /changed my mind/)
  await until(() => signal.aborted)
  await assert.rejects(pair.client.wait(undefined, { signal: controller.signal }), /changed my mind/)
})

test('many calls with one signal are one listener to it, and all end with it', async () => {
  await using pair = bankPair()
  const controller = new AbortController()
  const { signal } = controller
  const calls = Array.from({ length: 20 }, () => rejection(pair.client.wait(undefined, { signal })))
  await until(() => pair.server.active === 20)
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  controller.abort(new Error('changed my mind'))
  for (const error of await Promise.all(calls)) assert.match(String(error), /changed my mind/)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a lost connection says what is known: unknown for what had left, not-sent for what had not', async () => {
  await using pair = bankPair({ links: { ringBytes: 1024, receives: 1 } })
  await pair.channel.ready()
  const sent = rejection(pair.client.wait())
  await until(() => pair.seen.context !== undefined)
  pair.serverLink.pause()
  const many = Array.from({ length: 50 }, () => rejection(pair.client.echo('x'.repeat(200))))
  pair.clientLink.cut()
  assert.deepEqual(told(await sent), ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
  const outcomes = (await Promise.all(many)).map((each) => told(each)[1])
  assert.deepEqual([...new Set(outcomes)].sort(), ['not-sent', 'unknown'])
  // What left, left first.
  assert.deepEqual(outcomes, [...outcomes].sort().reverse())
  const late = await rejection(pair.client.add({ a: 1, b: 1 }))
  assert.deepEqual(told(late), ['ERR_AETHER_RPC_UNAVAILABLE', 'not-sent'])
})

test('a call that waits for room and is given up has not been sent', async () => {
  await using pair = bankPair({ links: { ringBytes: 1024, receives: 1 } })
  await pair.channel.ready()
  pair.serverLink.pause()
  const calls = Array.from({ length: 20 }, () => rejection(pair.client.echo('x'.repeat(200), { timeoutMs: 30 })))
  const errors = (await Promise.all(calls)).map(told)
  assert.deepEqual([...new Set(errors.map(([code]) => code))], ['ERR_AETHER_RPC_DEADLINE'])
  assert.equal(errors[0]?.[1], 'unknown')
  assert.equal(errors.at(-1)?.[1], 'not-sent')
  pair.serverLink.resume()
  assert.equal(await pair.client.add({ a: 1, b: 1 }), 2)
})

test('too many calls are refused at once, at either end', async () => {
  await using pair = bankPair({ server: { callsMax: 2 }, channel: { callsMax: 4 } })
  await pair.channel.ready()
  const first = [pair.client.wait(), pair.client.wait()]
  assert.deepEqual(told(await rejection(pair.client.wait())), ['ERR_AETHER_RPC_OVERLOADED', 'refused'])
  const more = Array.from({ length: 3 }, () => rejection(pair.client.wait()))
  const outcomes = (await Promise.all(more)).map((each) => told(each)[1])
  assert.deepEqual(outcomes, ['refused', 'refused', 'not-sent'])
  pair.seen.waiting.resolve('done')
  assert.deepEqual(await Promise.all(first), ['done', 'done'])
  assert.equal(pair.server.active, 0)
})

test('metadata goes there and back', async () => {
  const service = defineService({ name: 'm', methods: { who: unary({ response: type<string>() }) } })
  await using pair = serverPair((server) =>
    server.serve(service, {
      who(_, context) {
        context.answerMetadata = { served: 'yes' }
        return context.metadata['user'] ?? 'nobody'
      },
    }),
  )
  const client = pair.channel.client(service)
  let got: unknown
  const onMetadata = (metadata: unknown): void => {
    got = metadata
  }
  assert.equal(await client.who(undefined, { metadata: { user: 'ada' }, onMetadata }), 'ada')
  assert.deepEqual(got, { served: 'yes' })
  assert.equal(await client.who(), 'nobody')
  await assert.rejects(client.who(undefined, { metadata: { x: 'y'.repeat(9000) } }), /put it into the request/)
})

const positive: StandardSchema<number, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'number' && value > 0 ? { value } : { issues: [{ message: 'not positive', path: ['value'] }] },
  },
}
const slowly: StandardSchema<number, string> = {
  '~standard': { version: 1, vendor: 'test', validate: async (value) => ({ value: `=${String(value)}` }) },
}

test('requests are shown to their schema at the server, answers at the client', async () => {
  const service = defineService({
    name: 'schemas',
    methods: {
      root: unary({ request: positive, response: positive }),
      text: unary({ request: slowly, response: type<string>() }),
    },
  })
  await using pair = serverPair((server) =>
    server.serve(service, { root: (value) => (value === 2 ? -1 : Math.sqrt(value)), text: (value) => value }),
  )
  const client = pair.channel.client(service)
  assert.equal(await client.root(9), 3)
  const refused = await rejection(client.root(-9))
  assert.deepEqual(told(refused), ['ERR_AETHER_RPC_INVALID_REQUEST', 'refused'])
  assert.deepEqual((refused as RpcError).issues, [{ message: 'not positive', path: ['value'] }])
  assert.deepEqual(told(await rejection(client.root(2))), ['ERR_AETHER_RPC_INVALID_RESPONSE', 'failed'])
  assert.equal(await client.text(5), '=5')
})

test('a method that is not served is refused, and a service can be added later', async () => {
  await using pair = bankPair()
  const other = defineService({ name: 'other', methods: { hello: unary({ response: type<string>() }) } })
  const client = pair.channel.client(other)
  assert.deepEqual(told(await rejection(client.hello())), ['ERR_AETHER_RPC_UNKNOWN_METHOD', 'refused'])
  pair.server.serve(other, { hello: () => 'hi' })
  assert.equal(await client.hello(), 'hi')
  assert.throws(() => pair.server.serve(other, { hello: () => 'hi' }), /same number/)
})

test('interceptors are around calls at both ends, the first outermost', async () => {
  const trail: string[] = []
  await using pair = bankPair({
    server: {
      interceptors: [
        (request, context, next) => {
          trail.push(`server ${context.method} ${context.metadata['trace'] ?? ''}`)
          return next(request)
        },
      ],
    },
    channel: {
      interceptors: [
        async (call, next) => {
          trail.push(`first ${call.kind}`)
          return next({ ...call, options: { ...call.options, metadata: { trace: '7' } } })
        },
        (call, next) => {
          trail.push('second')
          return next({ ...call, request: { a: 20, b: 1 } })
        },
      ],
    },
  })
  assert.equal(await pair.client.add({ a: 1, b: 1 }), 21)
  assert.deepEqual(trail, ['first unary', 'second', 'server bank/add 7'])
})
