import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { openPeers, type Peer, type Peers, type PeersOptions } from '../../../src/messaging/index.ts'
import { Mesh } from './mesh.ts'

type Options = Omit<PeersOptions, 'number' | 'device'>

/** Two in this process, over shared memory, until the test has ended, well or badly. */
async function pair(t: TestContext, options: Options = {}): Promise<[Peers, Peers]> {
  const both = [0, 1].map((number) => openPeers({ number, device: 'shm0', ...options })) as [Peers, Peers]
  t.after(() => Promise.all(both.map((peers) => peers.close())))
  const addresses = await Promise.all(both.map((peers) => peers.listen({ address: '127.0.0.1' })))
  await Promise.all(both.map((peers) => peers.connectAll(addresses)))
  return both
}

/** How many bytes come until it is over. */
async function bytesOf(peer: Peer): Promise<number> {
  let bytes = 0
  for await (const message of peer.messages()) bytes += message.length
  return bytes
}

test('messages that come while a peer is disconnected do not make a loss of it, at either end', async () => {
  await using mesh = await Mesh.open(2, {}, { messageWindowBytes: 4096 })
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  const receives = Array.from({ length: 30 }, () => left.receive().catch((error: Error) => error))
  const sends = Array.from({ length: 20 }, () => right.send(new Uint8Array(1000)).catch((error: Error) => error))
  await left.disconnect()
  for (const error of await Promise.all(receives))
    if (error instanceof Error) assert.match(error.message, /peer 1 (has|was) disconnected/)
  for (const error of await Promise.all(sends))
    if (error instanceof Error) assert.match(error.message, /peer 0 has disconnected/)
  await right.gone
  for (const peers of mesh.peers) assert.equal(peers.lastError, undefined)
})

test('what was given to `send` goes out before the connection ends; more is refused', async (t) => {
  const [left, right] = await pair(t)
  const received = bytesOf(right.get(0)!)
  const peer = left.get(1)!
  const lengths = [1 << 20, 0, 100_000]
  const sent = Promise.all(lengths.map((length) => peer.send(new Uint8Array(length))))
  const disconnected = peer.disconnect()
  await assert.rejects(peer.send(new Uint8Array(5)), {
    code: 'ERR_AETHER_PEER_LOST',
    message: /peer 1 was disconnected by this end/,
  })
  await Promise.all([sent, disconnected, peer.disconnect()])
  assert.equal(
    await received,
    lengths.reduce((sum, length) => sum + length),
  )
  for (const peers of [left, right]) {
    assert.equal(peers.lastError, undefined)
    await peers.close()
  }
})

test('closed in the turn in which room for what waits was found: all of it goes out', async (t) => {
  const [left, right] = await pair(t, { messageWindowBytes: 1 << 24 })
  const [there, here] = [left.get(1)!, right.get(0)!]
  const count = 12
  const sends = Array.from({ length: count }, () => there.send(new Uint8Array(400_000)))
  // What is in the ring is taken, so that the one who waits for room finds it, with more waiting behind.
  assert.throws(() => here.receiveSync({ timeoutMs: 3 }), { code: 'ERR_AETHER_TIMEOUT' })
  assert.throws(() => there.receiveSync({ timeoutMs: 3 }), { code: 'ERR_AETHER_TIMEOUT' })
  const closed = left.close()
  const received = bytesOf(here)
  await Promise.all([...sends, closed])
  assert.equal(await received, count * 400_000)
  await right.close()
})

test('a peer that does not receive what was sent is lost after closeTimeoutMs', async (t) => {
  const [left, right] = await pair(t, { link: { closeTimeoutMs: 100 } })
  const peer = left.get(1)!
  const sent = assert.rejects(peer.send(new Uint8Array(1 << 20)), {
    code: 'ERR_AETHER_PEER_LOST',
    message: /the peer did not take all messages within 100 ms/,
  })
  await peer.disconnect()
  await sent
  await Promise.all([left, right].map((peers) => peers.close()))
})

test('two that disconnect from each other while messages go both ways', async (t) => {
  const [left, right] = await pair(t)
  const ends = [left.get(1)!, right.get(0)!]
  const sends = ends.map((peer) => peer.send(new Uint8Array(100_000)))
  const received = ends.map((peer) => bytesOf(peer))
  await Promise.all(ends.map((peer) => peer.disconnect()))
  assert.deepEqual(
    await Promise.all(received),
    ends.map(() => 100_000),
  )
  await Promise.all(sends)
  for (const peers of [left, right]) {
    assert.equal(peers.lastError, undefined)
    await peers.close()
  }
})

test('a peer is disconnected in order while groups with it go on and on', async (t) => {
  const [left, right] = await pair(t, { link: { closeTimeoutMs: 5000 } })
  const loops = [left, right].flatMap((peers) =>
    Array.from({ length: 4 }, async () => {
      const group = peers.group()
      const data = new Uint8Array(1 << 20)
      for (;;) await group.broadcast(data, { root: 0 })
    }),
  )
  for (const loop of loops) loop.catch(() => {})
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
  await right.get(0)!.disconnect()
  for (const { status } of await Promise.allSettled(loops)) assert.equal(status, 'rejected')
  assert.deepEqual([left.lastError, right.lastError], [undefined, undefined])
  await Promise.all([left.close(), right.close()])
})
