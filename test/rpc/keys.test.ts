import assert from 'node:assert/strict'
import test from 'node:test'
import { AnswerTable } from '../../src/rpc/answer-table.ts'
import { MalformedFrameError } from '../../src/rpc/errors.ts'
import { NO_EXTENSION } from '../../src/rpc/extension.ts'
import { FrameKind, SLOTS_MAX } from '../../src/rpc/frame.ts'
import { IncomingFrame } from '../../src/rpc/incoming-frame.ts'
import {
  type CallContext,
  createServer,
  defineService,
  openChannel,
  RpcError,
  type Server,
  type ServerOptions,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { KeyedCalls } from '../../src/rpc/keyed-calls.ts'
import type { ServerCore } from '../../src/rpc/server-core.ts'
import type { Session } from '../../src/rpc/session.ts'
import { type MemoryLink, memoryLinks } from '../support/memory-links.ts'
import { deferred, PATIENT, rejection, until } from './support.ts'

const shop = defineService({
  name: 'shop',
  errors: { soldOut: type<void>() },
  methods: {
    order: unary({ request: type<string>(), response: type<number>() }),
    slow: unary({ request: type<string>(), response: type<string>() }),
  },
})

/** A server that can be lost and started again, and a channel that finds it. */
function shopWorld(serverOptions: ServerOptions = {}) {
  const world = {
    orders: [] as string[],
    contexts: [] as CallContext[],
    gate: deferred(),
    links: [] as MemoryLink[],
    seed: 1,
    server: undefined as Server | undefined,
    start() {
      world.server = createServer(serverOptions).serve(shop, {
        order(what) {
          world.orders.push(what)
          if (what === 'none') throw shop.error('soldOut', undefined)
          return world.orders.length
        },
        async slow(what, context) {
          world.contexts.push(context)
          world.orders.push(what)
          await world.gate.promise
          return `${what} done`
        },
      })
    },
    cut() {
      for (const link of world.links.splice(0)) link.cut()
    },
    async [Symbol.asyncDispose]() {
      await channel.close()
      await world.server?.close()
    },
  }
  world.start()
  const connect = async (): Promise<MemoryLink> => {
    if (world.server === undefined) throw new Error('nobody is there')
    world.seed += 1
    const [mine, theirs] = memoryLinks({ seed: world.seed })
    world.links.push(mine)
    world.server.accept(theirs)
    return mine
  }
  const channel = openChannel(connect, { backOffMsMin: 1, backOffMsMax: 5 })
  return Object.assign(world, { channel, client: channel.client(shop) })
}

test('without a key a lost call is not repeated', async () => {
  await using world = shopWorld()
  const call = rejection(world.client.slow('a'))
  await until(() => world.orders.length === 1)
  world.cut()
  assert.equal(((await call) as RpcError).outcome, 'unknown')
  await until(() => world.contexts[0]?.signal.aborted === true)
  assert.equal(await world.client.order('b'), 2)
  world.gate.resolve()
})

test('with a key it is repeated over the next connection, and runs once', async () => {
  await using world = shopWorld()
  const call = world.client.slow('a', { idempotencyKey: true })
  await until(() => world.orders.length === 1)
  world.cut()
  await world.channel.ready()
  world.cut()
  assert.equal(world.contexts[0]?.signal.aborted, false)
  setImmediate(() => world.gate.resolve())
  assert.equal(await call, 'a done')
  assert.deepEqual(world.orders, ['a'])
})

test('whoever comes with a key gets the answer of the first, errors included', async () => {
  await using world = shopWorld()
  const options = { idempotencyKey: 'order 7' }
  assert.deepEqual(await Promise.all([world.client.order('a', options), world.client.order('a', options)]), [1, 1])
  assert.equal(await world.client.order('a', options), 1)
  assert.equal(await world.client.order('a'), 2)
  for (let time = 0; time < 2; time += 1)
    assert.ok(shop.isError(await rejection(world.client.order('none', { idempotencyKey: 'n' })), 'soldOut'))
  assert.deepEqual(world.orders, ['a', 'a', 'none'])
})

test('a server that was started anew does not know the keys of the one before, and says so', async () => {
  await using world = shopWorld()
  await using _first = world.server!
  const call = rejection(world.client.slow('a', { idempotencyKey: true }))
  await until(() => world.orders.length === 1)
  world.server = undefined
  world.cut()
  world.start()
  const error = await call
  assert.ok(error instanceof RpcError)
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_OUTCOME_UNKNOWN', 'unknown'])
  assert.deepEqual(world.orders, ['a'])
  assert.equal(await world.client.order('b', { idempotencyKey: true }), 2)
  world.gate.resolve()
})

test('where the table has forgotten, a repetition is refused and not run again', async () => {
  await using world = shopWorld({ answersKept: 2 })
  const call = rejection(world.client.slow('first', { idempotencyKey: 'first' }))
  await until(() => world.orders.length === 1)
  const { server } = world
  // Nobody can connect while its answer is made and forgotten again.
  world.server = undefined
  world.cut()
  world.gate.resolve()
  await until(() => server?.active === 0)
  const [mine, theirs] = memoryLinks({ seed: 99 })
  server?.accept(theirs)
  const other = openChannel(mine)
  for (let n = 0; n < 5; n += 1) await other.client(shop).order('x', { idempotencyKey: `k${n}` })
  await other.close()
  world.server = server
  const error = await call
  assert.ok(error instanceof RpcError, String(error))
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_OUTCOME_UNKNOWN', 'unknown'])
  assert.equal(world.orders.filter((each) => each === 'first').length, 1)
})

test('the time of a call counts all its tries', async () => {
  await using world = shopWorld()
  const call = rejection(world.client.slow('a', { idempotencyKey: true, timeoutMs: 1000 }))
  await until(() => world.orders.length === 1)
  world.server = undefined
  world.cut()
  const error = await call
  assert.ok(error instanceof RpcError)
  assert.equal(error.outcome, 'unknown')
  world.gate.resolve()
})

test('closing the channel ends what waits for the next connection, and says whether it had left', async () => {
  await using world = shopWorld()
  const sent = rejection(world.client.slow('a', { idempotencyKey: true }))
  await until(() => world.orders.length === 1)
  world.server = undefined
  world.cut()
  const waits = rejection(world.client.slow('b'))
  const ready = rejection(world.channel.ready())
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  await world.channel.close()
  const told = [await sent, await waits, await ready].map((error) => {
    assert.ok(error instanceof RpcError, String(error))
    return [error.method, error.code, error.outcome]
  })
  assert.deepEqual(told, [
    ['shop/slow', 'ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'],
    ['shop/slow', 'ERR_AETHER_RPC_UNAVAILABLE', 'not-sent'],
    ['channel.ready', 'ERR_AETHER_RPC_UNAVAILABLE', 'not-sent'],
  ])
})

test('an abort ends a call that waits for the next connection with its reason, though it had left', async () => {
  await using world = shopWorld()
  const controller = new AbortController()
  const call = rejection(world.client.slow('a', { idempotencyKey: true, signal: controller.signal }))
  await until(() => world.orders.length === 1)
  world.server = undefined
  world.cut()
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  controller.abort(new Error('enough'))
  assert.equal(await call, controller.signal.reason)
})

test('a repetition that is refused says so once, with what the schema found', async () => {
  await using world = shopWorld()
  const call = rejection(world.client.slow('a', { idempotencyKey: true }))
  await until(() => world.orders.length === 1)
  world.server = createServer()
  world.cut()
  const error = await call
  assert.ok(error instanceof RpcError, String(error))
  assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_UNKNOWN_METHOD', 'unknown'])
  assert.equal(error.message.split('shop/slow').length, 2, error.message)
  assert.match(
    error.message,
    /^shop\/slow: no method is served under number \d+; an earlier try may have taken effect$/,
  )
})

test('a cancelled key reaches the handler only when nobody waits for it any more', async () => {
  await using world = shopWorld()
  const first = new AbortController()
  const second = new AbortController()
  const options = (signal: AbortSignal) => ({ idempotencyKey: 'k', signal })
  const calls = [
    rejection(world.client.slow('a', options(first.signal))),
    rejection(world.client.slow('a', options(second.signal))),
  ]
  await until(() => world.orders.length === 1)
  const context = world.contexts[0]!
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  first.abort()
  await calls[0]
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(context.signal.aborted, false)
  second.abort()
  await until(() => context.signal.aborted)
  world.gate.resolve()
})

/** A client whose connection is not made anew. */
function guest(server: Server, seed: number) {
  const [link, theirs] = memoryLinks({ seed })
  server.accept(theirs)
  const channel = openChannel(link, PATIENT)
  return { link, channel, client: channel.client(shop) }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

for (const end of ['close', 'drain'] as const)
  test(`${end} of the server aborts handlers of calls with a key, those without a connection included`, async () => {
    await using world = shopWorld()
    const server = world.server!
    const lost = guest(server, 71)
    const calls = [
      rejection(world.client.slow('a', { idempotencyKey: 'a' })),
      rejection(lost.client.slow('b', { idempotencyKey: 'b' })),
    ]
    await until(() => world.contexts.length === 2)
    lost.link.cut()
    await until(() => server.sessions === 1)
    world.server = undefined
    await (end === 'close' ? server.close() : server.drain({ timeoutMs: 1 }))
    assert.deepEqual(
      world.contexts.map(({ signal }) => signal.aborted),
      [true, true],
    )
    // They run until they have ended.
    assert.equal(server.active, 2)
    world.gate.resolve()
    await until(() => server.active === 0)
    await Promise.all([lost.channel.close(), world.channel.close()])
    await Promise.all(calls)
  })

test('a call with a key that goes on without its connection keeps its time', async () => {
  await using world = shopWorld()
  const { link, channel, client } = guest(world.server!, 72)
  await channel.ready()
  const call = rejection(client.slow('a', { idempotencyKey: true, timeoutMs: 30 }))
  await until(() => world.contexts.length === 1)
  link.cut()
  const { signal } = world.contexts[0]!
  await until(() => signal.aborted)
  assert.equal((signal.reason as RpcError).code, 'ERR_AETHER_RPC_DEADLINE')
  world.gate.resolve()
  await call
  await channel.close()
})

test('a repetition is not refused by the call that it repeats, though no more may run', async () => {
  await using world = shopWorld({ callsMax: 1 })
  const call = world.client.slow('a', { idempotencyKey: 'a' })
  await until(() => world.orders.length === 1)
  world.cut()
  await world.channel.ready()
  const again = world.client.slow('a', { idempotencyKey: 'a' })
  assert.equal(((await rejection(world.client.order('b'))) as RpcError).code, 'ERR_AETHER_RPC_OVERLOADED')
  world.gate.resolve()
  assert.deepEqual(await Promise.all([call, again]), ['a done', 'a done'])
  assert.deepEqual(world.orders, ['a'])
})

test('what waits for the answer of a running key takes no place of a call of its client', async () => {
  await using world = shopWorld({ callsPerSessionMax: 2 })
  const calls = Array.from({ length: 5 }, () => world.client.slow('a', { idempotencyKey: 'a' }))
  await until(() => world.orders.length === 1)
  await turns()
  assert.equal(await world.client.order('b'), 2)
  world.gate.resolve()
  assert.deepEqual(await Promise.all(calls), Array(5).fill('a done'))
})

test('a server that drains answers repetitions', async () => {
  await using world = shopWorld()
  const server = world.server!
  const { channel, client } = guest(server, 73)
  assert.equal(await client.order('a', { idempotencyKey: 'a' }), 1)
  const running = client.slow('b', { idempotencyKey: 'b' })
  await until(() => world.orders.length === 2)
  const drained = server.drain()
  // The client has not heard of it.
  const answered = client.order('a', { idempotencyKey: 'a' })
  const attached = client.slow('b', { idempotencyKey: 'b' })
  const refused = await rejection(client.order('c', { idempotencyKey: 'c' }))
  assert.equal((refused as RpcError).code, 'ERR_AETHER_RPC_DRAINING')
  assert.equal(await answered, 1)
  world.gate.resolve()
  assert.deepEqual(await Promise.all([running, attached]), ['b done', 'b done'])
  await drained
  assert.deepEqual(world.orders, ['a', 'b'])
  await channel.close()
})

test('a client that waits for keys more often than it has slots loses its connection', () => {
  const answers = new AnswerTable({ answersKept: 10, answerBytesKept: 1000, answerKeptMs: 1000 })
  answers.begin('1:k', 0, { method: 'shop/slow', abort: assert.fail })
  const keyed = new KeyedCalls({ answers } as unknown as ServerCore, {} as Session, assert.fail)
  const ask = (id: number): boolean => {
    const frame = new IncomingFrame(FrameKind.Request, id)
    frame.word = 1
    frame.extension = { ...NO_EXTENSION, key: 'k' }
    return keyed.isRepeated(frame)
  }
  for (let id = 0; id < SLOTS_MAX; id += 1) assert.ok(ask(id))
  assert.throws(() => ask(SLOTS_MAX), MalformedFrameError)
})
