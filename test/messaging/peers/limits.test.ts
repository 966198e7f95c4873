import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import test from 'node:test'
import { inspect } from 'node:util'
import {
  connectLink,
  type LinkListener,
  listenLinks,
  type MessageLink,
  openPeers,
  type PeerError,
  type Peers,
  type PeersOptions,
} from '../../../src/messaging/index.ts'
import { memoryLinks } from '../../support/memory-links.ts'
import { Mesh } from './mesh.ts'

/** What a context of peers refuses, what it gives up waiting for, and that nothing of it stays behind. */

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
const address = '127.0.0.1'
const device = 'shm0'
const invalid = (argument: string) => ({ code: 'ERR_AETHER_INVALID_ARGUMENT', argument })

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

/** Descriptors of this process: queues and memory of shm have some. */
const descriptors = (): number => readdirSync('/proc/self/fd').length

/** Until no more are open than before; connections take each other down in some turns of both ends. */
async function untilClosed(before: number): Promise<void> {
  const deadline = performance.now() + 20_000
  while (descriptors() > before) {
    assert.ok(performance.now() < deadline, `${descriptors()} descriptors are open, and there were ${before}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Someone who lets links in and never says who it is. */
async function listenSilently(): Promise<{ listener: LinkListener; links: MessageLink[]; close(): void }> {
  const links: MessageLink[] = []
  const listener = await listenLinks({ device, address, onLink: (link) => links.push(link) })
  const close = (): void => {
    listener.close()
    for (const link of links) link.destroy()
  }
  return { listener, links, close }
}

for (const [argument, options] of [
  ['number', { number: Number.NaN }],
  ['number', { number: 2 ** 31 }],
  ['peersMax', { number: 0, peersMax: 0 }],
  ['peersMax', { number: 0, peersMax: 1.5 }],
  ['requestsMax', { number: 0, requestsMax: -1 }],
  ['eagerBytes', { number: 0, eagerBytes: Number.POSITIVE_INFINITY }],
  ['earlyGroupsMax', { number: 0, earlyGroupsMax: 0 }],
  ['messageWindowBytes', { number: 0, messageWindowBytes: 4095 }],
  ['messageBytesMax', { number: 0, messageBytesMax: 2 ** 30 + 1 }],
  ['greetingTimeoutMs', { number: 0, greetingTimeoutMs: 0 }],
] as const) {
  test(`openPeers refuses ${inspect(options)} by the name of ${argument}`, () => {
    assert.throws(() => openPeers(options), invalid(argument))
  })
}

test('rings, queue depths and times that cannot be are refused by name, and nothing is taken', { skip }, async () => {
  const before = descriptors()
  for (const [argument, link] of [
    ['ringBytes', { ringBytes: 1000 }],
    ['receives', { receives: 3 }],
    ['sends', { sends: 8193 }],
  ] as const)
    assert.throws(() => openPeers({ number: 0, device, link }), invalid(argument))
  await using peers = openPeers({ number: 2, device })
  for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const [here] = memoryLinks()
    assert.throws(() => peers.attach(here, timeoutMs), invalid('timeoutMs'))
    await assert.rejects(peers.connect({ address, port: 1, timeoutMs }), invalid('timeoutMs'))
    await assert.rejects(peers.connectAll([], { timeoutMs }), invalid('timeoutMs'))
  }
  await assert.rejects(peers.connectAll([{ address, port: 1 }]), invalid('addresses'))
  await assert.rejects(peers.connect({ address, port: 0 }), invalid('port'))
  await assert.rejects(peers.connect({ address, port: 65_536 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  assert.throws(() => peers.group([2, 2]), invalid('members'))
  assert.throws(() => peers.group([1]), invalid('members'))
  assert.throws(() => peers.group([2, 5]), { code: 'ERR_AETHER_PEER_UNKNOWN', peer: 5 })
  await untilClosed(before)
})

test('what is no message, or is longer than may be, is refused where it is sent, and the connection goes on', async () => {
  await using mesh = await Mesh.open(2, {}, { messageBytesMax: 1000 })
  const [left, right] = [mesh.peers[0]!.get(1)!, mesh.peers[1]!.get(0)!]
  for (const message of ['text', Float64Array.of(1), undefined, new Uint8Array(1001)] as Uint8Array[]) {
    await assert.rejects(left.send(message), invalid('message'))
    assert.equal((left.lastError as { argument?: string } | undefined)?.argument, 'message')
    assert.throws(() => left.sendSync(message), invalid('message'))
  }
  await left.send(new Uint8Array(1000).fill(3))
  assert.deepEqual(await right.receive(), new Uint8Array(1000).fill(3))
  assert.equal(left.connected, true)
})

test('queue depths and rings as short as they can be carry messages and collectives all the same', {
  skip,
}, async () => {
  const before = descriptors()
  const link = { ringBytes: 1024, receives: 4, sends: 16 }
  const all = [0, 1, 2].map((number) =>
    openPeers({ number, device, link, requestsMax: 1, eagerBytes: 1, messageWindowBytes: 4096 }),
  )
  const addresses = await Promise.all(all.map((peers) => peers.listen({ address })))
  await Promise.all(all.map((peers) => peers.connectAll(addresses)))
  const [left, right] = [all[0]!.get(2)!, all[2]!.get(0)!]
  const sending = (async () => {
    for (let length = 0; length < 20_000; length += 3333) await left.send(new Uint8Array(length).fill(length))
  })()
  for (let length = 0; length < 20_000; length += 3333)
    assert.deepEqual(await right.receive(), new Uint8Array(length).fill(length))
  await sending
  const groups = all.map((peers) => peers.group())
  const sums = await Promise.all(
    groups.map((group, rank) => group.allReduce(new Float64Array(999).fill(rank + 1), 'sum')),
  )
  for (const sum of sums) assert.deepEqual(sum, new Float64Array(999).fill(6))
  // The next is refused while one is under way, and not afterwards.
  const first = groups[0]!.barrier()
  await assert.rejects(groups[0]!.barrier(), invalid('requestsMax'))
  await Promise.all([first, groups[1]!.barrier(), groups[2]!.barrier()])
  await Promise.all(groups.map((group) => group.barrier()))
  await Promise.all(all.map((peers) => peers.close()))
  await untilClosed(before)
})

test('peers beyond the limit are turned away, the others go on, and a place that is free again is given', {
  skip,
}, async () => {
  const before = descriptors()
  await using host = openPeers({ number: 0, device, peersMax: 2 })
  const where = await host.listen({ address })
  const guests = [1, 2, 3, 4].map((number) => openPeers({ number, device }))
  const [one, two, three, four] = guests as [Peers, Peers, Peers, Peers]
  for (const guest of [one, two]) {
    await guest.connect(where)
    await host.accept()
  }
  for (const guest of [three, four]) {
    await assert.rejects(guest.connect(where), { code: 'ERR_AETHER_PEERS_LIMIT', peer: 0 })
    assert.equal(guest.get(0), undefined)
    while ((host.lastError as PeerError | undefined)?.peer !== guest.number) await turns(1)
    assert.equal((host.lastError as PeerError).code, 'ERR_AETHER_PEERS_LIMIT')
    assert.match(String(host.lastError), new RegExp(`peer ${guest.number} was turned away: .*peersMax`))
  }
  assert.deepEqual(
    host.all.map(({ number }) => number),
    [1, 2],
  )
  await one.get(0)!.send(Uint8Array.of(1))
  assert.deepEqual(await host.get(1)!.receive(), Uint8Array.of(1))
  const place = host.get(1)!
  await one.close()
  await place.gone
  const [accepted, joined] = await Promise.all([host.accept(), three.connect(where)])
  assert.deepEqual([accepted.number, joined.number], [3, 0])
  await Promise.all([host.close(), ...guests.map((guest) => guest.close())])
  await untilClosed(before)
})

test('one that connects and never says who it is is given up, and no more of them than peersMax wait', {
  skip,
}, async () => {
  const before = descriptors()
  await using host = openPeers({ number: 0, device, peersMax: 2, greetingTimeoutMs: 300 })
  const where = await host.listen({ address })
  const ends: Promise<Error | undefined>[] = []
  for (let count = 0; count < 3; count += 1) {
    const link = await connectLink({ ...where, device })
    link.onMessage = () => {}
    ends.push(
      new Promise((resolve) => {
        link.onEnd = resolve
      }),
    )
  }
  await ends[2]
  const refused = host.lastError
  assert.match(String(refused), /turned away, because 2 have connected without identifying themselves; see peersMax/)
  await Promise.all(ends)
  while (host.lastError === refused) await turns(1)
  assert.match(String(host.lastError), /did not identify itself within 300 ms/)
  await using guest = openPeers({ number: 1, device })
  const [accepted] = await Promise.all([host.accept(), guest.connect(where)])
  assert.equal(accepted.number, 1)
  await Promise.all([host.close(), guest.close()])
  await untilClosed(before)
})

test('connecting to one that never says who it is ends in time, by its signal, and with the context', {
  skip,
}, async () => {
  const before = descriptors()
  const silent = await listenSilently()
  const where = { address, port: silent.listener.port }
  await using peers = openPeers({ number: 0, device })
  await assert.rejects(peers.connect({ ...where, timeoutMs: 200 }), { code: 'ERR_AETHER_TIMEOUT' })
  assert.equal((peers.lastError as { code?: string } | undefined)?.code, 'ERR_AETHER_TIMEOUT')

  // On a busy machine the first may not have come that far.
  const known = silent.links.length
  const controller = new AbortController()
  const connecting = peers.connect({ ...where, signal: controller.signal })
  while (silent.links.length === known) await turns(1)
  await turns(20)
  controller.abort(new Error('enough'))
  await assert.rejects(connecting, /enough/)
  assert.match(String(peers.lastError), /enough/)

  // Closed while it connects, and while it waits to be told who that is.
  for (const wait of [0, 50]) {
    const closing = openPeers({ number: 0, device })
    const tried = closing.connect(where)
    const listening = closing.listen({ address })
    const outcomes = Promise.allSettled([tried, listening])
    await turns(wait)
    await closing.close()
    const [connected, listened] = await outcomes
    assert.equal((connected as PromiseRejectedResult).reason.code, 'ERR_AETHER_CLOSED')
    if (wait === 0) assert.equal((listened as PromiseRejectedResult).reason.code, 'ERR_AETHER_CLOSED')
  }
  silent.close()
  await peers.close()
  await untilClosed(before)
})

test('a link that has ended before it was attached says why', async () => {
  await using peers = openPeers({ number: 0 })
  const [here, there] = memoryLinks()
  here.cut()
  await assert.rejects(peers.attach(here), /the wire was cut/)
  assert.match(String(peers.lastError), /the wire was cut/)
  there.destroy()
  assert.deepEqual(peers.all, [])
})

test('whoever waits for a peer is told when the context is closed, and nothing begins afterwards', {
  skip,
}, async () => {
  const peers = openPeers({ number: 0, device } satisfies PeersOptions)
  const [here, there] = memoryLinks()
  const outcomes = Promise.allSettled([peers.accept(), peers.attach(here)])
  await peers.close()
  for (const outcome of await outcomes) assert.equal(outcome.status, 'rejected')
  const closed = { code: 'ERR_AETHER_CLOSED' }
  await assert.rejects(peers.accept(), closed)
  await assert.rejects(peers.listen(), closed)
  await assert.rejects(peers.connect({ address, port: 1 }), closed)
  assert.throws(() => peers.attach(there), closed)
  assert.throws(() => peers.group(), closed)
  there.destroy()
})

test('a reason of any text ends a collective over the shortest ring, at both ends', async () => {
  await using mesh = await Mesh.open(2, { ringBytes: 1024 })
  const groups = mesh.groups()
  const controller = new AbortController()
  const calls = Promise.allSettled([groups[0]!.broadcast(new Uint8Array(8), { root: 1, signal: controller.signal })])
  await turns(5)
  controller.abort(new Error('漢\u0001'.repeat(500)))
  const [outcome] = await calls
  assert.match(String((outcome as PromiseRejectedResult).reason), /漢/)
  while (groups[1]!.failure === undefined) await turns(1)
  await assert.rejects(groups[1]!.barrier(), { code: 'ERR_AETHER_COLLECTIVE_ABANDONED', rank: 0 })
})

/** Until a peer has heard all that another has said so far. */
async function heard(from: Peers, to: Peers): Promise<void> {
  await from.get(to.number)!.send(Uint8Array.of(1))
  await to.get(from.number)!.receive()
}

test('as much as the limits allow may be begun before the other makes the groups: long, many at once, and many groups', async () => {
  for (const [limits, groups, calls, length] of [
    [{ eagerBytes: 1 << 20 }, 1, 9, 1 << 20],
    [{ eagerBytes: 4096, requestsMax: 64 }, 64, 64, 4096],
    [{ requestsMax: 512 }, 20, 512, 1],
  ] as const) {
    await using mesh = await Mesh.open(2, { ringBytes: 1 << 16, delayTurnsMax: 0 }, limits)
    const [one, two] = mesh.peers as [Peers, Peers]
    const early = Array.from({ length: groups }, () => one.group([0, 1]))
    const begun = early.map((group, index) =>
      Array.from({ length: calls }, (_, call) => group.broadcast(new Uint8Array(length).fill(index + call))),
    )
    await Promise.all(begun.flat())
    await heard(one, two)
    assert.equal(two.get(0)?.connected, true, String(two.lastError))
    for (let index = 0; index < groups; index += 1) {
      const late = two.group([0, 1])
      const data = await Promise.all(Array.from({ length: calls }, () => late.broadcast(new Uint8Array(length))))
      for (const [call, bytes] of data.entries()) assert.deepEqual(bytes, new Uint8Array(length).fill(index + call))
    }
  }
})

test('a rank that waits long for a group to be made says so again and again, and that takes no more room', async (t) => {
  await using mesh = await Mesh.open(2, { delayTurnsMax: 0 }, { requestsMax: 1, earlyGroupsMax: 1 })
  const [one, two] = mesh.peers as [Peers, Peers]
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const waiting = one.group([0, 1]).broadcast(new Uint8Array(3), { root: 1 })
  // Once a second, for some hours.
  for (let second = 0; second < 10_000; second += 1) {
    nowMs += 1000
    t.mock.timers.tick(50)
    if (second % 10 === 0) await turns(1)
  }
  await heard(one, two)
  const late = two.group([0, 1]).broadcast(Uint8Array.of(1, 2, 3), { root: 1 })
  assert.deepEqual(await waiting, await late)
})

test('groups beyond earlyGroupsMax end the connection with an error that names the limit', async () => {
  await using mesh = await Mesh.open(2, {}, { earlyGroupsMax: 3 })
  const [one, two] = mesh.peers as [Peers, Peers]
  const begin = () => one.group([0, 1]).broadcast(Uint8Array.of(7))
  await Promise.all([begin(), begin(), begin()])
  await heard(one, two)
  // One that is made gives its place back.
  assert.deepEqual(await two.group([0, 1]).broadcast(new Uint8Array(1)), Uint8Array.of(7))
  await begin()
  await heard(one, two)
  const { gone } = two.get(0)!
  await begin()
  await gone
  const { code, message } = two.lastError!.cause as PeerError
  assert.equal(code, 'ERR_AETHER_PEERS_LIMIT')
  assert.match(message, /peer 0 was turned away: .* more than 3 groups .* see earlyGroupsMax/)
})
