import assert from 'node:assert/strict'
import test from 'node:test'
import { type CollectiveError, openPeers, type PeerGroup, type Peers } from '../../../src/messaging/index.ts'
import { type MemoryLink, memoryLinks } from '../../support/memory-links.ts'
import { callAll, given } from './call-all.ts'
import { Mesh } from './mesh.ts'

/** What goes wrong at one rank of a group, and what every rank learns of it. */

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

const enders: Readonly<Record<string, readonly [(group: PeerGroup, controller: AbortController) => void, RegExp]>> = {
  'aborts the signal of its call': [(_, controller) => controller.abort(new Error('enough')), /enough/],
  'closes its group': [(group) => group.close(), /the group/],
}

for (const [what, [end, why]] of Object.entries(enders)) {
  for (const [size, algorithm] of [
    [2, 'recursive-doubling'],
    [3, 'ring'],
    [3, 'rank-order'],
  ] as const) {
    test(`a function of the program that ${what}, by ${algorithm}: the call is over at every rank, and all stay connected`, async () => {
      await using mesh = await Mesh.open(size)
      const groups = mesh.groups()
      const controller = new AbortController()
      const ending = (left: number, right: number): number => {
        end(groups[0]!, controller)
        return left + right
      }
      const calls = groups.map((group, rank) =>
        rank === 0
          ? group.allReduce(given(rank, 300), { combine: ending }, undefined, { algorithm, signal: controller.signal })
          : group.allReduce(given(rank, 300), { combine: (left, right) => left + right }, undefined, { algorithm }),
      )
      const [own] = await Promise.allSettled(calls)
      assert.equal(own!.status, 'rejected')
      assert.match(String(own!.reason), why)
      // Whose part was over before is told in its next call.
      for (const group of groups) await assert.rejects(group.barrier(), why)
      for (const peers of mesh.peers) assert.deepEqual([peers.all.length, peers.lastError], [size - 1, undefined])
      await callAll(mesh.groups(), 5)
    })
  }
}

test('a signal that a function of the program aborts while the call begins, by what had come before, ends it', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const algorithm = 'binomial'
  const theirs = groups[1]!.reduce(given(1, 3), { combine: (left, right) => left + right }, undefined, { algorithm })
  await turns(50)
  const controller = new AbortController()
  const combine = (left: number, right: number): number => {
    controller.abort(new Error('enough'))
    return left + right
  }
  // Rank 2 never calls.
  const { signal } = controller
  const own = groups[0]!.reduce(given(0, 3), { combine }, undefined, { algorithm, signal, timeoutMs: 10_000 })
  await assert.rejects(own, /enough/)
  await Promise.allSettled([theirs])
})

/** What a rank may do that is far ahead: nobody has to wait for the last one but in the call behind. */
const aheadOf: Readonly<Record<string, readonly [number, (group: PeerGroup) => Promise<unknown>]>> = {
  'broadcasts of nothing, then a gather': [
    2,
    async (group) => {
      for (let call = 0; call < 200; call += 1) await group.broadcast(new Float64Array(0))
      return group.gather(given(group.rank, 20_000), new Float64Array(40_000))
    },
  ],
  'broadcasts of nothing, then a barrier': [
    2,
    async (group) => {
      for (let call = 0; call < 200; call += 1) await group.broadcast(new Float64Array(0))
      return group.barrier()
    },
  ],
  'scans, then a reduction': [
    4,
    async (group) => {
      for (let call = 0; call < 150; call += 1)
        await group.scan(given(group.rank, 2), 'sum', undefined, { deterministic: true })
      return group.reduce(given(group.rank, 2), 'sum', undefined, { deterministic: true })
    },
  ],
}

for (const [what, [size, program]] of Object.entries(aheadOf)) {
  test(`who is far ahead rightly (${what}) waits for the last one`, async () => {
    await using mesh = await Mesh.open(size)
    const groups = mesh.groups()
    const ahead = groups.slice(0, -1).map(program)
    // Long enough for those who wait to say so.
    await Promise.race([Promise.all(ahead), new Promise((resolve) => setTimeout(resolve, 300))])
    assert.deepEqual(
      groups.map((group) => group.failure),
      groups.map(() => undefined),
    )
    await Promise.all([...ahead, program(groups.at(-1)!)])
  })
}

