import assert from 'node:assert/strict'
import test from 'node:test'
import {
  bidirectional,
  type CallContext,
  clientStream,
  createServer,
  defineService,
  openChannel,
  RpcError,
  serverStream,
  type,
} from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { deferred, PATIENT, type PairOptions, rejection, serverPair, until } from './support.ts'

const numbers = defineService({
  name: 'numbers',
  errors: { broken: type<number>() },
  methods: {
    count: serverStream({ request: type<number>(), response: type<number>() }),
    forever: serverStream({ response: type<number>() }),
    sum: clientStream({ request: type<number>(), response: type<number>() }),
    first: clientStream({ request: type<number>(), response: type<number | undefined>() }),
    double: bidirectional({ request: type<number>(), response: type<number>() }),
    breaks: serverStream({ request: type<number>(), response: type<number>() }),
  },
})

interface Seen {
  produced: number
  ended: boolean
  consumed: number
  context: CallContext | undefined
}

function numbersPair(options: PairOptions = {}) {
  const seen: Seen = { produced: 0, ended: false, consumed: 0, context: undefined }
  const pair = serverPair(
    (server) =>
      server.serve(numbers, {
        async *count(many) {
          for (let n = 0; n < many; n += 1) yield n
        },
        async *forever(_, context) {
          seen.context = context
          try {
            for (;;) {
              seen.produced += 1
              yield seen.produced
            }
          } finally {
            seen.ended = true
          }
        },
        async sum(requests) {
          let sum = 0
          for await (const n of requests) {
            sum += n
            seen.consumed += 1
          }
          return sum
        },
        async first(requests) {
          return (await requests.next()).value
        },
        async *double(requests) {
          for await (const n of requests) yield 2 * n
        },
        *breaks(after) {
          for (let n = 0; n < after; n += 1) yield n
          throw numbers.error('broken', after)
        },
      }),
    options,
  )
  return Object.assign(pair, { client: pair.channel.client(numbers), seen })
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

test('a stream of answers arrives whole and in order, also when it is opened before there is a connection', async () => {
  await using pair = numbersPair({ links: { ringBytes: 1024, receives: 4 } })
  assert.deepEqual(await collect(pair.client.count(1000)), upTo(1000))
  assert.deepEqual(await collect(pair.client.count(0)), [])
})

test('a stream of requests arrives whole and in order', async () => {
  await using pair = numbersPair({ links: { ringBytes: 1024, receives: 4 } })
  assert.equal(await pair.client.sum(upTo(1000)), 499_500)
  assert.equal(await pair.client.sum([]), 0)
})

test('streams go both ways at a time', async () => {
  await using pair = numbersPair()
  async function* source() {
    for (let n = 0; n < 500; n += 1) yield n
  }
  await pair.channel.ready()
  assert.deepEqual(
    await collect(pair.client.double(source())),
    upTo(500).map((n) => 2 * n),
  )
})

test('a reader that stops holds the handler back', async () => {
  await using pair = numbersPair({ channel: { streamWindow: 8 } })
  await pair.channel.ready()
  const stream = pair.client.forever()
  assert.equal((await stream.next()).value, 1)
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  // A window, what credit the first item gave back, and the one that the handler holds in hand.
  assert.ok(pair.seen.produced <= 8 + 4 + 1, String(pair.seen.produced))
  assert.equal((await stream.next()).value, 2)
  await stream.return?.()
})

test('a handler that does not read holds the caller back', async () => {
  const release = deferred()
  const slow = defineService({ name: 'slow', methods: { take: clientStream({ request: type<number>() }) } })
  await using pair = serverPair(
    (server) =>
      server.serve(slow, {
        async take(requests) {
          await release.promise
          await collect(requests)
        },
      }),
    { server: { streamWindow: 8 } },
  )
  await pair.channel.ready()
  let given = 0
  async function* source() {
    for (; given < 100; given += 1) yield given
  }
  const call = pair.channel.client(slow).take(source())
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(given <= 9, String(given))
  release.resolve()
  await call
  assert.equal(given, 100)
})

test('leaving the loop ends the call: the generator is finished, the signal aborted', async () => {
  await using pair = numbersPair()
  await pair.channel.ready()
  for await (const n of pair.client.forever()) if (n === 5) break
  await until(() => pair.seen.ended)
  assert.equal(pair.seen.context?.signal.aborted, true)
  await until(() => pair.server.active === 0)
})

test('an abort ends a stream with its reason', async () => {
  await using pair = numbersPair()
  await pair.channel.ready()
  const controller = new AbortController()
  const reading = (async () => {
    for await (const n of pair.client.forever(undefined, { signal: controller.signal }))
      if (n === 3) controller.abort(new Error('enough'))
  })()
  await assert.rejects(reading, /enough/)
  await until(() => pair.seen.ended)
})

test('a deadline ends a stream', async () => {
  await using pair = numbersPair()
  await pair.channel.ready()
  const error = await rejection(collect(pair.client.forever(undefined, { timeoutMs: 30 })))
  assert.ok(error instanceof RpcError)
  assert.equal(error.code, 'ERR_AETHER_RPC_DEADLINE')
  await until(() => pair.seen.ended)
})

test('the time of a stream counts from its start, the wait for a connection included', async () => {
  const timed = defineService({
    name: 'timed',
    methods: { up: clientStream({ response: type<number>() }), down: serverStream({ response: type<number>() }) },
  })
  const [mine, theirs] = memoryLinks()
  await using server = createServer().serve(timed, {
    up: async (_requests, { remainingMs }) => remainingMs,
    *down(_request, { remainingMs }) {
      yield remainingMs
    },
  })
  const gate = deferred()
  const source = async () => {
    await gate.promise
    server.accept(theirs)
    return mine
  }
  await using channel = openChannel(source, PATIENT)
  const client = channel.client(timed)
  const timeoutMs = 600_000
  const up = client.up([], { timeoutMs })
  const down = client.down(undefined, { timeoutMs })
  const start = performance.now()
  await until(() => performance.now() - start >= 100)
  gate.resolve()
  await channel.ready()
  for (const leftMs of [await up, (await down.next()).value as number])
    assert.ok(leftMs <= timeoutMs - 100, `${leftMs} of ${timeoutMs} ms are left 100 ms later`)
  await assert.rejects(client.up([], { timeoutMs: Number.NaN }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test("an error after some answers comes after them; the caller's own ends the call", async () => {
  await using pair = numbersPair()
  const got: number[] = []
  const error = await rejection(
    (async () => {
      for await (const n of pair.client.breaks(3)) got.push(n)
    })(),
  )
  assert.deepEqual(got, [0, 1, 2])
  assert.ok(numbers.isError(error, 'broken') && error.details === 3)
  function* source() {
    yield 1
    throw new Error('no more')
  }
  await assert.rejects(pair.client.sum(source()), /no more/)
  await until(() => pair.server.active === 0)
})

test('a handler may answer before it has read all', async () => {
  await using pair = numbersPair()
  let given = 0
  async function* source() {
    for (;;) yield given++
  }
  assert.equal(await pair.client.first(source()), 0)
  const before = given
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(given <= before + 1)
})

test('a lost connection ends streams of both kinds', async () => {
  await using pair = numbersPair()
  await pair.channel.ready()
  const stream = pair.client.forever()
  await stream.next()
  async function* source() {
    yield 1
    await new Promise(() => undefined)
  }
  const sum = rejection(pair.client.sum(source()))
  await until(() => pair.seen.consumed === 1)
  pair.clientLink.cut()
  const errors = [await sum, await rejection(collect(stream))]
  for (const error of errors) {
    assert.ok(error instanceof RpcError)
    assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
  }
  await until(() => pair.seen.ended && pair.server.active === 0)
})
