import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Channel, type ChannelOptions, type Client, RpcError, type ServerOptions } from '../../src/rpc/index.ts'
import { Office, office } from './fixtures/office.ts'
import type { Ground, RdmaPair } from './rdma/pairs.ts'
import { rejection, until } from './support.ts'

interface Scene {
  readonly pair: RdmaPair
  readonly office: Office
  readonly client: Client<typeof office>
}

/** On whatever machine. */
const LONG_MS = 600_000
/** Of a stream, each way. */
const WINDOW = 8
/** A window, what credit the first item gives back, and the one that is held in hand. */
const AHEAD_MAX = WINDOW + WINDOW / 2 + 1
const ITEMS = 200
const LONG_BYTES = 300_000

async function scene(
  ground: Ground,
  play: (scene: Scene) => Promise<void>,
  channel: ChannelOptions = {},
  server: ServerOptions = {},
): Promise<void> {
  const limits = { keepAliveMs: LONG_MS, streamWindow: WINDOW }
  const patient = { ...limits, timeoutMs: LONG_MS, helloMsMax: LONG_MS }
  const handlers = new Office()
  await using pair = await ground.open(handlers.serve, { ...patient, ...channel }, { ...limits, ...server })
  await readyIn(pair.channel)
  const client = pair.channel.client(office)
  handlers.client = client
  await play({ pair, office: handlers, client })
}

function readyIn(channel: Channel): Promise<void> {
  return channel.ready({ timeoutMs: LONG_MS })
}

function told(error: unknown): readonly [string, string] {
  assert.ok(error instanceof RpcError, String(error))
  return [error.code, error.outcome]
}

async function collect<T>(stream: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const item of stream) into.push(item)
  return into
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** As long as it takes to go there and back a few times. */
async function aWhile(client: Client<typeof office>): Promise<void> {
  for (let round = 0; round < 20; round += 1) assert.equal(await client.echo(round), round)
}

type Case = (scene: Scene) => Promise<void>

