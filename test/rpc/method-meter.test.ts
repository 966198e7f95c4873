import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Profile, setProfiling, threadProfile } from '../../src/profiling/index.ts'
import {
  bytes,
  defineService,
  openChannel,
  ServiceError,
  type StandardSchema,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { serverStream } from '../../src/rpc/service.ts'
import { serverPair } from './support.ts'

const shop = defineService({
  name: 'shop',
  methods: {
    echo: unary({ request: type<Uint8Array>(), response: type<Uint8Array>(), codec: bytes }),
    fail: unary({ request: type<string>(), response: type<string>() }),
    never: unary({ request: type<string>(), response: type<string>() }),
    count: serverStream({ request: type<number>(), response: type<number>() }),
  },
})

const handlers = {
  echo: (body: Uint8Array) => body.slice(),
  fail: (how: string) => {
    throw how === 'service' ? new ServiceError('sold-out', { left: 0 }) : new Error(how)
  },
  never: () => new Promise<string>(() => {}),
  async *count(to: number) {
    for (let i = 0; i < to; i += 1) yield i
  },
}

before(() => setProfiling(true))
after(() => setProfiling(false))

function of(profile: Profile, name: string, method: string): Readonly<Record<string, number>> {
  const reading = profile.counters().find((each) => each.name === name && each.label === `shop/${method}`)
  assert.ok(reading !== undefined, `${name} of ${method} is not counted`)
  return Object.fromEntries(Object.entries(reading.values).filter(([, value]) => value !== 0))
}

function times(profile: Profile, name: string, method: string): number {
  return profile.histograms().find((each) => each.name === name && each.label === `shop/${method}`)?.count ?? -1
}

test('both ends count calls, answers, bytes and times by method', async () => {
  await using pair = serverPair((server) => server.serve(shop, handlers))
  const client = pair.channel.client(shop)
  const start = threadProfile()
  for (let i = 0; i < 3; i += 1) await client.echo(new Uint8Array(100))
  const answers = []
  for await (const answer of client.count(4)) answers.push(answer)
  const since = threadProfile().since(start)
  for (const side of ['client', 'server']) {
    assert.deepEqual(of(since, `rpc.${side}`, 'echo'), { calls: 3, answers: 3, bytesReceived: 300 })
    assert.deepEqual(of(since, `rpc.${side}.failures`, 'echo'), {})
    assert.equal(times(since, `rpc.${side}.latency`, 'echo'), 3)
    assert.equal(times(since, `rpc.${side}.latency`, 'count'), 1)
  }
  const { calls, answers: ends, bytesReceived = 0 } = of(since, 'rpc.client', 'count')
  assert.deepEqual([calls, ends], [1, 1])
  assert.ok(bytesReceived >= 4)
})

test('failures are counted by their codes', async () => {
  await using pair = serverPair((server) => server.serve(shop, handlers))
  const client = pair.channel.client(shop)
  const start = threadProfile()
  await assert.rejects(client.fail('service'), { name: 'ServiceError' })
  await assert.rejects(client.fail('anything'), { code: 'ERR_AETHER_RPC_HANDLER' })
  await assert.rejects(client.never('', { signal: AbortSignal.timeout(20) }))
  await assert.rejects(client.never('', { timeoutMs: 20 }), { code: 'ERR_AETHER_RPC_DEADLINE' })
  const since = threadProfile().since(start)
  for (const side of ['client', 'server'])
    assert.deepEqual(of(since, `rpc.${side}.failures`, 'fail'), { SERVICE: 1, HANDLER: 1 })
  assert.deepEqual(of(since, 'rpc.client.failures', 'never'), { ABORTED: 1, DEADLINE: 1 })
  assert.equal(times(since, 'rpc.client.latency', 'never'), 2)
  assert.deepEqual(of(since, 'rpc.client', 'never'), { calls: 2 })
})

test('calls that fail before they leave are counted, and answers that their schema refuses are failures', async () => {
  const texts: StandardSchema<string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'a text' }] }),
    },
  }
  const request = type<number>()
  const typed = defineService({ name: 'typed', methods: { text: unary({ request, response: texts }) } })
  const lax = defineService({ name: 'typed', methods: { text: unary({ request, response: type<unknown>() }) } })
  const counts = (since: Profile, what: string) => {
    const reading = since.counters().find(({ name, label }) => name === what && label === 'typed/text')
    return Object.fromEntries(Object.entries(reading?.values ?? {}).filter(([, value]) => value !== 0))
  }
  const start = threadProfile()
  await using away = openChannel(() => Promise.reject(new Error('nobody')))
  await assert.rejects(away.client(typed).text(1, { timeoutMs: 20 }), { code: 'ERR_AETHER_RPC_UNAVAILABLE' })
  assert.throws(() => away.client(typed).textSync(1), { code: 'ERR_AETHER_RPC_UNAVAILABLE' })
  const before = threadProfile()
  assert.deepEqual(counts(before.since(start), 'rpc.client.failures'), { UNAVAILABLE: 2 })
  assert.deepEqual(counts(before.since(start), 'rpc.client'), { calls: 2 })
  await using pair = serverPair((server) => server.serve(lax, { text: (n) => (n === 0 ? 'text' : n) }), {
    channel: { callsMax: 1 },
  })
  const client = pair.channel.client(typed)
  await pair.channel.ready()
  const calls = [client.text(0), client.text(0), client.text(0)]
  assert.deepEqual(
    (await Promise.allSettled(calls)).map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  )
  await assert.rejects(client.text(1), { code: 'ERR_AETHER_RPC_INVALID_RESPONSE' })
  const since = threadProfile().since(before)
  assert.deepEqual(counts(since, 'rpc.client.failures'), { OVERLOADED: 2, INVALID_RESPONSE: 1 })
  const { bytesReceived, ...others } = counts(since, 'rpc.client')
  assert.deepEqual(others, { calls: 4, answers: 1 })
})

