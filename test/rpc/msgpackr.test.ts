import assert from 'node:assert/strict'
import test from 'node:test'
import { Packr } from 'msgpackr'
import { bidirectional, defineService, type RpcCodec, RpcError, type, unary } from '../../src/rpc/index.ts'
import { type PairOptions, rejection, serverPair } from './support.ts'

// Without it, bytes within a value are views of what it was decoded from.
const msgpack: RpcCodec = Object.assign(new Packr({ copyBuffers: true }), { name: 'msgpack' })

interface Reading {
  readonly at: Date
  readonly values: readonly number[]
  readonly labels: Map<string, string>
  readonly raw: Uint8Array
}

const meter = defineService({
  name: 'meter',
  methods: {
    echo: unary({ request: type<unknown>(), response: type<unknown>(), codec: msgpack }),
    keep: unary({ request: type<Reading>(), response: type<number>(), codec: msgpack }),
    kept: unary({ response: type<readonly Reading[]>(), codec: msgpack }),
    twice: bidirectional({ request: type<{ n: number }>(), response: type<{ n: number }>(), codec: msgpack }),
  },
})

function meterPair(options: PairOptions = {}) {
  const kept: Reading[] = []
  const pair = serverPair(
    (server) =>
      server.serve(meter, {
        echo: (value) => value,
        keep: (reading) => kept.push(reading),
        kept: () => kept,
        async *twice(requests) {
          for await (const { n } of requests) yield { n: 2 * n }
        },
      }),
    options,
  )
  return Object.assign(pair, { client: pair.channel.client(meter), kept })
}

function reading(n: number, rawBytes: number): Reading {
  return {
    at: new Date(n),
    values: [n, n / 2, -1 - n],
    labels: new Map([['place', `room ${n}`]]),
    raw: new Uint8Array(rawBytes).fill(n),
  }
}

test('a packer of msgpackr is a codec: values, records and nothing at all go there and come back', async () => {
  await using pair = meterPair()
  const value = { ...reading(7, 20), nested: [{ a: 1 }, { a: 2 }], nothing: null, big: 2n ** 60n }
  assert.deepEqual(await pair.client.echo(value), value)
  for (const simple of [undefined, null, 0, '', [], true, 1.5]) assert.deepEqual(await pair.client.echo(simple), simple)
})

test('its bodies are of its format', async () => {
  const sent: Uint8Array[] = []
  const tapped: RpcCodec = {
    name: 'tapped',
    encode(value) {
      const body = msgpack.encode(value)
      sent.push(Uint8Array.from(body))
      return body
    },
    decode: (body) => msgpack.decode(body),
  }
  const service = defineService({
    name: 's',
    methods: { add: unary({ request: type<number[]>(), response: type<string>(), codec: tapped }) },
  })
  await using pair = serverPair((server) => server.serve(service, { add: ([a = 0, b = 0]) => `${a + b}` }))
  assert.equal(await pair.channel.client(service).add([1, 2]), '3')
  // https://github.com/msgpack/msgpack/blob/master/spec.md: fixarray of 2, fixints; fixstr of 1.
  assert.deepEqual(sent, [Uint8Array.of(0x92, 1, 2), Uint8Array.of(0xa1, 0x33)])
})

test('what it has decoded is not touched by what comes after', async () => {
  await using pair = meterPair({ links: { ringBytes: 4096, receives: 4 } })
  const readings = Array.from({ length: 100 }, (_, n) => reading(n, 50))
  await Promise.all(readings.map((each) => pair.client.keep(each)))
  assert.deepEqual(pair.kept, readings)
  const back = await pair.client.kept()
  await Promise.all(readings.map((each) => pair.client.echo(each)))
  assert.deepEqual(back, readings)
})

test('its bodies may be longer than the ring', async () => {
  await using pair = meterPair({ links: { ringBytes: 4096, receives: 4 } })
  const bodies = [1, 2, 3].map((n) => reading(n, 50_000))
  assert.deepEqual(await Promise.all(bodies.map((each) => pair.client.echo(each))), bodies)
})

test('items of streams go through it', async () => {
  await using pair = meterPair()
  const got: number[] = []
  const items = Array.from({ length: 100 }, (_, n) => ({ n }))
  for await (const { n } of pair.client.twice(items)) got.push(n)
  assert.deepEqual(
    got,
    items.map(({ n }) => 2 * n),
  )
})

test('bytes that are none of its own end the call, and not the server', async () => {
  // A list of three, without them.
  const other: RpcCodec = { name: 'other', encode: () => Uint8Array.of(0x93), decode: () => undefined }
  const wrong = defineService({ name: 'meter', methods: { echo: unary({ request: type<unknown>(), codec: other }) } })
  await using pair = meterPair()
  const error = await rejection(pair.channel.client(wrong).echo(1))
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_INVALID_REQUEST', 'refused'])
  assert.equal(await pair.client.echo(1), 1)
})
