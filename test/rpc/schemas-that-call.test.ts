/** Schemas and handlers are the program's: they take time, call, and pass on what they were told. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  bidirectional,
  defineService,
  json,
  openChannel,
  RpcError,
  type StandardSchema,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { station } from './fixtures/contract.ts'
import { startStation } from './station-process.ts'
import { deferred, PATIENT, rejection, serverPair, until } from './support.ts'

const device = 'shm0'
const address = '127.0.0.1'
const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

function schema<T>(validate: StandardSchema<T>['~standard']['validate']): StandardSchema<T> {
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

/** Takes numbers but threes. */
const noThrees = schema<number>((value) =>
  value === 3 ? { issues: [{ message: 'no threes' }] } : { value: value as number },
)

test('a schema of answers may make a blocking call, also where one is all that may be under way', options, async () => {
  await using server = await startStation(device, address)
  await using channel = openChannel({ device, address, port: server.port }, { callsMax: 1 })
  await channel.ready()
  const plain = channel.client(station)
  const asking = schema<string>((value) => ({ value: `${value} and ${plain.markSync(2)}` }))
  const asked = defineService({
    name: station.name,
    methods: { mark: unary({ request: type<number>(), response: asking }) },
  })
  assert.equal(channel.client(asked).markSync(1), '1 and 1')
})

test('encoding a request or an answer may make other calls: each goes whole, whichever was begun first', async () => {
  type Nested = { readonly depth: number; readonly toJSON?: () => unknown }
  const service = defineService({
    name: 'nested',
    methods: { echo: unary({ request: type<Nested>(), response: type<Nested>(), codec: json }) },
  })
  const others: Promise<Nested>[] = []
  await using pair = serverPair((server) =>
    server.serve(service, { echo: ({ depth }) => (depth % 2 === 0 ? { depth } : calling(depth)) }),
  )
  const client = pair.channel.client(service)
  const calling = (depth: number): Nested => ({
    depth,
    toJSON() {
      others.push(client.echo(depth > 2 ? calling(depth - 2) : { depth: 0 }))
      return { depth }
    },
  })
  assert.deepEqual(await client.echo(calling(7)), { depth: 7 })
  for (let index = 0; index < others.length; index += 1) await others[index]
  const depths = await Promise.all(others)
  assert.deepEqual(new Set(depths.map(({ depth }) => depth)), new Set([5, 3, 1, 0]))
  assert.ok(others.length > 6, `${others.length} calls`)
})

test('a call with a key that is over before its handler began begins for who waits for it, and else leaves no trace', async () => {
  let gate = deferred()
  const slow = schema<number>(async (value) => {
    await gate.promise
    return { value: value as number }
  })
  const service = defineService({
    name: 'keyed',
    methods: { twice: unary({ request: slow, response: type<number>() }) },
  })
  let runs = 0
  await using pair = serverPair((server) =>
    server.serve(service, {
      twice(n) {
        runs += 1
        return 2 * n
      },
    }),
  )
  const [mine, theirs] = memoryLinks()
  pair.server.accept(theirs)
  await using other = openChannel(mine, PATIENT)
  await Promise.all([pair.channel.ready(), other.ready()])
  const clients = [pair.channel.client(service), other.client(service)] as const

  // The first has no time left; the second came with its key, and waits.
  const first = rejection(clients[0].twice(4, { idempotencyKey: 'one', timeoutMs: 20 }))
  await until(() => pair.server.active === 1)
  const second = clients[1].twice(4, { idempotencyKey: 'one' })
  const error = await first
  assert.ok(error instanceof RpcError && error.code === 'ERR_AETHER_RPC_DEADLINE', String(error))
  gate.resolve()
  assert.equal(await second, 8)
  assert.equal(runs, 1)

  // Nobody waits any more: whoever comes again begins anew.
  gate = deferred()
  const gone = rejection(clients[0].twice(5, { idempotencyKey: 'two', timeoutMs: 20 }))
  await until(() => pair.server.active === 1)
  await gone
  // Until the server has heard of it.
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
  gate.resolve()
  await until(() => pair.server.active === 0)
  assert.equal(runs, 1)
  assert.equal(await clients[1].twice(5, { idempotencyKey: 'two' }), 10)
  assert.equal(runs, 2)
})

test('what another server refused is a failure of the handler that passes it on: it has run', async () => {
  const down = defineService({
    name: 'down',
    methods: { take: unary({ request: noThrees, response: type<number>() }) },
  })
  const up = defineService({ name: 'up', methods: { pass: unary({ response: type<number>() }) } })
  const told: unknown[] = []
  await using below = serverPair((server) => server.serve(down, { take: (n) => n }))
  await using above = serverPair((server) => server.serve(up, { pass: () => below.channel.client(down).take(3) }), {
    server: { onHandlerError: (error) => void told.push(error) },
  })
  const error = await rejection(above.channel.client(up).pass())
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome, told.length], ['ERR_AETHER_RPC_HANDLER', 'failed', 1])
  assert.match(error.message, /down\/take: the request does not match its schema: no threes/)
})

test('an item that does not fit ends its call, though the handler catches that and goes on', async () => {
  const service = defineService({
    name: 'stubborn',
    methods: { both: bidirectional({ request: noThrees, response: type<number>() }) },
  })
  const caught: unknown[] = []
  await using pair = serverPair((server) =>
    server.serve(service, {
      async *both(requests, { signal }) {
        const reading = (async () => {
          for await (const _ of requests);
        })().catch((error: unknown) => caught.push(error))
        for (let n = 0; !signal.aborted; n += 1) yield n
        await reading
      },
    }),
  )
  const error = await rejection(
    (async () => {
      for await (const _ of pair.channel.client(service).both([1, 2, 3, 4]));
    })(),
  )
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_INVALID_REQUEST', 'failed'])
  await until(() => pair.server.active === 0)
  assert.equal(caught.length, 1)
})