const nothing = { sendCounts: [0, 0], receiveCounts: [0, 0] }
const lacking: Readonly<Record<string, { readonly sendCounts: number[]; readonly receiveCounts: number[] }>> = {
  'expects more than it is sent': { sendCounts: [0, 0], receiveCounts: [0, 10] },
  'expects much more than it is sent': { sendCounts: [0, 0], receiveCounts: [0, 100_000] },
  'sends more than is expected': { sendCounts: [0, 100_000], receiveCounts: [0, 0] },
}
/** What the other does once it is done. */
const afterwards: Readonly<Record<string, (mesh: Mesh, group: PeerGroup) => unknown>> = {
  stays: () => {},
  'closes its group': (_, group) => group.close(),
  'disconnects in order': (mesh) => mesh.peers[1]!.close(),
}

for (const [what, counts] of Object.entries(lacking)) {
  for (const [then, leave] of Object.entries(afterwards)) {
    for (const late of [false, true]) {
      test(`one ${what} by allToAllV, and the other is done with it and ${then}: ${late ? 'who calls later' : 'who waits'} is told`, async () => {
        await using mesh = await Mesh.open(2)
        const [one, other] = mesh.groups() as [PeerGroup, PeerGroup]
        const call = (): Promise<unknown> => one.allToAllV(new Uint8Array(100_000), new Uint8Array(100_000), counts)
        const early = late ? undefined : call()
        early?.catch(() => {})
        // What has come already is told at once.
        await other.allToAllV(new Uint8Array(0), new Uint8Array(0), nothing).then(
          () => leave(mesh, other),
          (error: CollectiveError) => assert.equal(error.code, 'ERR_AETHER_COLLECTIVE_MISMATCH'),
        )
        if (late) await turns(50)
        await assert.rejects(early ?? call(), { code: 'ERR_AETHER_COLLECTIVE_MISMATCH', rank: 1 })
      })
    }
  }
}

test('a signal that is aborted when its call is done already ends nothing', async () => {
  await using mesh = await Mesh.open(2)
  const [root, other] = mesh.groups() as [PeerGroup, PeerGroup]
  const before = root.barrier()
  const controller = new AbortController()
  // Short, so that the root is done with it at once.
  const sent = root.broadcast(Int32Array.of(5), { signal: controller.signal })
  controller.abort(new Error('late'))
  await sent
  assert.equal(root.failure, undefined)
  await Promise.all([before, other.barrier()])
  assert.deepEqual(await other.broadcast(new Int32Array(1)), Int32Array.of(5))
})

test('a function of the program that throws nothing at all ends the blocking form, too', async () => {
  await using mesh = await Mesh.open(2)
  const [one, other] = mesh.groups() as [PeerGroup, PeerGroup]
  const add = { combine: (left: number, right: number) => left + right }
  const theirs = other.allReduce(given(1, 3), add)
  await turns(20)
  const thrown: unknown[] = []
  try {
    one.allReduceSync(given(0, 3), {
      combine: () => {
        throw undefined
      },
    })
  } catch (error) {
    thrown.push(error)
  }
  assert.deepEqual(thrown, [undefined])
  await Promise.allSettled([theirs])
  await assert.rejects(other.barrier(), { code: 'ERR_AETHER_COLLECTIVE_ABANDONED' })
})

test('a call that takes too long names whom it waits for itself: those that do not send, and those that do not take', async () => {
  await using mesh = await Mesh.open(3)
  const [long] = mesh.groups()
  await assert.rejects(long!.broadcast(new Uint8Array(1 << 20), { timeoutMs: 30 }), {
    code: 'ERR_AETHER_TIMEOUT',
    message: /each of ranks (1, 2|2, 1) has yet to take what it is sent/,
  })
  const [group] = mesh.groups()
  const waiting = assert.rejects(group!.broadcast(new Uint8Array(8), { root: 2 }))
  await assert.rejects(group!.broadcast(new Uint8Array(8), { root: 1, timeoutMs: 30 }), {
    code: 'ERR_AETHER_TIMEOUT',
    message: /rank 1 has yet to send its part$/,
  })
  await waiting
})

