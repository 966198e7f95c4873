import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { newSpace, SocketCluster } from './socket-cluster.ts'
import { type AnyNode, SocketNode } from './socket-node.ts'

useRuntimeDirectory()

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
/** Longer than any test here. */
const LONG_MS = 60_000
/** Within this the others answer, on a busy machine, too. */
const ANSWERS_MS = 3000
type Three = readonly [AnyNode, AnyNode, AnyNode]

/** Clients `a`, `b`, …, one of each server. */
async function connectAll(nodes: readonly AnyNode[]): Promise<void> {
  await Promise.all(nodes.map((node, at) => node.connect('abcd'[at]!)))
}

function numbers(count: number): unknown[][] {
  return Array.from({ length: count }, (_, number) => ['next', number])
}

describe('Socket.IO servers of which some fail', options, () => {
  let cluster: SocketCluster
  let [one, two, three, four] = [] as unknown as readonly [AnyNode, AnyNode, AnyNode, AnyNode]
  before(async () => {
    cluster = await SocketCluster.inWorkers(4)
    ;[one, two, three, four] = cluster.nodes as readonly [AnyNode, AnyNode, AnyNode, AnyNode]
    await connectAll(cluster.nodes)
  })
  after(() => cluster[Symbol.asyncDispose]())

  it('do not wait for one that is stopped, but for its answers; it gets everything later', async () => {
    cluster.signal(3, 'SIGSTOP')
    await one.burst(100, 'next')
    assert.deepEqual(await two.receives('b', 100), numbers(100))
    await assert.rejects(one.fetchSockets({}, ANSWERS_MS), /missing 1 responses/)
    cluster.signal(3, 'SIGCONT')
    assert.deepEqual(await four.receives('d', 100), numbers(100))
    assert.deepEqual(await four.told(), { missed: 0, notSent: 0 })
  })

  it('do not wait for the answers of one that dies', async () => {
    cluster.signal(3, 'SIGSTOP')
    const fetched = one.fetchSockets({}, LONG_MS)
    const answered = one.emitWithAck({}, LONG_MS, 'question')
    const emitted = one.serverSideEmitWithAck('/', 'asked', 'question')
    await one.emitWithAck({ local: true }, LONG_MS, 'mark')
    await cluster.kill(3)
    assert.deepEqual(
      (await fetched).map(({ name }) => name),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(await answered, { answers: ['a', 'b', 'c'] })
    assert.deepEqual(await emitted, { answers: ['answer to question', 'answer to question'] })
  })

  it('go on without one that is killed while it broadcasts', async () => {
    three.burst(20_000, 'from c').catch(() => undefined)
    await one.receives('a', 103)
    await cluster.kill(2)
    await Promise.all([one.knows(2), two.knows(2)])
    await one.burst(100, 'later')
    assert.deepEqual(await one.emitWithAck({}, LONG_MS, 'question'), { answers: ['a', 'b'] })
    for (const received of [await one.received('a'), await two.received('b')])
      assert.deepEqual(
        received.filter(([event]) => event === 'later').map(([, number]) => number),
        Array.from({ length: 100 }, (_, number) => number),
      )
  })
})

describe('A Socket.IO server', options, () => {
  it('is told how many messages it has missed if it was stopped for too long', async () => {
    await using cluster = await SocketCluster.inWorkers(2, { capacity: 64 })
    const [one, two] = cluster.nodes as Three
    await connectAll(cluster.nodes)
    cluster.signal(1, 'SIGSTOP')
    await one.burst(500, 'next')
    await one.receives('a', 500)
    cluster.signal(1, 'SIGCONT')
    const received = await two.receives('b', 64)
    assert.deepEqual(received, numbers(500).slice(-64))
    assert.deepEqual(await two.told(), { missed: 500 - 64, notSent: 0 })
    assert.deepEqual(await one.received('a'), numbers(500))
  })

  it('reaches its own clients with more events at once than the log keeps', async () => {
    await using cluster = await SocketCluster.here(1, { capacity: 64, capacityBytes: 2 ** 16 })
    const [one] = cluster.nodes as Three
    await one.connect('a')
    await one.burst(1000, 'next')
    assert.deepEqual(await one.receives('a', 1000), numbers(1000))
  })

  it('keeps an event that is longer than the log to its own clients, and says so', async () => {
    await using cluster = await SocketCluster.here(2, { capacityBytes: 2 ** 16 })
    const [one, two] = cluster.nodes as Three
    await connectAll(cluster.nodes)
    await one.emit({}, 'long', Buffer.alloc(2 ** 16))
    await one.emit({}, 'short')
    assert.deepEqual(await two.receives('b', 1), [['short']])
    assert.equal((await one.receives('a', 2))[0]![0], 'long')
    assert.deepEqual(await one.told(), { missed: 0, notSent: 1 })
  })

  it('refuses what JSON cannot represent, and goes on', async () => {
    await using cluster = await SocketCluster.here(1)
    const [node] = cluster.nodes as unknown as readonly [SocketNode]
    assert.throws(() => node.emit({}, 'number', 1n), TypeError)
    await node.connect('a')
    node.emit({}, 'next')
    assert.deepEqual(await node.receives('a', 1), [['next']])
  })

  it('serves its own clients if it cannot enter the space', async () => {
    const node = new SocketNode()
    await assert.rejects(node.open('no/such/space'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await node.connect('a')
    node.emit({}, 'next')
    assert.deepEqual(await node.receives('a', 1), [['next']])
    assert.equal(await node.serverCount(), 1)
    assert.deepEqual(await node.emitWithAck({}, LONG_MS, 'question'), { answers: ['a'] })
    assert.ok(node.told().notSent > 0)
    await node.close()
  })

  it('is known to have left when it closes, and what it emitted before arrives', async () => {
    const space = newSpace()
    await using cluster = await SocketCluster.here(2, {}, space)
    const [one, two] = cluster.nodes as Three
    await one.connect('a')
    const third = new SocketNode()
    await third.open(space)
    third.emit({}, 'last words')
    const closed = third.close()
    assert.deepEqual(await one.receives('a', 1), [['last words']])
    await closed
    assert.deepEqual([await one.serverCount(), await two.serverCount()], [2, 2])
    assert.deepEqual(await two.serverSideEmitWithAck('/', 'asked', 'question'), { answers: ['answer to question'] })
  })

  it('lets its process end after it is closed', async () => {
    await using cluster = await SocketCluster.inWorkers(1)
    const [one] = cluster.nodes as Three
    await one.connect('a')
    await one.close()
    assert.equal(await cluster.ends(0), 0)
  })
})

describe('Connection state recovery', options, () => {
  const recovery = { recovery: true }

  for (const [where, start] of [
    ['in one process', () => SocketCluster.here(2, recovery)],
    ['in workers', () => SocketCluster.inWorkers(2, recovery)],
  ] as const)
    it(`gives a client that comes back to another server what it missed, ${where}`, async () => {
      await using cluster = await start()
      const [one, two] = cluster.nodes as Three
      await connectAll(cluster.nodes)
      await one.join('a', 'red')
      await two.emit({}, 'before')
      await one.receives('a', 1)
      await one.breaks('a')
      await two.emit({ rooms: ['red'] }, 'meant')
      await two.emit({ rooms: ['green'] }, 'for others')
      await two.emit({ except: ['red'] }, 'not meant')
      await two.emit({ volatile: true }, 'volatile')
      await one.emit({ namespace: '/chat' }, 'elsewhere')
      await one.emit({}, 'for all')
      assert.equal(await one.comesBack('a', await two.port()), true)
      await two.emit({ rooms: ['red'] }, 'after')
      const events = (await one.receives('a', 4)).map(([event]) => event)
      assert.deepEqual(events, ['before', 'meant', 'for all', 'after'])
      const [a] = await two.fetchSockets({ rooms: ['red'] })
      assert.deepEqual(a, { name: 'a', rooms: ['red'], isRemote: false })
    })

  it('works when the server closes, and only once', async () => {
    const space = newSpace()
    await using cluster = await SocketCluster.here(1, recovery, space)
    const [one] = cluster.nodes as Three
    const closing = new SocketNode()
    await closing.open(space, recovery)
    await closing.connect('b')
    await one.emit({}, 'before')
    await closing.receives('b', 1)
    await closing.closesServer()
    await one.emit({}, 'missed')
    assert.equal(await closing.comesBack('b', await one.port()), true)
    assert.deepEqual(
      (await closing.receives('b', 2)).map(([event]) => event),
      ['before', 'missed'],
    )
  })

  it('fails if messages that the client missed were dropped', async () => {
    await using cluster = await SocketCluster.here(2, { recovery: true, capacity: 16 })
    const [one, two] = cluster.nodes as Three
    await one.connect('a')
    await one.emit({}, 'before')
    await one.receives('a', 1)
    await one.breaks('a')
    await two.connect('b')
    await two.burst(100, 'next')
    await two.receives('b', 100)
    assert.equal(await one.comesBack('a', await two.port()), false)
  })
})
