import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import test from 'node:test'
import { openPeers, type Peer, type PeerAddress, type PeerError } from '../../../src/messaging/index.ts'
import type { SimulationOptions } from '../../../src/providers/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { type MemoryLink, memoryLinks } from '../../support/memory-links.ts'
import { callAll, rangeOf } from './call-all.ts'
import { SimulatedMesh } from './simulated-mesh.ts'

/** Two that connect to each other at the same moment: one connection stays, and everybody who waited is told of it. */

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
const device = 'shm0'
const address = '127.0.0.1'

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

async function talk(one: Peer, other: Peer): Promise<void> {
  await Promise.all([one.send(Uint8Array.of(1)), other.send(Uint8Array.of(2))])
  assert.deepEqual(await Promise.all([one.receive(), other.receive()]), [Uint8Array.of(2), Uint8Array.of(1)])
}

/** Links and turns of one seed. */
async function collide(seed: number, count: number): Promise<void> {
  const random = new Random(seed)
  const pair = [openPeers({ number: 0 }), openPeers({ number: 1 })] as const
  const links: (readonly [MemoryLink, MemoryLink])[] = rangeOf(count).map((index) =>
    memoryLinks({ seed: seed * 10 + index, delayTurnsMax: random.below(6) }),
  )
  const attached = links.flatMap((ends) =>
    ends.map(async (link, side) => {
      await turns(random.below(12))
      return pair[side]!.attach(link)
    }),
  )
  const peers = await Promise.all(attached)
  for (const [index, peer] of peers.entries()) {
    const side = index % 2
    assert.equal(peer, pair[side]!.get(1 - side), `seed ${seed}: everybody is given the one that is there`)
    assert.equal(pair[side]!.lastError, undefined, `seed ${seed}`)
  }
  await talk(peers[0]!, peers[1]!)
  await turns(100)
  assert.equal(links.flat().filter((link) => link.open).length, 2, `seed ${seed}: one connection stays`)
  await Promise.all(pair.map((side) => side.close()))
}

test('connections between the same two at once, over wires of any delay: one stays, and all who wait get it', async () => {
  for (const seed of rangeOf(200)) await collide(seed, 2 + (seed % 3))
})

test('one of the connections breaks while they collide: either the other stays, or all are told', async () => {
  for (const seed of rangeOf(200)) {
    const random = new Random(seed)
    const pair = [openPeers({ number: 0 }), openPeers({ number: 1 })] as const
    const links = [0, 1].map((index) => memoryLinks({ seed: seed * 10 + index, delayTurnsMax: random.below(6) }))
    const attached = links.flatMap((ends) => ends.map((link, side) => pair[side]!.attach(link)))
    const outcomes = Promise.allSettled(attached)
    await turns(random.below(24))
    for (const end of links[0]!) {
      end.cut()
      await turns(random.below(4))
    }
    await outcomes
    await turns(100)
    const [left, right] = [pair[0].get(1), pair[1].get(0)]
    assert.equal(left === undefined, right === undefined, `seed ${seed}: both know the other, or neither does`)
    if (left !== undefined && right !== undefined) await talk(left, right)
    // Who was told that it is connected and is not any more was told of that, too.
    for (const outcome of await outcomes)
      if (outcome.status === 'fulfilled' && !outcome.value.connected) await outcome.value.gone
    await Promise.all(pair.map((side) => side.close()))
  }
})

const rough: SimulationOptions = {
  network: { jitterNs: 30_000, tail: 0.1, tailNs: 50_000, loss: 0.01, duplicate: 0.05, reorder: 0.05 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
}

for (const seed of rangeOf(12)) {
  test(`everybody connects with everybody from both sides, over a simulated network, seed ${seed}`, async (t) => {
    const mesh = await SimulatedMesh.open(t, 3, seed, rough, { linksEach: 2 })
    for (const peers of mesh.peers) {
      assert.equal(peers.lastError, undefined)
      assert.equal(peers.all.length, 2)
    }
    await mesh.drive(callAll(mesh.groups(), 30), 60_000)
    await mesh.drive(new Promise((resolve) => setTimeout(resolve, 100)), 200)
    for (const number of rangeOf(3)) assert.equal(mesh.openLinksOf(number), 2)
    await mesh.close()
  })
}

test('two that call `connect` at once over shared memory: each `connect` and each `accept` gives the same peer', {
  skip,
}, async () => {
  for (const round of rangeOf(20)) {
    await using one = openPeers({ number: 3, device })
    await using other = openPeers({ number: 8, device })
    const [here, there] = await Promise.all([one.listen({ address }), other.listen({ address })])
    const late = async () => {
      await turns(round * 3)
      return other.connect(here)
    }
    const peers = await Promise.all([one.connect(there), one.accept(), late(), other.accept()])
    assert.deepEqual(
      peers.map(({ number }) => number),
      [8, 8, 3, 3],
    )
    assert.equal(peers[0], peers[1])
    assert.equal(peers[2], peers[3])
    assert.deepEqual([one.lastError, other.lastError], [undefined, undefined])
    await talk(peers[0], peers[2])
    await Promise.all([one.close(), other.close()])
  }
})

/** What a process says next. */
async function heard<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, 'message')) as [T]
  return message
}

test('processes that connect to each other at the same moment, again and again', { skip }, async (t) => {
  const script = new URL('fixtures/collider-main.js', import.meta.url)
  const children = [0, 1].map((number) => fork(script, [String(number)]))
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const [one, other] = await Promise.all(children.map((child) => heard<PeerAddress[]>(child)))
  const outcomes = children.map((child) => heard<unknown>(child))
  children[0]!.send(other!)
  children[1]!.send(one!)
  for (const outcome of await Promise.all(outcomes)) assert.deepEqual(outcome, { met: one!.length })
})

// ---- turned away
// -------------------------------------------------------------------------------------------------------------------

test('one that is turned away is told so by `connect` itself, with the reason, and never was connected', {
  skip,
}, async () => {
  await using host = openPeers({ number: 5, device, peersMax: 1 })
  const where = await host.listen({ address })
  await using first = openPeers({ number: 4, device })
  await first.connect(where)
  for (const number of [2, 9]) {
    await using late = openPeers({ number, device })
    await assert.rejects(late.connect(where), (error: PeerError) => {
      assert.equal(error.code, 'ERR_AETHER_PEERS_LIMIT')
      assert.equal(error.peer, 5)
      assert.match(error.message, /peer 5 turned this one away: .*peersMax/)
      return true
    })
    assert.deepEqual(late.all, [])
    await using same = openPeers({ number: 4, device })
    await assert.rejects(same.connect(where), {
      code: 'ERR_AETHER_PEER_PROTOCOL',
      message: /peer 5 turned this one away: its number, 4, is taken/,
    })
    await using odd = openPeers({ number, device, eagerBytes: 1 })
    await assert.rejects(odd.connect(where), { code: 'ERR_AETHER_PEER_PROTOCOL', message: /eagerBytes/ })
    await Promise.all([late.close(), same.close(), odd.close()])
  }
  assert.deepEqual(
    host.all.map(({ number }) => number),
    [4],
  )
  await Promise.all([host.close(), first.close()])
})
