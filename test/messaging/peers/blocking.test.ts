import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import test, { type TestContext } from 'node:test'
import { openPeers, type PeerAddress, type PeerGroup, type Peers } from '../../../src/messaging/index.ts'
import type { Alarm } from '../../../src/messaging/message-link.ts'
import { Hub, type HubOwner } from '../../../src/messaging/peers/hub.ts'
import { peerLimits } from '../../../src/messaging/peers/limits.ts'
import type { PeerChannel } from '../../../src/messaging/peers/peer-channel.ts'
import { native } from '../../../src/native/index.ts'
import { type MemoryLink, memoryLinks } from '../../support/memory-links.ts'
import { Mesh } from './mesh.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
const timeoutMs = 60_000

const bytesOf = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => index * 7 + seed + (index >> 8))

test('messages between two processes that both spin arrive with what was in them, in order, also longer than window and ring', {
  skip,
}, async (t) => {
  const script = new URL('fixtures/echoer-main.js', import.meta.url)
  const child = fork(script, ['shm0', '127.0.0.1'])
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [where] = (await once(child, 'message')) as [PeerAddress]
  await using peers = openPeers({ number: 0, device: 'shm0' })
  const peer = await peers.connect({ ...where, timeoutMs })
  for (const [seed, length] of [1, 5, 1000, 16_385, 70_001, 700_003].entries()) {
    const message = bytesOf(length, seed)
    peer.sendSync(message, { timeoutMs })
    assert.deepEqual(
      peer.receiveSync({ timeoutMs }),
      message.map((byte) => byte + 1),
    )
  }
  // Several under way, and what has come before anybody asks for it.
  const lengths = [3, 200, 1, 4000, 9]
  for (const [seed, length] of lengths.entries()) peer.sendSync(bytesOf(length, seed), { timeoutMs })
  for (const [seed, length] of lengths.entries())
    assert.deepEqual(
      peer.receiveSync({ timeoutMs }),
      bytesOf(length, seed).map((byte) => byte + 1),
    )
  // Nothing is left to come.
  assert.throws(() => peer.receiveSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
  peer.sendSync(new Uint8Array(0), { timeoutMs })
  assert.deepEqual(peer.receiveSync({ timeoutMs }), new Uint8Array(0))
  await peer.disconnect()
  assert.deepEqual(await exited, [0, null])
})

test('what was given to another peer in this turn leaves while a thread waits', { skip }, async (t) => {
  const script = new URL('fixtures/relay-main.js', import.meta.url)
  const relay = async (...numbers: number[]): Promise<PeerAddress> => {
    const child = fork(script, ['shm0', '127.0.0.1', ...numbers.map(String)])
    t.after(() => child.kill('SIGKILL'))
    return ((await once(child, 'message')) as [PeerAddress])[0]
  }
  // What 2 gets of 0 it gives to 1, which gives it to 0.
  const second = await relay(2, 0, 1)
  const first = await relay(1, 2, 0, second.port)
  await using peers = openPeers({ number: 0, device: 'shm0' })
  const [from, to] = [await peers.connect({ ...first, timeoutMs }), await peers.connect({ ...second, timeoutMs })]
  await to.send(Uint8Array.of(6))
  assert.deepEqual(from.receiveSync({ timeoutMs: 20_000 }), Uint8Array.of(6))
})

test('a thread that waits for a peer that was killed is told', { skip }, async (t) => {
  const script = new URL('fixtures/echoer-main.js', import.meta.url)
  const ways: readonly ((peer: Awaited<ReturnType<ReturnType<typeof openPeers>['connect']>>) => void)[] = [
    (peer) => peer.receiveSync({ timeoutMs }),
    (peer) => peer.sendSync(new Uint8Array(8_000_000), { timeoutMs }),
  ]
  for (const wait of ways) {
    const child = fork(script, ['shm0', '127.0.0.1'])
    t.after(() => child.kill('SIGKILL'))
    const [where] = (await once(child, 'message')) as [PeerAddress]
    await using peers = openPeers({ number: 0, device: 'shm0', link: { keepAliveMs: 50 } })
    const peer = await peers.connect({ ...where, timeoutMs })
    child.kill('SIGSTOP')
    // Nothing of this process runs from now on but the wait.
    const killer = fork(new URL('../../support/killer-main.js', import.meta.url), [String(child.pid), '300'])
    t.after(() => killer.kill('SIGKILL'))
    await once(killer, 'message')
    assert.throws(() => wait(peer), { code: 'ERR_AETHER_PEER_LOST', peer: 1 })
  }
})

test('the time of a thread that waits is over also where something comes all the time', () => {
  const owner: HubOwner = { attached: () => {}, detached: () => {}, merged: () => {}, turnedAway: () => {} }
  const hub = new Hub(0, peerLimits({}), owner)
  const busy = { link: { poll: () => 1 }, pump: () => {} } as unknown as PeerChannel
  let looks = 0
  const enough = (): boolean => looks++ > 50_000_000
  assert.throws(() => hub.spin(enough, [busy], 5, () => 'nothing'), { code: 'ERR_AETHER_TIMEOUT' })
})

test('what combines must not wait for peers itself', async () => {
  await using mesh = await Mesh.open(2)
  const groups = mesh.groups()
  const combine = (): number => {
    groups[0]!.barrierSync({ timeoutMs: 100 })
    return 0
  }
  const calls = groups.map((group) => group.allReduce(new Float64Array(4), { combine }))
  const outcome = (await Promise.allSettled(calls))[0]!
  assert.equal(outcome.status, 'rejected')
  assert.match(JSON.stringify([String(outcome.reason), String(outcome.reason.cause)]), /must not wait for peers/)
})

/** Two that are connected over plain memory, in which nothing takes longer than one look. */
async function pair(): Promise<{
  readonly peers: readonly [Peers, Peers]
  readonly links: readonly [MemoryLink, MemoryLink]
}> {
  const peers = [openPeers({ number: 0 }), openPeers({ number: 1 })] as const
  const links = memoryLinks({ ringBytes: 4096, delayTurnsMax: 0 })
  await Promise.all(peers.map((each, number) => each.attach(links[number]!)))
  return { peers, links }
}

/** What has left one end arrives at the other, without a turn of the event loop. */
const arrive = (link: MemoryLink): void => {
  for (let looks = 0; looks < 10; looks += 1) link.poll()
}

/** Nothing comes at the left end but in the look at which the clock is read, and then the time is over. */
function comeAtTheLast(t: TestContext, [link]: readonly [MemoryLink, MemoryLink]): void {
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  const poll = link.poll.bind(link)
  let looks = 0
  t.mock.method(link, 'poll', () => {
    looks += 1
    if (looks % 256 !== 0) return 0
    nowMs += 1000
    return poll()
  })
}

test('a message that comes in the very look that finds the time over is received', async (t) => {
  const { peers, links } = await pair()
  comeAtTheLast(t, links)
  peers[1].get(0)!.sendSync(Uint8Array.of(42))
  assert.deepEqual(peers[0].get(1)!.receiveSync({ timeoutMs: 100 }), Uint8Array.of(42))
  t.mock.restoreAll()
  await Promise.all(peers.map((each) => each.close()))
})

test('a thread that waits arms its links, looks once more, and sleeps until one of them rings', async (t) => {
  const { peers, links } = await pair()
  const [readEnd, writeEnd] = native.createPipe()
  t.after(() => [readEnd, writeEnd].map((end) => native.closeDescriptor(end)))
  let looks = 0
  let looksAfterArming = 0
  const poll = links[0].poll.bind(links[0])
  t.mock.method(links[0], 'poll', () => {
    looks += 1
    return poll()
  })
  const alarm: Alarm = {
    descriptor: readEnd,
    rang: () => {
      looksAfterArming = looks
      native.drainPipe(readEnd)
      peers[1].get(0)!.sendSync(Uint8Array.of(42))
    },
  }
  links[0].arm = () => {
    looks = 0
    native.ringPipe(writeEnd)
    return alarm
  }
  assert.deepEqual(peers[0].get(1)!.receiveSync({ timeoutMs }), Uint8Array.of(42))
  assert.equal(looksAfterArming, 1)
  await Promise.all(peers.map((each) => each.close()))
})

test('a collective that is done in the very look that finds the time over is done, and its group goes on', async (t) => {
  const { peers, links } = await pair()
  const [here, there] = peers.map((each) => each.group([0, 1])) as [PeerGroup, PeerGroup]
  comeAtTheLast(t, links)
  there.broadcastSync(Int32Array.of(5), { root: 1 })
  assert.deepEqual(here.broadcastSync(new Int32Array(1), { root: 1, timeoutMs: 100 }), Int32Array.of(5))
  assert.equal(here.failure, undefined)
  t.mock.restoreAll()
  await Promise.all(peers.map((each) => each.close()))
})

test('a message longer than the ring has left when sendSync returns', async (t) => {
  const { peers, links } = await pair()
  // The other end takes what is sent, as another thread would.
  const poll = links[0].poll.bind(links[0])
  t.mock.method(links[0], 'poll', () => {
    links[1].poll()
    return poll()
  })
  peers[0].get(1)!.sendSync(bytesOf(50_000, 1))
  arrive(links[1])
  assert.equal(peers[1].get(0)!.waiting, 1)
  await Promise.all(peers.map((each) => each.close()))
})

test('the others of a group are told why when a blocking call that gave up throws', async () => {
  const { peers, links } = await pair()
  const groups = peers.map((each) => each.group([0, 1])) as [PeerGroup, PeerGroup]
  assert.throws(() => groups[0].barrierSync({ timeoutMs: 0 }), { code: 'ERR_AETHER_TIMEOUT' })
  arrive(links[1])
  assert.match(String(groups[1].failure), /rank 0 gave up: barrier .* did not finish within 0 ms/)
  await Promise.all(peers.map((each) => each.close()))
})

type BlockingCall = (peers: Peers, group: PeerGroup) => unknown
const blockingCalls: Readonly<Record<string, BlockingCall>> = {
  receiveSync: (peers) => peers.get(1)!.receiveSync({ timeoutMs: 10 }),
  sendSync: (peers) => peers.get(1)!.sendSync(Uint8Array.of(1), { timeoutMs: 10 }),
  barrierSync: (_, group) => group.barrierSync({ timeoutMs: 10 }),
  shrinkSync: (_, group) => group.shrinkSync({ timeoutMs: 10 }),
}
const add = (left: number, right: number): number => left + right

for (const [what, call] of Object.entries(blockingCalls)) {
  for (const when of ['while a call begins, by what had come before', 'when the bytes come'] as const) {
    test(`what combines is refused ${what} before anything is begun: ${when}`, async () => {
      const { peers } = await pair()
      const [here, there] = peers.map((each) => each.group([0, 1])) as [PeerGroup, PeerGroup]
      const [asked, other] = peers.map((each) => each.group([0, 1])) as [PeerGroup, PeerGroup]
      const refused: unknown[] = []
      const combine = (left: number, right: number): number => {
        try {
          call(peers[0], asked)
        } catch (error) {
          refused.push(error)
        }
        return left + right
      }
      const own = (): Promise<unknown> => here.reduce(Int32Array.of(1), { combine })
      const theirs = (): Promise<unknown> => there.reduce(Int32Array.of(2), { combine: add })
      const before = when === 'when the bytes come' ? own() : theirs()
      await peers[1].get(0)!.send(Uint8Array.of(42))
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
      const after = when === 'when the bytes come' ? theirs() : own()
      await Promise.all([before, after])
      assert.equal(refused.length, 1)
      assert.match(String(refused[0]), /must not wait for peers/)
      // Nothing was taken, sent, or begun, and no group has ended.
      assert.deepEqual(await peers[0].get(1)!.receive(), Uint8Array.of(42))
      assert.equal(peers[1].get(0)!.waiting, 0)
      const sums = [asked, other].map((group) => group.allReduce(Int32Array.of(group.rank + 1), 'sum'))
      assert.deepEqual(await Promise.all(sums), [Int32Array.of(3), Int32Array.of(3)])
      await Promise.all(peers.map((each) => each.close()))
    })
  }
}
