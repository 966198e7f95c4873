import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { encodeExtension, NO_EXTENSION } from '../../src/rpc/extension.ts'
import { FrameFlag, FrameKind, methodNumber, PROTOCOL_VERSION } from '../../src/rpc/frame.ts'
import { createServer, defineService, openChannel, RpcError, serverStream, type, unary } from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { frame, hello, sendRaw } from './raw-frames.ts'
import { rejection, until } from './support.ts'

const service = defineService({
  name: 'm',
  methods: {
    echo: unary({ request: type<unknown>(), response: type<unknown>() }),
    stream: serverStream({ request: type<number>(), response: type<number>() }),
  },
})

function served() {
  return createServer({ callsMax: 16 }).serve(service, {
    echo: (value) => value,
    *stream(count) {
      for (let n = 0; n < Math.min(10, Number(count) || 0); n += 1) yield n
    },
  })
}

const methods = [methodNumber('m', 'echo', 'unary'), methodNumber('m', 'stream', 'server-stream')]

/** Frames that are almost right, so that each check is met. */
const frames = fc
  .record({
    kind: fc.oneof(fc.integer({ min: 0, max: 14 }), fc.nat(255)),
    flags: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(255)),
    extensionBytes: fc.oneof(fc.constant(0), fc.nat(24), fc.nat(65_535)),
    call: fc.oneof(fc.nat(3), fc.nat()),
    word: fc.oneof(fc.constantFrom(...methods), fc.nat(3), fc.nat()),
    budget: fc.nat(),
    body: fc.uint8Array({ maxLength: 80 }),
  })
  .map(({ kind, flags, extensionBytes, call, word, budget, body }) =>
    frame(kind, flags, extensionBytes, call, word, budget, body),
  )

test('whatever a client sends, the server goes on for the others', async () => {
  const server = served()
  const [mine, theirs] = memoryLinks()
  server.accept(theirs)
  const good = openChannel(mine)
  const client = good.client(service)
  let seed = 0
  let ended = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(frames, fc.uint8Array({ maxLength: 40 })), { minLength: 1, maxLength: 20 }),
      fc.boolean(),
      async (messages, greets) => {
        seed += 1
        const [bad, there] = memoryLinks({ seed, delayTurnsMax: 0 })
        server.accept(there)
        bad.onMessage = () => undefined
        bad.onEnd = () => undefined
        if (greets) sendRaw(bad, hello)
        for (const each of messages) sendRaw(bad, each)
        for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        if (!there.open) ended += 1
        assert.equal(await client.echo(seed), seed)
        bad.cut()
        there.cut()
      },
    ),
    { numRuns: 400 },
  )
  assert.ok(ended > 50, `${ended} links were ended`)
  await until(() => server.active === 0)
  await good.close()
  await server.close()
})

test('a client that sends no hello, another version, or a call twice loses its link', async () => {
  const echo = frame(FrameKind.Request, 0, 0, 5, methods[0]!, 1000, Uint8Array.of(0))
  const slow = createServer().serve(service, { echo: () => new Promise(() => undefined), stream: () => [] })
  const cases: [string, Uint8Array[]][] = [
    ['no hello', [echo]],
    ['another version', [frame(FrameKind.Hello, 0, 0, 0, 99, 8, new Uint8Array(0))]],
    ['hello twice', [hello, hello]],
    ['a call twice', [hello, echo, echo]],
    ['less than a header', [hello, Uint8Array.of(1, 2, 3)]],
    ['an answer to a server', [hello, frame(FrameKind.Answer, 0, 0, 0, 0, 0, new Uint8Array(0))]],
    ['a part of nothing', [hello, frame(FrameKind.Part, 0, 0, 9, 0, 0, Uint8Array.of(1))]],
  ]
  for (const [name, messages] of cases) {
    const [bad, there] = memoryLinks()
    slow.accept(there)
    bad.onEnd = () => undefined
    for (const each of messages) sendRaw(bad, each)
    let turns = 0
    await until(() => !there.open || ++turns > 500)
    assert.equal(there.open, false, name)
  }
  await slow.close()
})

const offered = encodeExtension({ ...NO_EXTENSION, body: { address: 4096, key: 7, length: 20 << 20 } })!

