import assert from 'node:assert/strict'
import test from 'node:test'
import { HEADER_BYTES } from '../../src/rpc/frame.ts'
import {
  createServer,
  defineService,
  openChannel,
  RpcError,
  type StandardSchema,
  serverStream,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { deferred, PATIENT, rejection, serverPair, until } from './support.ts'

/** Frames that a server keeps for a client that takes none. */
const WAITING_MAX = 1024

const work = defineService({
  name: 'work',
  methods: {
    now: unary({ request: type<number>(), response: type<number>() }),
    wait: unary({ response: type<string>() }),
    ticks: serverStream({ response: type<number>() }),
  },
})

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}

function workPair(options: Parameters<typeof serverPair>[1] = {}) {
  const gate = deferred<string>()
  const pair = serverPair(
    (server) =>
      server.serve(work, {
        now: (n) => n,
        wait: () => gate.promise,
        async *ticks() {
          for (let n = 0; ; n += 1) yield n
        },
      }),
    options,
  )
  return Object.assign(pair, { gate, client: pair.channel.client(work) })
}

test('a server that drains refuses new calls, finishes those that run, and closes', async () => {
  await using pair = workPair()
  const running = pair.client.wait()
  await until(() => pair.server.active === 1)
  const drained = pair.server.drain()
  await until(() => pair.channel.client(work) !== undefined)
  const refused = await rejection(pair.client.now(1))
  assert.ok(refused instanceof RpcError)
  assert.ok(['refused', 'not-sent'].includes(refused.outcome), refused.outcome)
  pair.gate.resolve('done')
  assert.equal(await running, 'done')
  await drained
  assert.equal(pair.server.sessions, 0)
})

/** Its requests are looked at until then. */
function lookedService(looked: Promise<void>) {
  const slow: StandardSchema<number> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => looked.then(() => ({ value: value as number })) },
  }
  return defineService({ name: 'looked', methods: { at: unary({ request: slow, response: type<string>() }) } })
}

test('draining waits for a handler that begins when its request has been looked at', async () => {
  const [looked, done] = [deferred(), deferred<string>()]
  const service = lookedService(looked.promise)
  await using pair = serverPair((server) => server.serve(service, { at: () => done.promise }))
  const call = pair.channel.client(service).at(1)
  await until(() => pair.server.active === 1)
  const drained = pair.server.drain()
  looked.resolve()
  await turns()
  done.resolve('done')
  assert.equal(await call, 'done')
  await drained
})

test('a handler does not begin where its server was closed while the request was looked at', async () => {
  const looked = deferred()
  let began = 0
  await using pair = serverPair((server) =>
    server.serve(lookedService(looked.promise), {
      at: () => {
        began += 1
        return ''
      },
    }),
  )
  const client = pair.channel.client(lookedService(looked.promise))
  const calls = [rejection(client.at(1)), rejection(client.at(2, { idempotencyKey: true }))]
  await until(() => pair.server.active === 2)
  await pair.server.close()
  await Promise.all(calls)
  looked.resolve()
  await until(() => pair.server.active === 0)
  assert.equal(began, 0)
})

test('draining has one time for handlers and for answers; then it closes, and aborts what runs', async (t) => {
  const texts = defineService({
    name: 'texts',
    methods: { long: unary({ response: type<string>() }), wait: unary({ response: type<string>() }) },
  })
  let aborted = 0
  // Before the server has timers: what is set by one clock is cleared by the same.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await using pair = serverPair(
    (server) =>
      server.serve(texts, {
        long: () => 'x'.repeat(10_000),
        wait: (_request, { signal }) => new Promise(() => signal.addEventListener('abort', () => (aborted += 1))),
      }),
    { links: { ringBytes: 1024 } },
  )
  const client = pair.channel.client(texts)
  await pair.channel.ready()
  // A client that takes no answers, and a handler that does not end.
  pair.clientLink.pause()
  const calls = [rejection(client.long()), rejection(client.wait())]
  await until(() => pair.server.active === 1)
  const drained = pair.server.drain({ timeoutMs: 1000 })
  await turns()
  t.mock.timers.tick(999)
  await turns()
  assert.equal(aborted, 0)
  t.mock.timers.tick(1)
  await turns()
  assert.equal(aborted, 1)
  t.mock.timers.reset()
  pair.clientLink.resume()
  await drained
  await Promise.all(calls)
})

