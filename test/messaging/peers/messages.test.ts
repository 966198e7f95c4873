import assert from 'node:assert/strict'
import test from 'node:test'
import { openPeers } from '../../../src/messaging/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { memoryLinks } from '../../support/memory-links.ts'
import { Mesh } from './mesh.ts'

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

test('messages of any length arrive in order, both ways at once, also longer than the window and the ring', async () => {
  await using mesh = await Mesh.open(2, { delayTurnsMax: 2 }, { messageWindowBytes: 8192 })
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  const random = new Random(7)
  const lengths = Array.from({ length: 300 }, (_, index) => (index % 50 === 49 ? 60_000 : random.below(900)))
  const message = (index: number) => new Uint8Array(lengths[index]!).fill(index)
  await Promise.all(
    [left, right].flatMap((peer) => [
      (async () => {
        for (const index of lengths.keys()) await peer.send(message(index))
      })(),
      (async () => {
        for (const index of lengths.keys()) assert.deepEqual(await peer.receive(), message(index))
      })(),
    ]),
  )
})

test('a peer that does not receive holds the sender back', async () => {
  await using mesh = await Mesh.open(2, {}, { messageWindowBytes: 4096 })
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  let sent = 0
  const sends = Array.from({ length: 200 }, () => left.send(new Uint8Array(100)).then(() => sent++))
  const empty = Array.from({ length: 200 }, () => left.send(new Uint8Array(0)).then(() => sent++))
  await turns(200)
  assert.ok(sent > 5 && sent <= 4096 / 164, `${sent} left`)
  for (let received = 0; received < 400; received += 1)
    assert.equal((await right.receive()).length, received < 200 ? 100 : 0)
  await Promise.all([...sends, ...empty])
})

test('who waits for a message and gives up leaves it to the next', async () => {
  await using mesh = await Mesh.open(2)
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  const controller = new AbortController()
  const waiting = right.receive({ signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  await left.send(Uint8Array.of(1, 2))
  assert.deepEqual(await right.receive(), Uint8Array.of(1, 2))
  assert.throws(() => right.receiveSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
  await left.send(Uint8Array.of(3))
  assert.deepEqual(await right.receive(), Uint8Array.of(3))
})

test('a message whose receiver gave up in its middle is counted once: the sender is held back as before', async () => {
  await using mesh = await Mesh.open(2, {}, { messageWindowBytes: 4096 })
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  for (let round = 0; round < 8; round += 1) {
    const sent = left.send(new Uint8Array(5000))
    await turns(20)
    // More than the window: that somebody waits lets the rest come.
    const controller = new AbortController()
    const waiting = right.receive({ signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    await sent
    await turns(20)
    assert.equal((await right.receive()).length, 5000)
  }
  let sent = 0
  const sends = Array.from({ length: 200 }, () => left.send(new Uint8Array(100)).then(() => sent++))
  await turns(200)
  assert.ok(sent <= 4096 / 164, `${sent} left`)
  for (let received = 0; received < 200; received += 1) await right.receive()
  await Promise.all(sends)
})

test('a peer that goes away: messages end, in order or with the reason, and it is noted', async () => {
  await using mesh = await Mesh.open(3)
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  await left.send(Uint8Array.of(5))
  const received = (async () => {
    const all: number[] = []
    for await (const message of right.messages()) all.push(...message)
    return all
  })()
  await left.disconnect()
  assert.deepEqual(await received, [5])
  await right.gone
  assert.equal(right.connected, false)
  await assert.rejects(right.send(Uint8Array.of(1)), { code: 'ERR_AETHER_PEER_LOST' })

  const other = mesh.peers[2]!.get(0)!
  const waiting = other.receive()
  mesh.kill(0)
  await assert.rejects(waiting, { code: 'ERR_AETHER_PEER_LOST', peer: 0, message: /is lost/ })
  assert.match(String(other.lastError), /peer 0 is lost/)
  assert.match(String(mesh.peers[2]!.lastError), /peer 0 is lost/)
})

test('two of the same number, limits that differ and more than peersMax are turned away, with the reason at the one that does', async () => {
  await using host = openPeers({ number: 0, peersMax: 1 })
  const meet = async (guest: ReturnType<typeof openPeers>) => {
    const [here, there] = memoryLinks()
    const both = await Promise.allSettled([host.attach(here), guest.attach(there)])
    return both.map((one) => (one.status === 'fulfilled' ? 'connected' : String(one.reason)))
  }
  await using same = openPeers({ number: 0 })
  assert.match((await meet(same))[0]!, /its number, 0, is taken/)
  await using odd = openPeers({ number: 1, requestsMax: 3 })
  assert.match((await meet(odd))[0]!, /requestsMax and eagerBytes are 3/)
  await using first = openPeers({ number: 1 })
  assert.deepEqual(await meet(first), ['connected', 'connected'])
  await using second = openPeers({ number: 2 })
  assert.match((await meet(second))[0]!, /peer 2 was turned away: peersMax \(1\) is reached; raise it/)
  assert.match(String(host.lastError), /peersMax/)
  assert.deepEqual(
    host.all.map(({ number }) => number),
    [1],
  )
})

test('limits and numbers that cannot be are refused', () => {
  for (const options of [
    { number: -1 },
    { number: 1.5 },
    { number: 0, requestsMax: 0 },
    { number: 0, messageWindowBytes: 5 },
  ])
    assert.throws(() => openPeers(options), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})