for (const [what, each] of [
  ['asks', frame(FrameKind.Ping, 0, 0, 0, 1, 0, new Uint8Array(0))],
  ['offers bodies that are too long', frame(FrameKind.Request, FrameFlag.Offered, offered.length, 5, 1, 1000, offered)],
] as const)
  test(`a client that ${what} and never listens is held back`, async () => {
    const server = served()
    const [deaf, heard] = memoryLinks({ ringBytes: 1024 })
    server.accept(heard)
    deaf.onEnd = () => undefined
    deaf.pause()
    sendRaw(deaf, hello)
    let sent = 0
    for (let turn = 0; turn < 20_000; turn += 1) {
      const at = deaf.reserve(each.length)
      if (at >= 0) {
        deaf.outgoing.set(each, at)
        deaf.commit(each.length)
        sent += 1
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(sent > 500 && sent < 2000, `${sent} were taken of a client that takes no answer`)
    assert.equal(heard.open, true)
    deaf.cut()
    heard.cut()
    await server.close()
  })

test('a client that begins bodies without end loses its link', async () => {
  const server = served()
  const [greedy, there] = memoryLinks()
  server.accept(there)
  greedy.onMessage = () => undefined
  greedy.onEnd = () => undefined
  sendRaw(greedy, hello)
  const total = Uint8Array.of(1, 0, 4, 0, 9, 0, 0, 0)
  let begun = 0
  await until(() => {
    if (there.open && greedy.open) sendRaw(greedy, frame(FrameKind.Request, 1, total.length, begun++, 0, 1000, total))
    return !there.open || begun > 10_000
  })
  assert.equal(there.open, false, `${begun} bodies were begun`)
  await server.close()
})

test('whatever a server sends, a client ends its calls', async () => {
  let seed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(frames, { minLength: 1, maxLength: 12 }), async (messages) => {
      seed += 1
      const [mine, bad] = memoryLinks({ seed, delayTurnsMax: 0 })
      bad.onMessage = () => undefined
      bad.onEnd = () => undefined
      sendRaw(bad, frame(FrameKind.Hello, 0, 0, 0, PROTOCOL_VERSION, 8, new Uint8Array(Float64Array.of(7).buffer)))
      const channel = openChannel(mine)
      await channel.ready()
      const call = channel
        .client(service)
        .echo(1, { timeoutMs: 40 })
        .catch((error: unknown) => error)
      for (const each of messages) if (bad.open) sendRaw(bad, each)
      const ended = await call
      // By chance an answer may be among them; whatever else comes out is one of ours.
      if (ended instanceof Error)
        assert.ok('code' in ended && String(ended.code).startsWith('ERR_AETHER_'), String(ended))
      await channel.close()
    }),
    { numRuns: 100 },
  )
})

test('a server that ends a call in the manner of another kind loses its link, and the call ends', async () => {
  for (const [kind, streams] of [
    [FrameKind.End, false],
    [FrameKind.Answer, true],
  ] as const) {
    const [mine, bad] = memoryLinks()
    bad.onMessage = () => undefined
    bad.onEnd = () => undefined
    sendRaw(bad, frame(FrameKind.Hello, 0, 0, 0, PROTOCOL_VERSION, 8, new Uint8Array(Float64Array.of(7).buffer)))
    const channel = openChannel(mine)
    await channel.ready()
    const client = channel.client(service)
    const calling = streams ? client.stream(1)[Symbol.asyncIterator]().next() : client.echo(1)
    let error: unknown
    calling.catch((reason: unknown) => {
      error = reason
    })
    sendRaw(bad, frame(kind, 0, 0, 0, 0, 0, Uint8Array.of(0)))
    let turns = 0
    await until(() => error !== undefined || ++turns > 500)
    assert.ok(error instanceof RpcError, `kind ${kind}: ${String(error)}`)
    assert.equal(error.code, 'ERR_AETHER_RPC_CONNECTION_LOST')
    await channel.close()
  }
})

test('a server without a hello is given up', async () => {
  const [mine, other] = memoryLinks()
  other.onMessage = () => undefined
  other.onEnd = () => undefined
  const channel = openChannel(mine, { helloMsMax: 20 })
  const error = await rejection(channel.client(service).echo(1))
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_UNAVAILABLE', 'not-sent'])
  await channel.close()
})