test('what a full server refuses is counted there', async () => {
  await using pair = serverPair((server) => server.serve(shop, handlers), { server: { callsMax: 1 } })
  const client = pair.channel.client(shop)
  const start = threadProfile()
  const first = client.never('', { timeoutMs: 5000 }).catch((error: unknown) => error)
  await assert.rejects(client.echo(new Uint8Array(1)), { code: 'ERR_AETHER_RPC_OVERLOADED' })
  const since = threadProfile().since(start)
  assert.deepEqual(of(since, 'rpc.server.failures', 'echo'), { OVERLOADED: 1 })
  await pair.channel.close()
  await first
})

test('channels of one thread share the figures of a method, and nothing is counted where nobody profiles', async () => {
  const start = threadProfile()
  for (let i = 0; i < 2; i += 1) {
    await using pair = serverPair((server) => server.serve(shop, handlers))
    await pair.channel.client(shop).echo(new Uint8Array(1))
  }
  setProfiling(false)
  try {
    await using pair = serverPair((server) => server.serve(shop, handlers))
    await pair.channel.client(shop).echo(new Uint8Array(1))
  } finally {
    setProfiling(true)
  }
  const since = threadProfile().since(start)
  assert.deepEqual(of(since, 'rpc.client', 'echo'), { calls: 2, answers: 2, bytesReceived: 2 })
})

test('of many calls one in 256 is timed, and all are counted', async () => {
  const many = defineService({ name: 'many', methods: { ask: unary({}) } })
  await using pair = serverPair((server) => server.serve(many, { ask: () => undefined }))
  const client = pair.channel.client(many)
  const start = threadProfile()
  for (let n = 0; n < 64 + 640; n += 1) await client.ask()
  const since = threadProfile().since(start)
  for (const side of ['client', 'server']) {
    assert.equal(since.total(`rpc.${side}`, 'answers'), 704)
    assert.equal(since.histogram(`rpc.${side}.latency`).count, 64 + 2)
  }
})