const firstEnds: Readonly<Record<string, (group: PeerGroup) => void>> = {
  failed: () => {},
  'been closed': (group) => group.close(),
}

for (const [what, end] of Object.entries(firstEnds)) {
  test(`a group that one made before the link was made anew and the other did not: it has ${what}, which the other is told, and the next is the same`, async () => {
    await using one = openPeers({ number: 0 })
    await using other = openPeers({ number: 1 })
    const connect = async (): Promise<MemoryLink> => {
      const [here, there] = memoryLinks()
      await Promise.all([one.attach(here), other.attach(there)])
      return here
    }
    const gone = (peers: Peers, number: number): Promise<void> => peers.get(number)!.gone
    const link = await connect()
    const first = one.group([0, 1])
    const bothGone = Promise.all([gone(one, 1), gone(other, 0)])
    link.cut()
    await bothGone
    await assert.rejects(first.barrier(), { code: 'ERR_AETHER_PEER_LOST' })
    end(first)
    await connect()
    const second = one.group([0, 1]).barrier()
    await assert.rejects(other.group([0, 1]).barrier(), {
      code: 'ERR_AETHER_PEER_LOST',
      rank: 0,
      message: /make another/,
    })
    await Promise.all([second, other.group([0, 1]).barrier()])
  })
}

const doneEnds: Readonly<Record<string, readonly [(group: PeerGroup) => void, Readonly<Record<string, unknown>>]>> = {
  failed: [() => {}, { code: 'ERR_AETHER_PEER_LOST', rank: 0, message: /make another/ }],
  'been closed': [
    (group) => group.close(),
    { code: 'ERR_AETHER_COLLECTIVE_ABANDONED', rank: 0, message: /rank 0 closed the group and takes no part/ },
  ],
}

for (const [what, [end, told]] of Object.entries(doneEnds)) {
  test(`a group in which one was done with calls of which the other forgot all when the link was lost: it has ${what}, which the other is told`, async () => {
    await using one = openPeers({ number: 0 })
    await using other = openPeers({ number: 1 })
    const connect = async (): Promise<MemoryLink> => {
      const [here, there] = memoryLinks()
      await Promise.all([one.attach(here), other.attach(there)])
      return here
    }
    const link = await connect()
    const group = one.group([0, 1])
    // Short, so that the root is done with them at once.
    for (let call = 0; call < 3; call += 1) await group.broadcast(Int32Array.of(call))
    end(group)
    await turns(20)
    const bothGone = Promise.all([one.get(1)!.gone, other.get(0)!.gone])
    link.cut()
    await bothGone
    await connect()
    await assert.rejects(other.group([0, 1]).broadcast(new Int32Array(1), { timeoutMs: 10_000 }), told)
  })
}

test('members that make a group of different lists: who waits too long is told that there is another', async () => {
  await using mesh = await Mesh.open(3)
  const other = assert.rejects(mesh.peers[1]!.group([0, 1]).barrier(), { code: 'ERR_AETHER_CLOSED' })
  await turns(50)
  await assert.rejects(mesh.peers[0]!.group([0, 1, 2]).barrier({ timeoutMs: 30 }), {
    code: 'ERR_AETHER_TIMEOUT',
    message: /peer 1 has begun a group that is not made here; make it from the same list at every member/,
  })
  await mesh.close()
  await other
})

test('`shrink` called while one is under way: a signal of its own ends its own wait, not the other', async () => {
  await using mesh = await Mesh.open(2)
  const groups = mesh.groups()
  const first = groups[0]!.shrink()
  const controller = new AbortController()
  const second = groups[0]!.shrink({ signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(second, /enough/)
  await assert.rejects(groups[0]!.shrink({ signal: AbortSignal.abort(new Error('before')) }), /before/)
  const [one, other] = await Promise.all([first, groups[1]!.shrink({ absentAfterMs: undefined as never })])
  assert.deepEqual(one.members, [0, 1])
  await Promise.all([one.barrier(), other.barrier()])
})
