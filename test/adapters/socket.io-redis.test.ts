import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { noRedis, TestRedis } from './bullmq/sides.ts'
import { SocketCluster } from './socket-cluster.ts'
import { Program, SERVERS, type Step, steps } from './socket-program.ts'

useRuntimeDirectory()

const skip = process.platform === 'linux' ? noRedis : 'shared memory needs Linux'
const RUNS = Number(process.env['AETHER_TEST_SOCKET_RUNS'] ?? 4)

/** Client `a` and `d` are those of server 0, `b` is that of server 1, `c` that of server 2. */
function step(server: number, kind: Step['kind'], more: Partial<Omit<Step, 'target'>> & Partial<Step['target']> = {}) {
  const { client = 'a', value = `${kind} by ${server}`, rooms = [], except = [], local = false, ...rest } = more
  return { server, kind, client, value, rooms, target: { rooms, except, local }, ...rest } satisfies Step
}

/** Clients of a room, among those in `rooms`, are made members of others by `joins`. */
const into = (server: number, rooms: string[], joins: string[]): Step => ({
  ...step(server, 'join', { rooms }),
  rooms: joins,
})

const scripts: Readonly<Record<string, readonly Step[]>> = {
  'broadcasts to all, to rooms, and to all but some': [
    step(0, 'emit'),
    step(1, 'emit', { value: { a: [1, 'x', null] } }),
    into(0, [], ['red']),
    step(2, 'emit', { rooms: ['red'] }),
    step(1, 'emit', { rooms: ['green'] }),
    step(1, 'emit', { except: ['red'] }),
    step(1, 'broadcast', { client: 'b' }),
    step(0, 'broadcast', { client: 'd' }),
    step(2, 'emit', { local: true }),
    step(2, 'emit', { rooms: ['red', 'green'], except: ['blue'] }),
  ],
  'clients that join and leave rooms, on all servers and on one': [
    { ...step(0, 'join', { local: true }), rooms: ['red'] },
    { ...step(1, 'join', { local: true }), rooms: ['green', 'blue'] },
    step(2, 'fetch'),
    step(2, 'emit', { rooms: ['red'] }),
    step(2, 'emit', { rooms: ['red', 'blue'] }),
    step(0, 'emit', { except: ['green'] }),
    into(2, ['red'], ['blue']),
    step(0, 'fetch', { rooms: ['blue'] }),
    { ...step(2, 'leave', { rooms: ['blue'] }), rooms: ['red'] },
    step(1, 'emit', { rooms: ['red'] }),
    step(1, 'fetch', { except: ['green'] }),
    step(1, 'fetch', { local: true }),
  ],
  'volatile messages': [
    { ...step(0, 'join', { local: true }), rooms: ['red'] },
    step(1, 'volatile'),
    step(2, 'volatile', { rooms: ['red'] }),
    step(0, 'volatile', { except: ['red'] }),
  ],
  'questions to clients': [
    step(0, 'ask'),
    { ...step(1, 'join', { local: true }), rooms: ['green'] },
    step(2, 'ask', { rooms: ['green'] }),
    step(2, 'ask', { except: ['green'] }),
    step(1, 'ask', { rooms: ['blue'] }),
  ],
  'servers that tell and ask each other': [
    step(0, 'tell'),
    step(1, 'tell', { value: { nested: [true, 1.5] } }),
    step(2, 'question'),
    step(0, 'question', { value: 7 }),
    step(1, 'count'),
  ],
  'clients that are disconnected': [
    { ...step(1, 'join', { local: true }), rooms: ['green'] },
    step(0, 'disconnect', { rooms: ['green'] }),
    step(2, 'fetch'),
    step(2, 'emit'),
    step(2, 'ask'),
    step(1, 'disconnect', { local: true }),
    step(1, 'disconnect'),
    step(0, 'fetch'),
    step(0, 'ask'),
    step(0, 'question'),
  ],
}

/** Without whole numbers that notepack, the Redis adapter's codec, turns into others: see the last test. */
function carried(program: readonly Step[]): readonly Step[] {
  const isCarried = (value: unknown) => typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return program.map((each) => ({
    ...each,
    value: JSON.parse(JSON.stringify(each.value), (_, value: unknown) => (isCarried(value) ? value : 1)) as unknown,
  }))
}

describe("The same program on this adapter and on Socket.IO's adapter for Redis", { skip }, () => {
  let redis: TestRedis
  let both: Awaited<ReturnType<typeof SocketCluster.both>>
  let runs = 0
  before(async () => {
    redis = await TestRedis.start()
    both = await SocketCluster.both(SERVERS, { redis: redis.path })
  })
  after(async () => {
    await both[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })

  const compare = async (program: readonly Step[]): Promise<unknown> => {
    runs += 1
    const namespace = `/dynamic-${runs}`
    const [ours, theirs] = [new Program(both.ours, namespace), new Program(both.theirs, namespace)]
    const seen = await ours.run(program)
    assert.deepEqual(seen, await theirs.run(program))
    return seen
  }

  for (const [name, script] of Object.entries(scripts))
    it(name, async () => {
      const { received } = (await compare(script)) as { received: unknown[][] }
      if (script.some(({ kind }) => ['emit', 'ask', 'volatile'].includes(kind)))
        assert.ok(received.some((events) => events.length > 0))
    })

  it('programs that are drawn', async () => {
    await fc.assert(
      fc.asyncProperty(steps.map(carried), async (program) => void (await compare(program))),
      { numRuns: RUNS },
    )
  })

  it('what differs: whole numbers from 2^64 on arrive here', async () => {
    runs += 1
    const values = [2 ** 64, -(2 ** 70), 1e300]
    const program = values.map((value) => step(0, 'emit', { value: [value] }))
    const received = async (cluster: SocketCluster): Promise<unknown> => {
      const seen = (await new Program(cluster, `/dynamic-${runs}`).run(program)) as { received: unknown[][] }
      // Client b is at another server than the one that emits.
      return seen.received[1]
    }
    const sent = values.map((value) => ['event', [value]])
    assert.deepEqual(await received(both.ours), sent)
    assert.notDeepEqual(await received(both.theirs), sent)
  })
})