const unaryCases: Readonly<Record<string, Case>> = {
  'values, bytes and nothing at all go there and come back': async ({ client }) => {
    const value = { text: 'grüezi', list: [1, -2.5, null, undefined, true], at: new Date(5), words: Uint32Array.of(7) }
    assert.deepEqual(await client.echo(value), value)
    assert.deepEqual(await client.bytes(Uint8Array.of(1, 2, 3)), Uint8Array.of(1, 2, 3))
    assert.equal((await client.bytes(new Uint8Array(0))).length, 0)
    assert.equal(await client.nothing(), undefined)
    assert.deepEqual([await client.echo(''), await client.echo({}), await client.echo([])], ['', {}, []])
  },

  'a hundred calls at once get each its own answer': async ({ client }) => {
    assert.deepEqual(await Promise.all(upTo(100).map((n) => client.echo(n))), upTo(100))
  },

  'a long request and its long answer come whole': async ({ client }) => {
    const body = new Uint8Array(LONG_BYTES).map((_, index) => index * 13 + (index >>> 8))
    assert.equal(Buffer.compare(await client.bytes(body), body), 0)
    const value = (await client.echo({ body, text: 'x'.repeat(10) })) as { body: Uint8Array; text: string }
    assert.equal(Buffer.compare(value.body, body), 0)
    assert.equal(value.text, 'x'.repeat(10))
  },

  'metadata go there and back': async ({ client }) => {
    const got: unknown[] = []
    const onMetadata = (metadata: unknown): void => void got.push(metadata)
    assert.equal(await client.who(undefined, { metadata: { user: 'ada' }, onMetadata }), 'ada')
    assert.deepEqual(got, [{ served: 'yes' }])
    assert.equal(await client.who(), 'nobody')
  },

  'an error of the service comes with its reason and details, a failure of the handler with its text': async ({
    client,
  }) => {
    const overdrawn = await rejection(client.withdraw(130))
    assert.ok(office.isError(overdrawn, 'overdrawn'), String(overdrawn))
    assert.deepEqual(overdrawn.details, { missing: 30, since: new Date(86_400_000) })
    assert.equal(overdrawn.message, 'not so much')
    const failed = await rejection(client.fail())
    assert.deepEqual(told(failed), ['ERR_AETHER_RPC_HANDLER', 'failed'])
    assert.match(String(failed), /office\/fail: TypeError: broken/)
    assert.equal(await client.withdraw(30), 70)
  },

  'the handler knows what is left of the time, and passes it on': async ({ client }) => {
    const [later, passedOn] = await client.relay()
    assert.ok(later < LONG_MS, `${later} ms`)
    assert.ok(passedOn > 0 && passedOn < later, `${passedOn} of ${later} ms`)
    assert.equal(await client.left(undefined, { timeoutMs: Infinity }), Infinity)
  },

  'when its time is up a call ends, and its handler is told': async ({ client, office: { contexts }, pair }) => {
    assert.deepEqual(told(await rejection(client.wait(undefined, { timeoutMs: 30 }))), [
      'ERR_AETHER_RPC_DEADLINE',
      'unknown',
    ])
    await until(() => contexts[0]?.signal.aborted === true && pair.server.active === 0)
    const [reason] = told(contexts[0]?.signal.reason)
    assert.ok(['ERR_AETHER_RPC_DEADLINE', 'ERR_AETHER_RPC_CANCELLED'].includes(reason), reason)
    assert.equal(await client.echo(1), 1)
  },

  'an abort ends a call with its reason, and reaches the handler': async ({ client, office: { contexts }, pair }) => {
    const abort = new AbortController()
    const call = rejection(client.wait(undefined, { signal: abort.signal }))
    await until(() => contexts.length === 1)
    abort.abort(new Error('changed my mind'))
    assert.equal(await call, abort.signal.reason)
    await until(() => contexts[0]?.signal.aborted === true && pair.server.active === 0)
    assert.equal(told(contexts[0]?.signal.reason)[0], 'ERR_AETHER_RPC_CANCELLED')
    assert.equal(await client.echo(1), 1)
  },

  'whoever comes with a key gets the answer of the first, errors included': async ({ client, office: handlers }) => {
    const options = { idempotencyKey: 'order 7' }
    const both = await Promise.all([client.order(undefined, options), client.order(undefined, options)])
    assert.deepEqual([...both, await client.order(undefined, options)], [1, 1, 1])
    assert.equal(await client.order(undefined, { idempotencyKey: 'order 8' }), 2)
    assert.equal(await client.order(), 3)
    for (let time = 0; time < 2; time += 1) {
      const error = await rejection(client.withdraw(101, { idempotencyKey: 'withdrawal' }))
      assert.ok(office.isError(error, 'overdrawn') && error.details.missing === 1, String(error))
    }
    assert.deepEqual([handlers.orders, handlers.withdrawals], [3, 1])
  },
}

const streamCases: Readonly<Record<string, Case>> = {
  'a stream of answers arrives whole and in order': async ({ client }) => {
    assert.deepEqual(await collect(client.count(ITEMS)), upTo(ITEMS))
    assert.deepEqual(await collect(client.count(0)), [])
  },

  'a stream of requests arrives whole': async ({ client }) => {
    assert.equal(await client.sum(upTo(ITEMS)), (ITEMS * (ITEMS - 1)) / 2)
    assert.equal(await client.sum([]), 0)
  },

  'a reader that stops holds the handler back': async ({ client, office: handlers }) => {
    const stream = client.forever()
    assert.equal((await stream.next()).value, 1)
    await until(() => handlers.produced >= WINDOW)
    await aWhile(client)
    assert.ok(handlers.produced <= AHEAD_MAX, `${handlers.produced} items were made`)
    assert.equal((await stream.next()).value, 2)
    await stream.return?.()
    await until(() => handlers.isEnded)
    assert.equal(handlers.contexts[0]?.signal.aborted, true)
  },

  'in a stream both ways a reader that stops holds the handler back, and that its caller': async ({ client }) => {
    let given = 0
    function* source(): Generator<number, void> {
      for (; given < ITEMS; given += 1) yield given
    }
    const doubled = client.double(source())
    const got = [(await doubled.next()).value as number]
    await aWhile(client)
    assert.ok(given <= 2 * AHEAD_MAX, `${given} items were given`)
    await collect(doubled, got)
    assert.deepEqual(
      got,
      upTo(ITEMS).map((n) => 2 * n),
    )
  },

  'an error after some answers comes after them': async ({ client }) => {
    const got: number[] = []
    const error = await rejection(collect(client.breaks(3), got))
    assert.deepEqual(got, [0, 1, 2])
    assert.ok(office.isError(error, 'overdrawn') && error.details.missing === 3, String(error))
  },
}

