import assert from 'node:assert/strict'
import test from 'node:test'
import {
  bidirectional,
  clientStream,
  defineService,
  RpcError,
  type StandardSchema,
  serverStream,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { deferred, rejection, serverPair, until } from './support.ts'

/** Takes all numbers but one. */
function allBut(bad: number, isSlow = false): StandardSchema<number> {
  const look = (value: unknown) =>
    value === bad ? { issues: [{ message: `not ${bad}` }] } : { value: value as number }
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (isSlow ? Promise.resolve().then(() => look(value)) : look(value)),
    },
  }
}

/** Cannot read a three. */
const picky = {
  name: 'picky',
  encode: (value: unknown) => Uint8Array.of(value as number),
  decode(bytes: Uint8Array) {
    if (bytes[0] === 3) throw new Error('no threes')
    return bytes[0]
  },
}

const items = defineService({
  name: 'items',
  methods: {
    checked: serverStream({ response: allBut(3) }),
    slowly: serverStream({ response: allBut(3, true) }),
    both: bidirectional({ request: allBut(3), response: type<number>() }),
    read: serverStream({ response: type<number>(), codec: picky }),
    sum: clientStream({ request: type<number>(), response: type<number>(), codec: picky }),
    wait: unary({ response: type<string>() }),
  },
})

function itemsPair() {
  const gate = deferred<string>()
  const seen = { finished: 0, gate, thrown: [] as unknown[], after: [] as unknown[] }
  function* forever() {
    try {
      for (let n = 0; ; n += 1) yield n
    } finally {
      seen.finished += 1
    }
  }
  const pair = serverPair((server) =>
    server.serve(items, {
      checked: forever,
      slowly: forever,
      read: forever,
      async *both(requests) {
        try {
          for await (const n of requests) yield n
        } catch (error) {
          seen.thrown.push(error)
          seen.after.push(await requests.next())
          throw error
        }
      },
      async sum(requests) {
        let sum = 0
        try {
          for await (const n of requests) sum += n
        } catch (error) {
          seen.thrown.push(error)
          throw error
        }
        return sum
      },
      wait: () => gate.promise,
    }),
  )
  return Object.assign(pair, { client: pair.channel.client(items), seen })
}

/** What came of a stream before it failed, and with what it did. */
async function read(stream: AsyncIterable<number>): Promise<{ readonly got: number[]; readonly error: unknown }> {
  const got: number[] = []
  const error = await rejection(
    (async () => {
      for await (const item of stream) got.push(item)
    })(),
  )
  return { got, error }
}

function assertError(error: unknown, code: string): void {
  assert.ok(error instanceof RpcError, String(error))
  assert.equal(error.code, code)
}

for (const name of ['checked', 'slowly'] as const)
  test(`an answer that does not fit its schema (${name}) ends its stream at both ends`, async () => {
    await using pair = itemsPair()
    await pair.channel.ready()
    const stream = pair.client[name]()
    const { got, error } = await read(stream)
    assert.deepEqual(got, [0, 1, 2])
    assertError(error, 'ERR_AETHER_RPC_INVALID_RESPONSE')
    assert.deepEqual(await stream.next(), { done: true, value: undefined })
    await until(() => pair.seen.finished === 1 && pair.server.active === 0)
  })

test('also where the stream was opened before there was a connection, and where several items are asked for at once', async () => {
  await using pair = itemsPair()
  const early = await read(pair.client.checked())
  assert.deepEqual(early.got, [0, 1, 2])
  assertError(early.error, 'ERR_AETHER_RPC_INVALID_RESPONSE')
  const stream = pair.client.slowly()
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => stream.next()))
  assert.deepEqual(
    results.slice(0, 3).map((each) => each.status === 'fulfilled' && each.value.value),
    [0, 1, 2],
  )
  const refused = results.filter((each) => each.status === 'rejected')
  assert.equal(refused.length, 1)
  assertError(refused[0]?.reason, 'ERR_AETHER_RPC_INVALID_RESPONSE')
  await until(() => pair.seen.finished === 2 && pair.server.active === 0)
})

test('a request that does not fit its schema ends the stream for its handler, which says so to the caller', async () => {
  await using pair = itemsPair()
  await pair.channel.ready()
  const { got, error } = await read(pair.client.both([0, 1, 2, 3, 4, 5]))
  assert.deepEqual(got, [0, 1, 2])
  assertError(error, 'ERR_AETHER_RPC_INVALID_REQUEST')
  assertError(pair.seen.thrown[0], 'ERR_AETHER_RPC_INVALID_REQUEST')
  assert.deepEqual(pair.seen.after, [{ done: true, value: undefined }])
  await until(() => pair.server.active === 0)
})

test('an item that a codec cannot read ends its own call, at either end, and no other', async () => {
  await using pair = itemsPair()
  await pair.channel.ready()
  const other = pair.client.wait()
  const { got, error } = await read(pair.client.read())
  assert.deepEqual(got, [0, 1, 2])
  assertError(error, 'ERR_AETHER_RPC_INVALID_RESPONSE')
  assert.match(String(error), /items\/read: .*no threes/)
  await until(() => pair.seen.finished === 1)
  const refused = await rejection(pair.client.sum([1, 2, 3, 4]))
  assertError(refused, 'ERR_AETHER_RPC_INVALID_REQUEST')
  assert.match(String(refused), /items\/sum: .*no threes/)
  await until(() => pair.seen.thrown.length === 1 && pair.server.active === 1)
  pair.seen.gate.resolve('still there')
  assert.equal(await other, 'still there')
})