test('a channel that can connect anew leaves a server that drains for the next one', async () => {
  const gate = deferred<string>()
  const start = (answer: number) =>
    createServer().serve(work, { now: () => answer, wait: () => gate.promise, ticks: () => [] })
  const servers = [start(1), start(2)]
  let current = 0
  let seed = 0
  await using channel = openChannel(
    async () => {
      seed += 1
      const [mine, theirs] = memoryLinks({ seed })
      servers[current]?.accept(theirs)
      return mine
    },
    { backOffMsMin: 1 },
  )
  const client = channel.client(work)
  const running = client.wait()
  assert.equal(await client.now(0), 1)
  current = 1
  const drained = servers[0]?.drain()
  while ((await client.now(0).catch(() => 1)) === 1) await new Promise((resolve) => setImmediate(resolve))
  gate.resolve('by the first')
  assert.equal(await running, 'by the first')
  await drained
  await channel.close()
  await servers[1]?.close()
})

test('health says how the server is', async () => {
  await using pair = workPair()
  const running = pair.client.wait()
  await until(() => pair.server.active === 1)
  const { state, active, incarnation } = await pair.channel.health()
  assert.deepEqual([state, active], ['serving', 1])
  assert.ok(incarnation > 0)
  pair.gate.resolve('x')
  await running
})

test('health of a server that drains says so, whether or not the channel looks for another meanwhile', async () => {
  for (const renews of [false, true]) {
    const gate = deferred<string>()
    const server = createServer().serve(work, { now: (n) => n, wait: () => gate.promise, ticks: () => [] })
    const [mine, theirs] = memoryLinks()
    server.accept(theirs)
    let connections = 0
    const source = async () => {
      connections += 1
      if (connections > 1) throw new Error('there is no other')
      return mine
    }
    const channel = openChannel(renews ? source : mine, { ...PATIENT, backOffMsMin: 1, backOffMsMax: 1 })
    const running = channel.client(work).wait()
    await until(() => server.active === 1)
    const drained = server.drain()
    const refused = await rejection(channel.client(work).now(1, { timeoutMs: renews ? 50 : 600_000 }))
    assert.ok(refused instanceof RpcError)
    const { state, active } = await channel.health()
    assert.deepEqual([state, active], ['draining', 1])
    gate.resolve('done')
    assert.equal(await running, 'done')
    await drained
    await channel.close()
  }
})

test('asking for health ends with its time, with its signal and with the connection', async () => {
  await using pair = workPair({ links: { ringBytes: 1024 } })
  await pair.channel.ready()
  pair.serverLink.pause()
  const told = (error: unknown): unknown => (error instanceof RpcError ? [error.code, error.outcome] : error)
  const late = await rejection(pair.channel.health({ timeoutMs: 10 }))
  assert.deepEqual(told(late), ['ERR_AETHER_RPC_DEADLINE', 'unknown'])
  const controller = new AbortController()
  const aborted = rejection(pair.channel.health({ signal: controller.signal }))
  await turns()
  controller.abort(new Error('no matter'))
  assert.equal(await aborted, controller.signal.reason)
  assert.equal(await rejection(pair.channel.health({ signal: controller.signal })), controller.signal.reason)
  // Where the ring is full it does not leave.
  const calls = Array.from({ length: 100 }, (_, n) => rejection(pair.client.now(n)))
  const stuck = await rejection(pair.channel.health({ timeoutMs: 10 }))
  assert.deepEqual(told(stuck), ['ERR_AETHER_RPC_DEADLINE', 'not-sent'])
  const lost = rejection(pair.channel.health())
  await turns()
  pair.clientLink.cut()
  assert.deepEqual(told(await lost), ['ERR_AETHER_RPC_CONNECTION_LOST', 'not-sent'])
  await Promise.all(calls)
})

