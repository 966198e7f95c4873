import assert from 'node:assert/strict'
import test from 'node:test'
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
import { type MemoryLink, memoryLinks } from '../support/memory-links.ts'
import { deferred, rejection, until } from './support.ts'

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
  assert.match(error.message, /^shop\/slow: nothing is served.*; an earlier try may have taken effect$/)
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
  const context = world.contexts[0] as CallContext
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  first.abort()
  await calls[0]
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(context.signal.aborted, false)
  second.abort()
  await until(() => context.signal.aborted)
  world.gate.resolve()
})
