import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { SocketCluster } from './socket-cluster.ts'
import type { AnyNode } from './socket-node.ts'

useRuntimeDirectory()

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const SERVERS = 3
/** Longer than any test here. */
const LONG_MS = 60_000

for (const [where, start] of [
  ['in one process', () => SocketCluster.here(SERVERS)],
  ['in workers', () => SocketCluster.inWorkers(SERVERS)],
] as const)
  describe(`Socket.IO servers ${where}`, options, () => {
    let cluster: SocketCluster
    let [one, two, three] = [] as unknown as readonly [AnyNode, AnyNode, AnyNode]
    before(async () => {
      cluster = await start()
      ;[one, two, three] = cluster.nodes as readonly [AnyNode, AnyNode, AnyNode]
    })
    after(() => cluster[Symbol.asyncDispose]())

    /** A client `a`, `b`, `c` of each server, in a namespace of its own. */
    async function clientsIn(namespace: string): Promise<void> {
      await Promise.all([one.connect('a', namespace), two.connect('b', namespace), three.connect('c', namespace)])
    }

    /** Everything that was emitted before has arrived. */
    async function arrived(namespace: string, from: AnyNode = one): Promise<void> {
      await from.emitWithAck({ namespace }, LONG_MS, 'mark')
    }

    /** What each client got since it was connected, without marks. */
    async function all(): Promise<unknown[][][]> {
      const received = await Promise.all([one.received('a'), two.received('b'), three.received('c')])
      return received.map((events) => events.filter(([event]) => event !== 'mark'))
    }

    it('know each other at once', async () => {
      assert.deepEqual(await Promise.all(cluster.nodes.map((node) => node.serverCount())), [3, 3, 3])
    })

    it('broadcast to the clients of all', async () => {
      await clientsIn('/dynamic-all')
      await one.emit({ namespace: '/dynamic-all' }, 'hello', 1, '2', { three: [4, null] })
      await arrived('/dynamic-all')
      const hello = ['hello', 1, '2', { three: [4, null] }]
      assert.deepEqual(await all(), [[hello], [hello], [hello]])
    })

    it('send what JSON and binary attachments can represent as Socket.IO sends it to its own clients', async () => {
      await clientsIn('/dynamic-values')
      const date = new Date(0)
      const big = Buffer.alloc(3 * 2 ** 20, 7)
      await one.emit({ namespace: '/dynamic-values' }, 'values', date, Buffer.from('bytes'), '\0b0', {
        at: ['\0', big],
      })
      await arrived('/dynamic-values')
      const received = await all()
      assert.deepEqual(received[0], received[1])
      assert.deepEqual(received[0], received[2])
      const [, text, bytes, odd, nested] = received[0]![0] as [string, string, Uint8Array, string, { at: unknown[] }]
      assert.equal(text, date.toJSON())
      assert.equal(Buffer.from(bytes).toString(), 'bytes')
      assert.equal(odd, '\0b0')
      assert.equal(nested.at[0], '\0')
      assert.ok(big.equals(nested.at[1] as Uint8Array))
    })

    it('broadcast to rooms, except others', async () => {
      const namespace = '/dynamic-rooms'
      await clientsIn(namespace)
      await Promise.all([one.join('a', 'red', 'blue'), two.join('b', 'red'), three.join('c', 'green')])
      await two.emit({ namespace, rooms: ['red', 'green'] }, 'red or green')
      await two.emit({ namespace, rooms: ['red'], except: ['blue'] }, 'red, not blue')
      await two.emit({ namespace, except: ['red'] }, 'not red')
      await two.emit({ namespace, rooms: ['nobody is there'] }, 'never')
      await arrived(namespace, two)
      assert.deepEqual(await all(), [
        [['red or green']],
        [['red or green'], ['red, not blue']],
        [['red or green'], ['not red']],
      ])
    })

    it('broadcast to their own clients alone with the flag local', async () => {
      const namespace = '/dynamic-local'
      await clientsIn(namespace)
      await one.emit({ namespace, local: true }, 'here')
      await arrived(namespace)
      assert.deepEqual(await all(), [[['here']], [], []])
      assert.deepEqual(await two.emitWithAck({ namespace, local: true }, LONG_MS, 'question'), { answers: ['b'] })
    })

    it('broadcast volatile events', async () => {
      const namespace = '/dynamic-volatile'
      await clientsIn(namespace)
      await one.emit({ namespace, volatile: true }, 'perhaps')
      await arrived(namespace)
      assert.deepEqual(await all(), [[['perhaps']], [['perhaps']], [['perhaps']]])
    })

    it('broadcast from a socket to all others', async () => {
      const namespace = '/dynamic-others'
      await clientsIn(namespace)
      await two.broadcastFrom('b', 'from b')
      await arrived(namespace, two)
      assert.deepEqual(await all(), [[['from b']], [], [['from b']]])
    })

    it('keep one order for the clients of all, whoever emits', async () => {
      const namespace = '/dynamic-order'
      await clientsIn(namespace)
      const emits = cluster.nodes.flatMap((node, server) =>
        Array.from({ length: 50 }, (_, number) => node.emit({ namespace }, 'next', server, number)),
      )
      await Promise.all(emits)
      await Promise.all(cluster.nodes.map((node) => arrived(namespace, node)))
      const [a, b, c] = await all()
      assert.equal(a!.length, 150)
      assert.deepEqual(b, a)
      assert.deepEqual(c, a)
    })

    it('collect the answers of all clients', async () => {
      const namespace = '/dynamic-answers'
      await clientsIn(namespace)
      assert.deepEqual(await one.emitWithAck({ namespace }, LONG_MS, 'question'), { answers: ['a', 'b', 'c'] })
      await three.join('c', 'red')
      assert.deepEqual(await one.emitWithAck({ namespace, rooms: ['red'] }, LONG_MS, 'question'), { answers: ['c'] })
      assert.deepEqual(await one.emitWithAck({ namespace, rooms: ['nobody'] }, LONG_MS, 'question'), { answers: [] })
      await two.connect('mute', namespace)
      const late = await one.emitWithAck({ namespace }, 300, 'question')
      assert.deepEqual(late, { error: 'operation has timed out, 3 came' })
    })

    it('fetch, join, leave and disconnect sockets of all', async () => {
      const namespace = '/dynamic-sockets'
      await clientsIn(namespace)
      await one.socketsJoin({ namespace }, 'all', 'red')
      await one.socketsLeave({ namespace, rooms: ['red'] }, 'red')
      assert.deepEqual(await one.fetchSockets({ namespace }), [
        { name: 'a', rooms: ['all'], isRemote: false },
        { name: 'b', rooms: ['all'], isRemote: true },
        { name: 'c', rooms: ['all'], isRemote: true },
      ])
      await three.join('c', 'green')
      assert.deepEqual(
        (await one.fetchSockets({ namespace, rooms: ['green'] })).map(({ name }) => name),
        ['c'],
      )
      assert.deepEqual(
        (await one.fetchSockets({ namespace, local: true })).map(({ name }) => name),
        ['a'],
      )
      await two.disconnectSockets({ namespace, except: ['green'] })
      assert.deepEqual(
        (await two.fetchSockets({ namespace })).map(({ name }) => name),
        ['c'],
      )
    })

    it('emit to each other, and collect answers', async () => {
      const namespace = '/chat'
      await one.serverSideEmit(namespace, 'told', 'news', 1, Buffer.from('bytes'))
      for (const node of [two, three]) {
        const [event, news, number, bytes] = (await node.asksReceived(1))[0] as [string, string, number, Uint8Array]
        assert.deepEqual([event, news, number, Buffer.from(bytes).toString()], ['told', 'news', 1, 'bytes'])
      }
      assert.deepEqual(await one.asked(), [], 'not to itself')
      const answer = 'answer to question'
      assert.deepEqual(await one.serverSideEmitWithAck(namespace, 'asked', 'question'), { answers: [answer, answer] })
    })

    it('count the servers of a dynamic namespace, which come and go', async () => {
      const namespace = '/dynamic-count'
      await one.connect('a', namespace)
      assert.equal(await one.serverCount(namespace), 1)
      assert.deepEqual(await one.serverSideEmitWithAck(namespace, 'asked', 'alone'), { answers: [] })
      await two.connect('b', namespace)
      await one.knows(2, namespace)
      assert.deepEqual(
        (await two.fetchSockets({ namespace })).map(({ name }) => name),
        ['a', 'b'],
      )
    })
  })