test('closing the channel ends its calls with what is known', async () => {
  await using pair = workPair()
  const waiting = rejection(pair.client.wait())
  await until(() => pair.server.active === 1)
  await pair.channel.close()
  const error = await waiting
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
  await assert.rejects(pair.client.now(1), /closed/)
  await pair.channel.close()
  pair.gate.resolve('x')
})

test('closing the server ends calls, and aborts handlers', async () => {
  await using pair = workPair()
  const waiting = rejection(pair.client.wait())
  await until(() => pair.server.active === 1)
  await pair.server.close()
  assert.equal(((await waiting) as RpcError).outcome, 'unknown')
  pair.gate.resolve('x')
})

test('a server that says nothing for two turns is taken for dead', async () => {
  await using pair = workPair({ channel: { keepAliveMs: 20 } })
  await pair.channel.ready()
  pair.serverLink.onMessage = () => undefined
  const error = await rejection(pair.client.wait())
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
  assert.match(error.message, /silent/)
})

test('a blocking call ends when its time is up, however much else comes meanwhile', async () => {
  await using pair = workPair()
  await pair.channel.ready()
  const patience = performance.now() + 5000
  pair.clientLink.poll = () => {
    if (performance.now() > patience) throw new Error('it polls without end')
    return 1
  }
  assert.throws(() => pair.client.waitSync(undefined, { timeoutMs: 30 }), { code: 'ERR_AETHER_RPC_DEADLINE' })
  Reflect.deleteProperty(pair.clientLink, 'poll')
  pair.gate.resolve('x')
})

test('a quiet but living server is not taken for dead, nor a quiet client', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  await using pair = workPair({ channel: { keepAliveMs: 50 }, server: { keepAliveMs: 50 } })
  await pair.channel.ready()
  for (let turn = 0; turn < 12; turn += 1) {
    t.mock.timers.tick(50)
    await turns()
  }
  assert.equal(await pair.client.now(4), 4)
})

test('every pending call ends with a truthful error, whenever the connection is cut', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const ran = new Set<number>()
    const service = defineService({
      name: 's',
      methods: { mark: unary({ request: type<number>(), response: type<number>() }) },
    })
    const [mine, theirs] = memoryLinks({ seed, ringBytes: 1024, receives: 4 })
    const server = createServer().serve(service, {
      mark(n) {
        assert.equal(ran.has(n), false, 'a call ran twice')
        ran.add(n)
        return n % 2 === 0 ? n : new Promise<number>((resolve) => setImmediate(() => resolve(n)))
      },
    })
    server.accept(theirs)
    const channel = openChannel(mine, PATIENT)
    await channel.ready()
    const client = channel.client(service)
    const calls = Array.from({ length: 100 }, (_, n) =>
      client.mark(n).then(
        (answer) => ({ n, answer }),
        (error: unknown) => ({ n, error }),
      ),
    )
    for (let turn = 0; turn < seed; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    ;(seed % 2 === 0 ? mine : theirs).cut()
    for (const ended of await Promise.all(calls)) {
      if ('answer' in ended) assert.equal(ran.has(ended.n) && ended.answer === ended.n, true)
      else {
        assert.ok(ended.error instanceof RpcError)
        // Whoever says that it was not sent must be right; "unknown" may be either.
        if (ended.error.outcome === 'not-sent') assert.equal(ran.has(ended.n), false)
        else assert.equal(ended.error.outcome, 'unknown')
      }
    }
    await channel.close()
    await server.close()
  }
})

