import assert from 'node:assert/strict'
import test from 'node:test'
import { openPeers, type Peers } from '../../../src/messaging/index.ts'
import { memoryLinks } from '../../support/memory-links.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
const timeoutMs = 60_000
const address = '127.0.0.1'
const open = (number: number): Peers => openPeers({ number, device: 'shm0' })

test('who connects, sends and leaves before it is accepted has its messages received', { skip }, async () => {
  await using host = open(0)
  const where = await host.listen({ address })
  const guest = open(1)
  const peer = await guest.connect({ ...where, timeoutMs })
  await peer.send(Uint8Array.of(7))
  await guest.close()
  while (host.all.length > 0) await new Promise(setImmediate)
  const gone = await host.accept({ signal: AbortSignal.timeout(timeoutMs) })
  assert.equal(gone.number, 1)
  assert.equal(gone.connected, false)
  assert.deepEqual(await gone.receive(), Uint8Array.of(7))
  await assert.rejects(gone.receive(), { code: 'ERR_AETHER_PEER_LOST' })
  // Who leaves without a word is not worth letting in.
  const other = open(2)
  await other.connect({ ...where, timeoutMs })
  await other.close()
  while (host.all.length > 0) await new Promise(setImmediate)
  const accepting = host.accept()
  const third = open(3)
  await third.connect({ ...where, timeoutMs })
  assert.equal((await accepting).number, 3)
  await third.close()
})

test('of those that send and leave without being accepted, no more than peersMax are kept', { skip }, async () => {
  await using host = openPeers({ number: 0, device: 'shm0', peersMax: 2 })
  const where = await host.listen({ address })
  for (const number of [1, 2, 3]) {
    const guest = open(number)
    const peer = await guest.connect({ ...where, timeoutMs })
    await peer.send(Uint8Array.of(number))
    await guest.close()
    while (host.all.length > 0) await new Promise(setImmediate)
  }
  const kept = [await host.accept(), await host.accept()]
  assert.deepEqual(
    kept.map(({ number }) => number),
    [2, 3],
  )
})

test('connectAll beside a program that accepts: its peers are its own, others are accepted', { skip }, async () => {
  const contexts = [open(0), open(1), open(2)]
  const stranger = open(9)
  try {
    const addresses = await Promise.all(contexts.map((peers) => peers.listen({ address })))
    const accepted = contexts[0]!.accept({ signal: AbortSignal.timeout(timeoutMs) })
    const all = contexts.map((peers) => peers.connectAll(addresses, { timeoutMs }))
    await stranger.connect({ ...addresses[0]!, timeoutMs })
    await Promise.all(all)
    assert.equal((await accepted).number, 9)
    for (const peers of contexts) {
      assert.deepEqual(
        peers.all.map(({ number }) => number).filter((number) => number < 3),
        [0, 1, 2].filter((number) => number !== peers.number),
      )
      await assert.rejects(peers.accept({ signal: AbortSignal.timeout(1) }), { name: 'TimeoutError' })
    }
  } finally {
    for (const peers of [...contexts, stranger]) await peers.close()
  }
})

test('connectAll names who is missing, and who is where another should be', { skip }, async () => {
  const [zero, one, two] = [open(0), open(1), open(2)]
  try {
    const addresses = await Promise.all([zero, one, two].map((peers) => peers.listen({ address })))
    await assert.rejects(zero.connectAll(addresses, { timeoutMs: 20 }), {
      code: 'ERR_AETHER_TIMEOUT',
      message: /peer 1, 2 did not connect/,
    })
    const turned = [addresses[1]!, addresses[0]!, addresses[2]!]
    await assert.rejects(two.connectAll(turned, { timeoutMs }), {
      code: 'ERR_AETHER_INVALID_ARGUMENT',
      message: /peer [01] listens at 127\.0\.0\.1 port \d+, not peer [01]/,
    })
  } finally {
    for (const peers of [zero, one, two]) await peers.close()
  }
})

test('connectAll of a context that was closed is refused, also by who has nobody to connect to', async () => {
  const peers = open(0)
  await peers.close()
  const addresses = [1, 2].map((port) => ({ address, port }))
  await assert.rejects(peers.connectAll(addresses, { timeoutMs: 20 }), { code: 'ERR_AETHER_CLOSED' })
})

test('a link that cannot be attached is ended', async () => {
  const peers = open(0)
  const refused = memoryLinks()[0]
  assert.throws(() => peers.attach(refused, Number.NaN), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  assert.equal(refused.open, false)
  await peers.close()
  const late = memoryLinks()[0]
  assert.throws(() => peers.attach(late), { code: 'ERR_AETHER_CLOSED' })
  assert.equal(late.open, false)
})