/** What calls mean, whatever carries them: the same cases over one kind of connection. */
export async function semanticsCases(t: TestContext, ground: Ground): Promise<void> {
  for (const [name, play] of Object.entries({ ...unaryCases, ...streamCases }))
    await t.test(name, () => scene(ground, play))

  await t.test('interceptors are around calls of every kind at both ends, the first outermost', () => {
    const trail: string[] = []
    const channel: ChannelOptions = {
      interceptors: [
        (call, next) => {
          trail.push(`first ${call.kind}`)
          return next({ ...call, options: { ...call.options, metadata: { trace: '7' } } })
        },
        (call, next) => {
          trail.push('second')
          return next(call.kind === 'server-stream' ? { ...call, request: 2 } : call)
        },
      ],
    }
    const server: ServerOptions = {
      interceptors: [
        (request, context, next) => {
          trail.push(`server ${context.method} ${context.metadata['trace']}`)
          return next(request)
        },
      ],
    }
    const play: Case = async ({ client }) => {
      assert.equal(await client.echo('x'), 'x')
      assert.deepEqual(await collect(client.count(99)), [0, 1])
      const expected = ['first unary', 'second', 'server office/echo 7']
      assert.deepEqual(trail, [...expected, 'first server-stream', 'second', 'server office/count 7'])
    }
    return scene(ground, play, channel, server)
  })

  await t.test('more calls than an end takes are refused at once, and those that run are not touched', () => {
    const play: Case = async ({ client, office: { gate }, pair }) => {
      const running = [client.wait(), client.wait()]
      await until(() => pair.server.active === 2)
      const more = [rejection(client.echo(1)), rejection(client.wait()), rejection(client.wait())]
      const overloaded = 'ERR_AETHER_RPC_OVERLOADED'
      assert.deepEqual((await Promise.all(more)).map(told), [
        [overloaded, 'refused'],
        [overloaded, 'refused'],
        [overloaded, 'not-sent'],
      ])
      gate.resolve('done')
      assert.deepEqual(await Promise.all(running), ['done', 'done'])
      assert.equal(await client.echo(1), 1)
    }
    return scene(ground, play, { callsMax: 4 }, { callsMax: 2 })
  })

  for (const side of ['clientLink', 'serverLink'] as const)
    await t.test(`when the connection is lost at the ${side}, what had left ends with an unknown outcome`, () =>
      scene(ground, async ({ client, office: { contexts }, pair }) => {
        const call = rejection(client.wait())
        const stream = client.forever()
        await stream.next()
        await until(() => contexts.length === 2)
        pair[side].destroy()
        const lost = ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown']
        assert.deepEqual(told(await call), lost)
        assert.deepEqual(told(await rejection(collect(stream))), lost)
        await until(() => contexts.every(({ signal }) => signal.aborted) && pair.server.active === 0)
        assert.deepEqual(told(await rejection(client.echo(1))), ['ERR_AETHER_RPC_UNAVAILABLE', 'not-sent'])
      }),
    )
}