test('a client that does not take its answers is held back, not buffered without end', async () => {
  const ringBytes = 1024
  let ran = 0
  const service = defineService({
    name: 'counted',
    methods: { now: unary({ request: type<number>(), response: type<number>() }) },
  })
  const now = (n: number): number => {
    ran += 1
    return n
  }
  await using pair = serverPair((server) => server.serve(service, { now }), { links: { ringBytes, receives: 4 } })
  await pair.channel.ready()
  pair.clientLink.pause()
  const client = pair.channel.client(service)
  const answers = Promise.all(Array.from({ length: 8000 }, (_, n) => client.now(n)))
  void Promise.allSettled([answers])
  await until(() => ran > WAITING_MAX)
  for (let turn = 0; turn < 300; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  // Answers that wait at the server, and those that lie in the client's ring.
  const answersMax = WAITING_MAX + 1 + ringBytes / HEADER_BYTES
  assert.ok(ran <= answersMax, `${ran} handlers have run for a client that takes no answers; at most ${answersMax} may`)
  pair.clientLink.resume()
  assert.deepEqual(
    await answers,
    Array.from({ length: 8000 }, (_, n) => n),
  )
  assert.equal(ran, 8000)
})

test('a client that has as many calls running as one may is refused more, and others are not', async () => {
  const gate = deferred<string>()
  await using server = createServer({ callsPerSessionMax: 3, callsMax: 100 }).serve(work, {
    now: (n) => n,
    wait: () => gate.promise,
    async *ticks() {
      yield 0
      await gate.promise
    },
  })
  const connected = [1, 2].map((seed) => {
    const [mine, theirs] = memoryLinks({ seed })
    server.accept(theirs)
    const channel = openChannel(mine, PATIENT)
    return { channel, client: channel.client(work) }
  })
  const [greedy, modest] = connected as [(typeof connected)[0], (typeof connected)[0]]
  await Promise.all(connected.map(({ channel }) => channel.ready()))
  // Of every kind: a call, one with a key, and a stream.
  const waiting = [greedy.client.wait(), greedy.client.wait(undefined, { idempotencyKey: 'once' })]
  void Promise.allSettled(waiting)
  const ticks = greedy.client.ticks()
  assert.equal((await ticks.next()).value, 0)
  await until(() => server.active === 3)
  const beyond = [
    greedy.client.wait(),
    greedy.client.wait(undefined, { idempotencyKey: 'twice' }),
    greedy.client.now(1),
    greedy.client.ticks().next(),
  ]
  for (const error of await Promise.all(beyond.map(rejection))) {
    assert.ok(error instanceof RpcError, String(error))
    assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_OVERLOADED', 'refused'])
    assert.match(error.message, /callsPerSessionMax 3/)
  }
  assert.equal(await modest.client.now(1), 1)
  const others = [1, 2, 3].map(() => modest.client.wait())
  await until(() => server.active === 6)
  gate.resolve('done')
  assert.deepEqual(await Promise.all([...waiting, ...others]), Array(5).fill('done'))
  assert.equal((await ticks.next()).done, true)
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map((n) => greedy.client.now(n))), [1, 2, 3, 4])
  await Promise.all(connected.map(({ channel }) => channel.close()))
})

test('a call that was cancelled, or is late, counts among those of its client until its handler has ended', async () => {
  await using pair = workPair({ server: { callsPerSessionMax: 3 } })
  const { client, server } = pair
  await pair.channel.ready()
  const cancel = new AbortController()
  const over = [
    client.wait(undefined, { signal: cancel.signal }),
    client.wait(undefined, { signal: cancel.signal, idempotencyKey: true }),
    client.wait(undefined, { timeoutMs: 20 }),
  ].map(rejection)
  await until(() => server.active === 3)
  cancel.abort()
  await Promise.all(over)
  const refused = await rejection(client.now(1))
  assert.ok(refused instanceof RpcError, String(refused))
  assert.match(refused.message, /callsPerSessionMax 3/)
  pair.gate.resolve('late')
  await until(() => server.active === 0)
  assert.equal(await client.now(1), 1)
})

test('a thousand sessions on one server', async () => {
  const server = createServer().serve(work, { now: (n) => n, wait: () => 'x', ticks: () => [] })
  const channels = Array.from({ length: 1000 }, (_, index) => {
    const [mine, theirs] = memoryLinks({ seed: index + 1, ringBytes: 1024, receives: 4 })
    server.accept(theirs)
    return openChannel(mine, PATIENT)
  })
  const answers = await Promise.all(channels.map((channel, index) => channel.client(work).now(index)))
  assert.deepEqual(
    answers,
    Array.from({ length: 1000 }, (_, index) => index),
  )
  assert.equal(server.sessions, 1000)
  await Promise.all(channels.map((channel) => channel.close()))
  await until(() => server.sessions === 0)
  await server.close()
})
