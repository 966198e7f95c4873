import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { MemoryLending } from '../../../src/messaging/index.ts'
import {
  borrowedBytes,
  bytes,
  defineService,
  json,
  RpcError,
  type Server,
  type,
  unary,
} from '../../../src/rpc/index.ts'
import { rejection, until } from '../support.ts'
import { LendingTally } from './lending-tally.ts'
import type { Ground, RdmaPair } from './pairs.ts'

const keeper = defineService({
  name: 'keeper',
  methods: {
    values: unary({ request: type<Uint32Array>(), response: type<Uint32Array>() }),
    bytes: unary({ codec: bytes }),
    borrowed: unary({ codec: borrowedBytes }),
    json: unary({ codec: json }),
    /** So many bytes. */
    give: unary({ request: type<number>(), response: type<Uint8Array>() }),
    count: unary({ request: type<Uint8Array>(), response: type<number>() }),
    small: unary({ request: type<number>(), response: type<number>() }),
  },
})

function pattern(length: number, seed: number): Uint8Array {
  const made = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) made[index] = index * 31 + (index >>> 8) + seed
  return made
}

/** Longer than a message of the link, and than a piece in which it is fetched. */
function longOf({ longBytes }: Ground): number {
  return Math.min(longBytes, 1_200_001)
}

/** Without a byte for each digit, where this is looked at in an emulated machine. */
function same(left: Uint8Array, right: Uint8Array): void {
  assert.equal(Buffer.compare(left, right), 0, `${left.length} bytes are not what the ${right.length} were`)
}

interface Scene {
  readonly pair: RdmaPair
  readonly client: LendingTally
  readonly server: LendingTally
  /** Calls of handlers. */
  readonly calls: string[]
}

/** Of a peer that is only slow, on whatever machine. */
const LONG_MS = 60_000
const CALL_MS = 600_000
const FENCE_MS = 40
/** At a time. Of the longest ones some find no room among those that are offered, and go in parts. */
const BODIES = 20

async function scene(
  ground: Ground,
  fenceMs: number,
  play: (scene: Scene) => Promise<void>,
  assemblyBytesMax: number = 64 << 20,
): Promise<void> {
  const calls: string[] = []
  const serve = (server: Server): void => {
    server.serve(keeper, {
      values: (value) => value,
      bytes: (value) => value,
      borrowed: (value) => value,
      json: (value) => value,
      give: (length) => pattern(length, 5),
      count: (value) => {
        calls.push('count')
        return value.length
      },
      small: (value) => value + 1,
    })
  }
  const limits = { keepAliveMs: 600_000, bodyBytesMax: longOf(ground) + 1000, assemblyBytesMax }
  const pair = await ground.open(serve, { ...limits, fenceMs, timeoutMs: CALL_MS }, limits)
  const [client, server] = [new LendingTally(pair.clientLink), new LendingTally(pair.serverLink)]
  try {
    await pair.channel.ready()
    await play({ pair, client, server, calls })
  } finally {
    await pair[Symbol.asyncDispose]()
  }
  await until(() => client.takenBytes === 0 && server.takenBytes === 0)
}

/** What the call is rejected with while an end has no memory for bodies. */
async function rejectionWithout(lending: MemoryLending, call: () => Promise<unknown>): Promise<unknown> {
  const { take, register } = lending
  lending.take = lending.register = () => {
    throw new Error('no memory is left')
  }
  try {
    return await rejection(call())
  } finally {
    Object.assign(lending, { take, register })
  }
}

