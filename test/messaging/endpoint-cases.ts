import assert from 'node:assert/strict'
import {
  connectEndpoint,
  type Endpoint,
  type EndpointOptions,
  LinkError,
  type LinkOptions,
  type LocalRange,
  listenEndpoints,
  type Message,
  type RemoteAddress,
} from '../../src/messaging/index.ts'
import { ArgumentError, UnsupportedError } from '../../src/native/index.ts'

export interface JoinedEndpoints {
  readonly client: Endpoint
  readonly server: Endpoint
  close(): Promise<void>
}

/** An end whose peer can be killed. */
interface MortalEndpoints {
  readonly client: Endpoint
  /** 64 bytes of the peer's. */
  readonly memory: RemoteAddress
  kill(): void
  /** After it has ended. */
  close(): Promise<void>
}

/** What carries endpoints. */
export interface EndpointFabric {
  readonly name: string
  join(options?: LinkOptions & EndpointOptions): Promise<JoinedEndpoints>
  joinMortal(): Promise<MortalEndpoints>
  /** Where to listen; undefined where there is no connection manager. */
  readonly where?: { readonly device: string; readonly address: string }
}

export interface EndpointCase {
  readonly name: string
  /** Only where somebody can listen. */
  readonly listens?: true
  run(fabric: EndpointFabric): Promise<void>
}

function turns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): unknown => (left === 0 ? resolve() : setImmediate(turn, left - 1))
    turn(count)
  })
}

const filled = (length: number): Uint8Array => new Uint8Array(length).fill(length % 251)
const checkFilled = (data: Uint8Array): void => assert.ok(data.every((byte) => byte === data.length % 251))

/** The next `count` messages, their bytes checked: length and immediate of each. */
async function take(endpoint: Endpoint, count: number): Promise<[number, number | undefined][]> {
  const taken: [number, number | undefined][] = []
  for await (const { data, immediate } of endpoint) {
    checkFilled(data)
    taken.push([data.length, immediate])
    if (taken.length === count) break
  }
  return taken
}

async function nextOf(endpoint: Endpoint): Promise<Message | undefined> {
  for await (const message of endpoint) return message
  return undefined
}

async function withEnds(
  fabric: EndpointFabric,
  options: LinkOptions & EndpointOptions,
  use: (ends: JoinedEndpoints) => Promise<void>,
): Promise<void> {
  const ends = await fabric.join(options)
  try {
    await use(ends)
  } finally {
    await ends.close()
  }
}

const lost = (error: unknown): true => {
  assert.ok(error instanceof LinkError, String(error))
  assert.deepEqual([error.reason, error.outcome], ['lost', 'unknown'])
  return true
}

/** An operation that fails at the peer, told of otherwise than by a promise; gives what it failed with. */
interface RefusedOperation {
  readonly name: string
  readonly begin: (client: Endpoint, local: LocalRange, remote: RemoteAddress) => Promise<unknown>
}

/** What it throws. */
function thrownBy(operation: () => void): Promise<unknown> {
  try {
    operation()
  } catch (error) {
    return Promise.resolve(error)
  }
  return assert.fail('nothing was thrown')
}

/** What `handlers` are told of the operation with id 7, and that they are told once, of that only. */
async function toldBy(client: Endpoint, begin: () => void): Promise<unknown> {
  const told: [string, number, unknown][] = []
  client.handlers = {
    writeDone: (id, error) => told.push(['write', id, error]),
    readDone: (id, error) => told.push(['read', id, error]),
  }
  begin()
  await client.ended
  await turns(5)
  assert.equal(told.length, 1)
  assert.equal(told[0]?.[1], 7)
  return told[0]?.[2]
}

const refusedOperations: readonly RefusedOperation[] = [
  { name: 'writeSync', begin: (client, local, remote) => thrownBy(() => client.writeSync(local, remote)) },
  { name: 'readSync', begin: (client, local, remote) => thrownBy(() => client.readSync(local, remote)) },
  { name: 'postWrite', begin: (client, local, remote) => toldBy(client, () => client.postWrite(7, local, remote)) },
  { name: 'postRead', begin: (client, local, remote) => toldBy(client, () => client.postRead(7, local, remote)) },
]

