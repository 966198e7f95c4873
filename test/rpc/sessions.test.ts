import assert from 'node:assert/strict'
import test from 'node:test'
import { LinkError } from '../../src/messaging/index.ts'
import {
  type Channel,
  createServer,
  defineService,
  openChannel,
  RpcError,
  type Service,
  type Unary,
  unary,
} from '../../src/rpc/index.ts'
import { deferred, rejection, until } from './support.ts'

const where = { device: 'shm0', address: '127.0.0.1' }
const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const SESSIONS = 1000
/** Of a machine that is busy with something else. */
const LONG_MS = 600_000
const patient = { timeoutMs: LONG_MS, keepAliveMs: LONG_MS }
/** Of each client. */
const small = { ringBytes: 1024, sends: 16, receives: 16 }

const desk: Service<{ add: Unary<[number, number], number>; wait: Unary<void, number> }> = defineService({
  name: 'desk',
  methods: { add: unary({}), wait: unary({}) },
})

test(
  'a thousand sessions share the receives of one server: each is answered, whoever else asks for more',
  options,
  async () => {
    const gate = deferred<number>()
    await using server = createServer({ callsMax: 5000, keepAliveMs: LONG_MS }).serve(desk, {
      add: ([a, b]) => a + b,
      wait: () => gate.promise,
    })
    const errors: unknown[] = []
    const listener = await server.listen({
      ...where,
      // A message that met no receive would end its session.
      rnrRetry: 0,
      sharedReceiveQueue: { connectionsMax: SESSIONS, receives: 10 * SESSIONS },
      onClientError: (error) => errors.push(error),
    })
    const channels: Channel[] = []
    while (channels.length < SESSIONS) {
      const more = Array.from({ length: 50 }, () =>
        openChannel({ ...where, ...small, port: listener.port, connectTimeoutMs: LONG_MS }, patient),
      )
      await Promise.all(more.map((channel) => channel.ready({ timeoutMs: LONG_MS })))
      channels.push(...more)
    }
    assert.equal(server.sessions, SESSIONS)
    const clients = channels.map((channel) => channel.client(desk))

    const sums = await Promise.all(clients.map((client, index) => client.add([index, 1])))
    assert.deepEqual(
      sums,
      clients.map((_, index) => index + 1),
    )

    // One that asks without end, while all others ask once and wait for their answers.
    const [greedy, ...others] = clients as [(typeof clients)[0], ...typeof clients]
    let isOver = false
    const many = Promise.all(
      Array.from({ length: 64 }, async () => {
        let count = 0
        for (; !isOver; count += 1) assert.equal(await greedy.add([count, 2]), count + 2)
        return count
      }),
    )
    const waiting = others.map((client) => client.wait())
    await until(() => server.active === SESSIONS - 1)
    gate.resolve(7)
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([7]))
    isOver = true
    assert.ok((await many).every((count) => count > 0))
    const [use] = listener.sharedReceives
    assert.ok(use !== undefined && use.lent <= use.surplus)

    // One more is told why it has no connection; when another goes, it gets one.
    const late = openChannel({ ...where, ...small, port: listener.port, connectTimeoutMs: LONG_MS }, patient)
    let error = await rejection(late.ready({ timeoutMs: 100 }))
    // Nobody has said anything in time: a busy machine.
    for (let timeoutMs = 200; timeoutMs < LONG_MS && (error as RpcError).cause === undefined; timeoutMs *= 2)
      error = await rejection(late.ready({ timeoutMs }))
    assert.ok(error instanceof RpcError && error.cause instanceof LinkError, String(error))
    assert.equal(error.cause.reason, 'full')
    for (const each of errors) assert.equal((each as LinkError).reason, 'full', String(each))
    await channels[0]?.close()
    assert.equal(await late.client(desk).add([1, 1]), 2)

    await Promise.all([late, ...channels].map((channel) => channel.close()))
    await until(() => server.sessions === 0)
  },
)