/** How bodies that are longer than a message of the link travel, over one kind of connection. */
export async function bodyCases(t: TestContext, ground: Ground): Promise<void> {
  const longBytes = longOf(ground)

  await t.test('long requests and answers are fetched, whole, in every codec, and are their own', () =>
    scene(ground, LONG_MS, async ({ pair, client, server }) => {
      const service = pair.channel.client(keeper)
      const body = pattern(longBytes, 1)
      same((await service.bytes(body)) as Uint8Array, body)
      const borrowed = (await service.borrowed(body)) as Uint8Array
      const words = new Uint32Array(longBytes >> 2).map((_, index) => index * 77)
      const answered = await service.values(words)
      same(new Uint8Array(answered.buffer), new Uint8Array(words.buffer))
      const text = 'a long line '.repeat(longBytes / 14)
      assert.equal(await service.json(text), text)
      same(borrowed, body)
      assert.ok(client.reads >= 4 && server.reads >= 4, `${client.reads} and ${server.reads} READs`)
      assert.ok(pair.clientLink.open)
    }),
  )

  await t.test('short calls are answered while a long request is fetched, which is cancelled: no handler runs', () =>
    scene(ground, LONG_MS, async ({ pair, client, server, calls }) => {
      const service = pair.channel.client(keeper)
      const release = server.hold()
      const abort = new AbortController()
      const call = rejection(service.count(pattern(longBytes, 2), { signal: abort.signal }))
      await server.begun
      assert.equal(await service.small(1), 2)
      const { takenBytes } = client
      abort.abort(new Error('enough'))
      assert.equal(await call, abort.signal.reason)
      // What comes behind the cancellation.
      assert.equal(await service.small(2), 3)
      release()
      await until(() => server.takenBytes === 0)
      assert.deepEqual(calls, [])
      for (let round = 0; round < 4; round += 1) assert.equal(await service.count(pattern(longBytes, round)), longBytes)
      assert.ok(client.takenBytes <= 2 * takenBytes, 'the memory of the request that nobody wanted is used again')
      assert.ok(pair.clientLink.open)
    }),
  )

  await t.test(
    'a server that comes for a request long after its call has ended finds it, and goes on with others',
    () =>
      scene(ground, FENCE_MS, async ({ pair, client, server, calls }) => {
        const service = pair.channel.client(keeper)
        const release = server.hold()
        const abort = new AbortController()
        const call = rejection(service.count(pattern(longBytes, 4), { signal: abort.signal }))
        await server.begun
        abort.abort(new Error('enough'))
        assert.equal(await call, abort.signal.reason)
        await new Promise((resolve) => setTimeout(resolve, 4 * FENCE_MS))
        const { takenBytes } = client
        assert.ok(takenBytes >= longBytes, 'the request still lies there')
        release()
        assert.equal(await service.count(pattern(longBytes, 5)), longBytes)
        assert.deepEqual(calls, ['count'])
        assert.ok(pair.clientLink.open)
      }),
  )

  await t.test(
    'a call that is given up while its long answer is fetched ends at once, and the memory of the answer is free',
    () =>
      scene(ground, LONG_MS, async ({ pair, client, server }) => {
        const service = pair.channel.client(keeper)
        const release = client.hold()
        const abort = new AbortController()
        const call = rejection(service.give(longBytes, { signal: abort.signal }))
        await client.begun
        const { takenBytes } = server
        abort.abort(new Error('enough'))
        assert.equal(await call, abort.signal.reason)
        release()
        for (let round = 0; round < 4; round += 1) same(await service.give(longBytes), pattern(longBytes, 5))
        assert.ok(server.takenBytes <= 2 * takenBytes, 'the memory of the answer that nobody wanted is used again')
        assert.ok(pair.clientLink.open)
      }),
  )

  await t.test('a body longer than an end takes is refused by that end, and is not fetched', () =>
    scene(ground, LONG_MS, async ({ pair, client, server, calls }) => {
      const service = pair.channel.client(keeper)
      const request = await rejection(service.count(pattern(longBytes + 2000, 6)))
      const answer = await rejection(service.give(longBytes + 2000))
      for (const error of [request, answer])
        assert.equal(error instanceof RpcError && error.code, 'ERR_AETHER_RPC_TOO_LARGE', String(error))
      assert.deepEqual([client.reads, server.reads, calls], [0, 0, []])
      assert.equal(await service.small(2), 3)
    }),
  )

  await t.test('an end that has no memory for a long body ends its call, and no other', () =>
    scene(ground, LONG_MS, async ({ pair, calls }) => {
      const service = pair.channel.client(keeper)
      const body = pattern(longBytes, 8)
      const answer = await rejectionWithout(pair.clientLink.lending, () => service.bytes(body))
      let small: Promise<number> | undefined
      const request = await rejectionWithout(pair.serverLink.lending, () => {
        small = service.small(1)
        return service.count(body)
      })
      for (const [error, outcome] of [
        [answer, 'failed'],
        [request, 'refused'],
      ] as const) {
        assert.ok(error instanceof RpcError, String(error))
        assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_OVERLOADED', outcome])
      }
      assert.equal(await small, 2)
      assert.deepEqual(calls, [])
    }),
  )

  await t.test('a server that drains waits until its last answer was fetched', () =>
    scene(ground, LONG_MS, async ({ pair, client }) => {
      const release = client.hold()
      const call = pair.channel.client(keeper).give(longBytes)
      await client.begun
      const drained = pair.server.drain()
      let isDrained = false
      void drained.then(() => {
        isDrained = true
      })
      for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve))
      assert.equal(isDrained, false)
      release()
      same(await call, pattern(longBytes, 5))
      await drained
    }),
  )

  for (const side of ['clientLink', 'serverLink'] as const)
    await t.test(`when the ${side} is given up while bodies are fetched, both ends let go of them`, () =>
      scene(ground, LONG_MS, async ({ pair, client, server, calls }) => {
        const service = pair.channel.client(keeper)
        server.hold()
        client.hold()
        const up = rejection(service.count(pattern(longBytes, 7)))
        const down = rejection(service.give(longBytes))
        await Promise.all([server.begun, client.begun])
        pair[side].destroy()
        for (const error of [await up, await down]) {
          assert.ok(error instanceof RpcError)
          assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
        }
        await until(() => client.takenBytes === 0 && server.takenBytes === 0)
        assert.deepEqual(calls, [])
      }),
    )

  for (const [room, roomBytes] of [
    ['much room', 64 << 20],
    ['room for few', 2 * longBytes + 2000],
  ] as const)
    await t.test(`many long bodies at once, both ways, arrive whole within bounds of memory: ${room}`, () =>
      scene(
        ground,
        LONG_MS,
        async ({ pair, client, server }) => {
          const service = pair.channel.client(keeper)
          const calls = Array.from({ length: BODIES }, async (_, seed) => {
            const body = pattern(longBytes, seed)
            same((await service.bytes(body)) as Uint8Array, body)
          })
          await Promise.all(calls)
          for (const { takenBytesMax } of [client, server])
            assert.ok(takenBytesMax <= 64 << 20, `${takenBytesMax} bytes were taken at a time`)
        },
        roomBytes,
      ),
    )
}