/** What an endpoint does whatever carries it. */
export const endpointCases: readonly EndpointCase[] = [
  {
    name: 'messages of all lengths, with an immediate and without, arrive once and in order, both ways at once',
    run: (fabric) =>
      withEnds(fabric, { ringBytes: 4096 }, async ({ client, server }) => {
        // Longer ones than the ring takes go by rendezvous, between short ones.
        const lengths = [0, 1, 7, 8, 9, 500, 100_000, 2, 2040, 4096, 0, 30_000, 3]
        const sent = lengths.map((length, index): [number, number | undefined] => [
          length,
          index % 3 === 0 ? undefined : index,
        ])
        const one = async (from: Endpoint, to: Endpoint): Promise<void> => {
          const sending = Promise.all(
            sent.map(([length, immediate]) =>
              immediate === undefined ? from.send(filled(length)) : from.sendWithImmediate(filled(length), immediate),
            ),
          )
          assert.deepEqual(await take(to, sent.length), sent)
          await sending
        }
        await Promise.all([one(client, server), one(server, client)])
      }),
  },
  {
    name: 'immediates have 32 bits; one that has not is refused by name, and nothing is sent',
    run: (fabric) =>
      withEnds(fabric, {}, async ({ client, server }) => {
        for (const immediate of [-1, 2 ** 32, 1.5, Number.NaN]) {
          await assert.rejects(client.sendWithImmediate(filled(1), immediate), { argument: 'immediate' })
          assert.throws(() => client.trySend(filled(1), immediate), { argument: 'immediate' })
        }
        for (const immediate of [0, 1, 0x7fffffff, 0x80000000, 0xffffffff])
          await client.sendWithImmediate(filled(4), immediate)
        assert.deepEqual(
          (await take(server, 5)).map(([, immediate]) => immediate),
          [0, 1, 0x7fffffff, 0x80000000, 0xffffffff],
        )
      }),
  },
  {
    name: 'a reader that stops holds the sender back; then everything comes, and what was given up does not',
    run: (fabric) =>
      withEnds(fabric, { ringBytes: 2048, receives: 8, sends: 16 }, async ({ client, server }) => {
        server.pause()
        let left = 0
        while (client.trySend(filled(100), left)) left += 1
        await turns(200)
        while (client.trySend(filled(100), left)) left += 1
        assert.ok(left > 0 && left <= 2 * (2048 / 112), `${left} messages left for a ring of 2048 bytes`)
        const controller = new AbortController()
        const givenUp = client.sendWithImmediate(filled(100), 999, { signal: controller.signal })
        const waiting = client.sendWithImmediate(filled(100), left)
        await turns(20)
        controller.abort(new Error('enough'))
        await assert.rejects(givenUp, /enough/)
        server.resume()
        const taken = await take(server, left + 1)
        await waiting
        assert.deepEqual(
          taken.map(([, immediate]) => immediate),
          Array.from({ length: left + 1 }, (_, index) => index),
        )
      }),
  },
  {
    name: 'long messages go copied or in place, one that the peer does not take fails alone',
    run: (fabric) =>
      withEnds(fabric, { ringBytes: 1024, messageBytesMax: 50_000 }, async ({ client, server }) => {
        const placed = client.allocate(60_000)
        placed.bytes.set(filled(40_000), 8)
        const sending = Promise.all([
          client.send(filled(50_000)),
          assert.rejects(client.send(filled(50_001)), ArgumentError),
          client.sendWithImmediate({ buffer: placed, offset: 8, length: 40_000 }, 5),
          client.send(filled(3)),
        ])
        assert.deepEqual(await take(server, 3), [
          [50_000, undefined],
          [40_000, 5],
          [3, undefined],
        ])
        await sending
      }),
  },
  {
    name: 'closed by one end: what was sent before arrives, both end in order, and nothing is sent afterwards',
    run: (fabric) =>
      withEnds(fabric, { ringBytes: 1024 }, async ({ client, server }) => {
        const sending = Promise.all([client.send(filled(10)), client.send(filled(20_000)), client.send(filled(11))])
        const closed = client.close()
        await assert.rejects(client.send(filled(1)), { name: 'LinkError', reason: 'destroyed', outcome: 'none' })
        const lengths: number[] = []
        for await (const { data } of server) {
          checkFilled(data)
          lengths.push(data.length)
        }
        assert.deepEqual(lengths, [10, 20_000, 11])
        await Promise.all([sending, closed, client.close()])
        assert.deepEqual([await client.ended, await server.ended], [undefined, undefined])
        assert.deepEqual([client.open, server.open], [false, false])
        const inOrder = { name: 'ClosedError' }
        await assert.rejects(server.send(filled(1)), inOrder)
        await assert.rejects(server.send(filled(20_000)), inOrder)
        for (const ended of [client, server]) {
          assert.throws(() => ended.trySend(filled(1)), inOrder)
          assert.throws(() => ended.link.reserve(1), inOrder)
        }
        await assert.rejects(client.send(filled(1)), { name: 'LinkError', reason: 'destroyed', outcome: 'none' })
      }),
  },
  {
    name: 'given up by one end: what waits there fails, and the other learns of a loss',
    run: (fabric) =>
      withEnds(fabric, { ringBytes: 1024 }, async ({ client, server }) => {
        server.pause()
        const waiting = Promise.allSettled([
          ...Array.from({ length: 40 }, () => client.send(filled(200))),
          client.send(filled(20_000)),
        ])
        await turns(50)
        const receiving = nextOf(server)
        client.destroy()
        for (const each of (await waiting).slice(-2)) {
          assert.equal(each.status, 'rejected')
          assert.equal((each.reason as LinkError).reason, 'destroyed')
        }
        assert.equal((await client.ended)?.reason, 'destroyed')
        server.resume()
        // It may have been told while it was sending to one that is gone.
        const knocking = (async () => {
          while (server.open) {
            server.trySend(filled(8))
            await turns(1)
          }
        })().catch(() => {})
        assert.equal((await server.ended)?.reason, 'lost')
        await Promise.all([receiving.catch(() => {}), knocking])
        for (const ended of [client, server]) await assert.rejects(ended.send(filled(1)), LinkError)
      }),
  },
  {
    name: "the peer's memory: WRITE with a notice between messages, READ, blocking, and which operation is done",
    run: (fabric) =>
      withEnds(fabric, { ringBytes: 4096 }, async ({ client, server }) => {
        const there = server.allocate(64)
        const here = client.allocate(64)
        here.bytes.fill(5)
        const seen: unknown[] = []
        const noticed = new Promise<void>((resolve) => {
          server.handlers = {
            receive: (_, immediate) => {
              seen.push(immediate)
              if (immediate === 2) resolve()
            },
            written: (immediate, address, length, endpoint) => {
              assert.equal(endpoint, server)
              seen.push([immediate, address - there.address, length, there.bytes[address - there.address]])
            },
          }
        })
        await client.sendWithImmediate(filled(1), 1)
        await client.writeWithImmediate(
          { buffer: here, length: 16 },
          { address: there.address + 8, key: there.key },
          0xfffffffe,
        )
        await client.sendWithImmediate(filled(1), 2)
        await noticed
        assert.deepEqual(seen, [1, [0xfffffffe, 8, 16, 5], 2])
        assert.deepEqual([...there.bytes.subarray(7, 9), ...there.bytes.subarray(23, 25)], [0, 5, 5, 0])
        await client.write({ buffer: here, length: 8 }, there)
        await client.read({ buffer: here, offset: 32, length: 32 }, there)
        assert.deepEqual([...here.bytes.subarray(32)], [...there.bytes.subarray(0, 32)])
        there.bytes.fill(9)
        client.readSync({ buffer: here }, there)
        assert.ok(here.bytes.every((byte) => byte === 9))
        here.bytes.fill(3)
        client.writeSync({ buffer: here }, there)
        assert.ok(there.bytes.every((byte) => byte === 3))
        const done: [string, number, unknown][] = []
        const all = new Promise<void>((resolve) => {
          const tell = (what: string, id: number, error: unknown): void => {
            if (done.push([what, id, error]) === 3) resolve()
          }
          client.handlers = {
            writeDone: (id, error) => tell('write', id, error),
            readDone: (id, error) => tell('read', id, error),
          }
        })
        client.postRead(11, { buffer: here }, there)
        client.postWrite(12, { buffer: here }, there)
        client.postRead(13, { buffer: here }, there)
        await all
        assert.deepEqual(done, [
          ['read', 11, undefined],
          ['write', 12, undefined],
          ['read', 13, undefined],
        ])
      }),
  },
  {
    name: 'atomics are carried out once each; masked ones too, or refused by a device that has none',
    run: (fabric) =>
      withEnds(fabric, {}, async ({ client, server }) => {
        const there = server.allocate(8)
        const word = new BigUint64Array(there.bytes.buffer, there.bytes.byteOffset, 1)
        const olds = await Promise.all(Array.from({ length: 100 }, () => client.fetchAdd(there, 3n)))
        assert.deepEqual(
          olds.toSorted((one, other) => Number(one - other)),
          olds.map((_, index) => BigInt(3 * index)),
        )
        assert.equal(await client.compareSwap(there, { compare: 300n, swap: 0xffn }), 300n)
        assert.equal(await client.compareSwap(there, { compare: 300n, swap: 2n }), 0xffn)
        assert.equal(word[0], 0xffn)
        try {
          assert.equal(await client.maskedFetchAdd(there, { add: 0xffn, boundaries: 0x80n }), 0xffn)
          assert.equal(word[0], 0xfen)
        } catch (error) {
          assert.ok(error instanceof UnsupportedError, String(error))
          assert.equal(word[0], 0xffn)
        }
        await client.send(filled(1))
        assert.deepEqual(await take(server, 1), [[1, undefined]])
      }),
  },
  {
    name: 'memory that the peer has not lent is refused, which ends the connection at both ends',
    run: (fabric) =>
      withEnds(fabric, {}, async ({ client, server }) => {
        const here = client.allocate(8)
        await assert.rejects(
          client.write({ buffer: here }, { address: 4096, key: 1 }),
          /RemoteAccessError|RemoteInvalidRequest/,
        )
        assert.equal((await client.ended)?.reason, 'lost')
        const knocking = (async () => {
          while (server.open) {
            server.trySend(filled(8))
            await turns(1)
          }
        })().catch(() => {})
        assert.equal((await server.ended)?.reason, 'lost')
        await knocking
      }),
  },
  ...refusedOperations.map(
    ({ name, begin }): EndpointCase => ({
      name: `memory that the peer has not lent: ${name} says so, once, and the connection ends at both ends`,
      run: (fabric) =>
        withEnds(fabric, {}, async ({ client, server }) => {
          const range = { buffer: client.allocate(8) }
          lost(await begin(client, range, { address: 4096, key: 1 }))
          const error = await client.ended
          lost(error)
          assert.match(String(error), /RemoteAccessError|RemoteInvalidRequest/)
          const knocking = (async () => {
            while (server.open) {
              server.trySend(filled(8))
              await turns(1)
            }
          })().catch(() => {})
          assert.equal((await server.ended)?.reason, 'lost')
          await knocking
        }),
    }),
  ),
  {
    name: 'what a handler throws ends its connection',
    run: async (fabric) => {
      const errors: LinkError[] = []
      await withEnds(fabric, {}, async ({ client, server }) => {
        server.handlers = {
          receive: () => {
            throw new Error('a mistake of the program')
          },
          error: (error) => errors.push(error),
        }
        await client.send(filled(8))
        assert.equal((await server.ended)?.reason, 'handler')
        assert.match(String(errors), /a mistake of the program/)
        // Over a network without a connection manager only what is sent tells of it.
        while (client.open) {
          await client.send(filled(8)).catch(() => {})
          await turns(1)
        }
        assert.equal((await client.ended)?.reason, 'lost')
      })
    },
  },
  {
    name: 'a peer that is killed: messages short and long, WRITE without and with a notice, READ and fetch-add that are under way end with the truth',
    run: async (fabric) => {
      const { client, memory, kill, close } = await fabric.joinMortal()
      const buffer = client.allocate(16)
      client.pause()
      const operations: (() => Promise<unknown>)[] = [
        () => client.send(filled(1000)),
        () => client.send(filled(300_000)),
        () => client.write({ buffer }, { address: memory.address + 8, key: memory.key }),
        () => client.writeWithImmediate({ buffer }, { address: memory.address + 8, key: memory.key }, 1),
        () => client.read({ buffer }, { address: memory.address + 8, key: memory.key }),
        () => client.fetchAdd(memory, 1n),
      ]
      const ends = operations.map(async (operation) => {
        for (;;) {
          const begun = client.open
          try {
            await operation()
          } catch (error) {
            if (begun) lost(error)
            else assert.ok(error instanceof LinkError, String(error))
            return
          }
        }
      })
      await turns(100)
      kill()
      await Promise.all(ends)
      lost(await client.ended)
      for (const operation of operations) await assert.rejects(operation(), { name: 'LinkError' })
      await close()
    },
  },
  {
    name: 'one that is turned away learns so at once, and the next is served',
    listens: true,
    run: async ({ where }) => {
      assert.ok(where !== undefined)
      const errors: unknown[] = []
      const endpoints: Endpoint[] = []
      const listener = await listenEndpoints({
        ...where,
        sharedReceiveQueue: { connectionsMax: 1 },
        accept: (endpoint) => endpoints.push(endpoint),
        clientError: (error) => errors.push(error),
      })
      try {
        const first = await connectEndpoint({ ...where, port: listener.port })
        const full = { name: 'LinkError', reason: 'full', outcome: 'none' }
        await assert.rejects(connectEndpoint({ ...where, port: listener.port }), full)
        assert.deepEqual(
          errors.map((error) => (error as LinkError).reason),
          ['full'],
        )
        await first.close()
        while (endpoints[0]?.open !== false) await turns(1)
        let next: Endpoint | undefined
        // Its place is free again once all of the first has gone.
        while (next === undefined)
          next = await connectEndpoint({ ...where, port: listener.port }).catch((error: unknown) => {
            assert.equal((error as LinkError).reason, 'full')
            return undefined
          })
        while (endpoints.length < 2) await turns(1)
        await next.send(filled(9))
        assert.deepEqual(await take(endpoints[1]!, 1), [[9, undefined]])
        await next.close()
      } finally {
        listener.close()
      }
    },
  },
]
