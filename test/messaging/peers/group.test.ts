import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { ElementArray } from '../../../src/collectives/index.ts'
import { type CollectiveError, openPeers, type PeerGroup, type Peers } from '../../../src/messaging/index.ts'
import { type MemoryLink, memoryLinks } from '../../support/memory-links.ts'
import { algorithmRounds, callAll, given, rangeOf, summed } from './call-all.ts'
import { Mesh } from './mesh.ts'

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

for (const size of [1, 2, 3, 4, 5, 7, 8]) {
  test(`every collective among ${size}, short and long, over slow links with small rings`, async () => {
    await using mesh = await Mesh.open(size, { receives: 8, delayTurnsMax: 2 })
    const groups = mesh.groups()
    for (const count of [0, 1, 5, 3001]) await callAll(groups, count)
  })
}

test('every algorithm by name', async () => {
  await using mesh = await Mesh.open(5)
  const groups = mesh.groups()
  for (const options of algorithmRounds()) await callAll(groups, 700, options)
})

test('many collectives under way at once, begun in one order and ending in any, are told apart', async () => {
  await using mesh = await Mesh.open(4, { delayTurnsMax: 5 })
  const groups = mesh.groups()
  const halves = [mesh.groups([0, 1]), mesh.groups([2, 3])].flat()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(600), { minLength: 1, maxLength: 40, size: 'max' }), async (lengths) => {
      const calls = groups.map((group, rank) =>
        Promise.all([
          ...lengths.map((length, index) =>
            index % 3 === 0
              ? group.broadcast(given(rank, length), { root: index % 4 })
              : group.allReduce(given(rank, length), 'sum'),
          ),
          // Another group of the same peers is none of its business.
          halves[rank]!.allReduce(given(rank, 9), 'sum'),
        ]),
      )
      for (const [rank, results] of (await Promise.all(calls)).entries()) {
        for (const [index, length] of lengths.entries())
          assert.deepEqual(results[index], index % 3 === 0 ? given(index % 4, length) : summed(4, length))
        const low = rank < 2 ? 0 : 2
        const expected = Float64Array.from(given(low, 9), (value, index) => value + (low + 1) * 1000 + index)
        assert.deepEqual(results.at(-1), expected)
      }
    }),
    { numRuns: 10 },
  )
})

test('a root that is far ahead is held back, and what it sends ahead stays small', async () => {
  await using mesh = await Mesh.open(3, { ringBytes: 1 << 16 }, { requestsMax: 8, eagerBytes: 64 })
  const [root, one, two] = mesh.groups() as [PeerGroup, PeerGroup, PeerGroup]
  let sent = 0
  const sending = (async () => {
    for (let call = 0; call < 100; call += 1) {
      await root.broadcast(Float64Array.of(call))
      sent += 1
    }
  })()
  await turns(200)
  assert.ok(sent <= 8, `${sent} broadcasts went out before anybody called one`)
  for (let call = 0; call < 100; call += 1)
    assert.deepEqual(
      await Promise.all([one, two].map(async (group) => (await group.broadcast(new Float64Array(1)))[0])),
      [call, call],
    )
  await sending
})

for (const late of [0, 1, 2]) {
  test(`rank ${late} of 3 calls long collectives after the others have`, async () => {
    await using mesh = await Mesh.open(3)
    const groups = mesh.groups()
    for (const root of [0, 1, 2]) {
      const calls = groups.map(async (group, rank) => {
        if (rank === late) await turns(60)
        return [
          await group.broadcast(new Float64Array(9000).fill(rank === root ? 5 : 0), { root }),
          await group.allReduce(given(rank, 9000), 'sum'),
        ]
      })
      for (const [data, sum] of await Promise.all(calls)) {
        assert.ok(data!.every((value) => value === 5))
        assert.deepEqual(sum, summed(3, 9000))
      }
    }
  })
}

test('more collectives at once than the limit are refused, and the others end', async () => {
  await using mesh = await Mesh.open(2, {}, { requestsMax: 4 })
  const [one, two] = mesh.groups() as [PeerGroup, PeerGroup]
  const calls = rangeOf(4).map(() => one.barrier())
  await assert.rejects(one.barrier(), { code: 'ERR_AETHER_INVALID_ARGUMENT', message: /requestsMax/ })
  await Promise.all([...calls, ...rangeOf(4).map(() => two.barrier())])
})

async function outcomes(calls: readonly Promise<unknown>[]): Promise<(CollectiveError | undefined)[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map((one) => (one.status === 'rejected' ? (one.reason as CollectiveError) : undefined))
}

const mismatches: Readonly<
  Record<string, readonly [(group: PeerGroup) => Promise<unknown>, (group: PeerGroup) => Promise<unknown>]>
> = {
  'other collectives': [(group) => group.barrier(), (group) => group.allReduce(new Float64Array(4), 'sum')],
  'other lengths': [
    (group) => group.allReduce(new Float64Array(5), 'sum'),
    (group) => group.allReduce(new Float64Array(4), 'sum'),
  ],
  'other kinds': [
    (group) => group.allReduce(new Int32Array(4), 'sum'),
    (group) => group.allReduce(new Float32Array(4), 'sum'),
  ],
  'other operations': [
    (group) => group.allReduce(new Int32Array(4), 'sum'),
    (group) => group.allReduce(new Int32Array(4), 'max'),
  ],
  'other roots, so that both only wait': [
    (group) => group.reduce(new Int32Array(4), 'sum', undefined, { root: group.rank }),
    (group) => group.broadcast(new Int32Array(4), { root: group.rank === 0 ? 1 : 0 }),
  ],
  'a length of none': [(group) => group.broadcast(new Int32Array(0)), (group) => group.broadcast(new Int32Array(4))],
  'parts of other lengths': [
    (group) =>
      group.allToAllV(new Int8Array(group.size), new Int8Array(group.size), {
        sendCounts: rangeOf(group.size).fill(1),
        receiveCounts: rangeOf(group.size).fill(1),
      }),
    (group) =>
      group.allToAllV(new Int8Array(group.size * 2), new Int8Array(group.size * 2), {
        sendCounts: rangeOf(group.size).fill(2),
        receiveCounts: rangeOf(group.size).fill(2),
      }),
  ],
}

for (const [name, [odd, usual]] of Object.entries(mismatches)) {
  for (const size of [2, 3, 5]) {
    test(`ranks that call ${name}: each of ${size} is told, in this call or the next`, async () => {
      await using mesh = await Mesh.open(size)
      const groups = mesh.groups()
      const first = await outcomes(groups.map((group, rank) => (rank === 0 ? odd(group) : usual(group))))
      // Whose part was over before the other's message came learns of it at its next call.
      const second = await outcomes(groups.map((group) => group.allReduce(new Int32Array(1), 'sum')))
      for (const rank of rangeOf(size)) {
        const error = first[rank] ?? second[rank]
        assert.equal(error?.code, 'ERR_AETHER_COLLECTIVE_MISMATCH', `rank ${rank}`)
        assert.match(error.message, /all ranks must make the same calls/)
        assert.notEqual(error.rank, rank, 'nobody is told that it is itself the other')
        assert.equal(second[rank]?.code, 'ERR_AETHER_COLLECTIVE_MISMATCH')
      }
    })
  }
}

test('a rank that dies in a collective: every other is told its name, and those left go on in a new group', async () => {
  await using mesh = await Mesh.open(6, { ringBytes: 1 << 14 })
  const groups = mesh.groups()
  const calls = groups.flatMap((group) =>
    group.rank === 3 ? [] : [group.allReduce(given(group.rank, 20_000), 'sum'), group.barrier()],
  )
  await turns(20)
  mesh.kill(3)
  for (const error of await outcomes(calls)) {
    assert.equal(error?.code, 'ERR_AETHER_PEER_LOST')
    assert.equal(error.rank, 3)
    assert.equal(error.peer, 3)
  }
  assert.match(String(mesh.peers[0]!.lastError), /peer 3 is lost/)
  assert.throws(() => mesh.peers[0]!.group([0, 3]), {
    code: 'ERR_AETHER_PEER_UNKNOWN',
    message: /peer 3 is not connected/,
  })
  await callAll(mesh.groups([0, 1, 2, 4, 5]), 40)
})

test('two that lose each other: both, and those who wait for one of them, are told', async () => {
  await using mesh = await Mesh.open(4)
  const groups = mesh.groups()
  const calls = groups.map((group) => (group.rank === 0 ? Promise.reject(new Error('not called')) : group.barrier()))
  mesh.cut(1, 2)
  const [, ...errors] = await outcomes(calls)
  for (const error of errors) {
    assert.equal(error?.code, 'ERR_AETHER_PEER_LOST')
    assert.ok([1, 2].includes(error.rank))
  }
  await callAll(mesh.groups([0, 1, 3]), 12)
})

test('giving up by signal or time ends the call at every rank, with the reason and for whom it waited', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const late = await outcomes([groups[1]!.barrier({ timeoutMs: 30 }), groups[2]!.barrier()])
  assert.match(
    String(late[0]),
    /barrier.* did not finish within 30 ms; (rank|each of ranks) .* has yet to send its part/,
  )
  assert.equal(late[1]?.code, 'ERR_AETHER_COLLECTIVE_ABANDONED')
  assert.equal(late[1]?.rank, 1)
  const again = mesh.groups()
  const controller = new AbortController()
  const calls = [again[0]!.barrier({ signal: controller.signal }), again[1]!.barrier()]
  controller.abort(new Error('enough'))
  const [own, other] = await outcomes(calls)
  assert.equal(own?.message, 'enough')
  assert.match(String(other), /rank 0 gave up: enough/)
})

test('a function that throws ends the call at every rank', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const combine = (left: number, right: number) => left + right
  const thrower = () => {
    throw new Error('cannot combine')
  }
  const errors = await outcomes(
    groups.map((group, rank) => group.allReduce(given(rank, 3), { combine: rank === 1 ? thrower : combine })),
  )
  assert.equal(errors[1]?.message, 'cannot combine')
  assert.ok(errors.some((error, rank) => rank !== 1 && /gave up: cannot combine/.test(String(error))))
  for (const group of groups) await assert.rejects(group.barrier(), /cannot combine/)
})

test('a group that a rank has closed: what was called before ends, what is called after is told', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  await Promise.all(groups.map((group) => group.barrier()))
  groups[2]!.close()
  await assert.rejects(groups[2]!.barrier(), { code: 'ERR_AETHER_CLOSED' })
  const errors = await outcomes([groups[0]!.barrier(), groups[1]!.barrier()])
  for (const error of errors) {
    assert.equal(error?.code, 'ERR_AETHER_COLLECTIVE_ABANDONED')
    assert.equal(error.rank, 2)
  }
})

test('a rank that is done with a call may close the group and go: the others finish that call', async () => {
  await using mesh = await Mesh.open(4)
  const groups = mesh.groups()
  // From rank 2 to 0 and 3, and from 0 to 1.
  await groups[2]!.broadcast(Float64Array.of(4, 5), { root: 2 })
  groups[2]!.close()
  const waiting = groups[1]!.broadcast(new Float64Array(2), { root: 2 })
  await turns(50)
  mesh.kill(2)
  await turns(50)
  assert.equal(groups[1]!.failure, undefined)
  const others = [0, 3].map((rank) => groups[rank]!.broadcast(new Float64Array(2), { root: 2 }))
  for (const data of await Promise.all([waiting, ...others])) assert.deepEqual(data, Float64Array.of(4, 5))
  for (const error of await outcomes([0, 1, 3].map((rank) => groups[rank]!.barrier()))) {
    assert.equal(error?.code, 'ERR_AETHER_COLLECTIVE_ABANDONED')
    assert.equal(error.rank, 2)
  }
})

test('a rank that closes the group in the middle of a call: it and the others are told', async () => {
  await using mesh = await Mesh.open(3)
  const groups = mesh.groups()
  const calls = [groups[0]!.barrier(), groups[1]!.barrier()]
  await turns(10)
  groups[1]!.close()
  const [other, own] = await outcomes(calls)
  assert.equal(own?.code, 'ERR_AETHER_CLOSED')
  assert.equal(other?.code, 'ERR_AETHER_COLLECTIVE_ABANDONED')
  assert.equal(other.rank, 1)
})

test('what one begins in a group that another makes later waits for it', async () => {
  await using mesh = await Mesh.open(3)
  const early = mesh.peers[0]!.group([0, 2, 1])
  const result = early.broadcast(Int16Array.of(7, 8, 9))
  await turns(30)
  const late = [mesh.peers[2]!.group([0, 2, 1]), mesh.peers[1]!.group([0, 2, 1])]
  for (const group of late) assert.deepEqual(await group.broadcast(new Int16Array(3)), Int16Array.of(7, 8, 9))
  await result
})

test('what waited for groups that are made late gives its room back when they are', async () => {
  await using mesh = await Mesh.open(
    2,
    { ringBytes: 1 << 20, delayTurnsMax: 0 },
    { eagerBytes: 4 << 20, earlyGroupsMax: 1 },
  )
  for (let round = 0; round < 4; round += 1) {
    using early = mesh.peers[0]!.group([0, 1])
    await early.broadcast(new Uint8Array(3 << 20).fill(round))
    await turns(50)
    using late = mesh.peers[1]!.group([0, 1])
    assert.ok((await late.broadcast(new Uint8Array(3 << 20))).every((byte) => byte === round))
    await Promise.all([early.barrier(), late.barrier()])
  }
})

test('what a peer said before it died is not taken for what it says when it is back', async () => {
  await using here = openPeers({ number: 0 })
  const back = async (value: number): Promise<{ readonly link: MemoryLink; readonly peers: Peers }> => {
    const peers = openPeers({ number: 1 })
    const [link, other] = memoryLinks()
    await Promise.all([here.attach(link), peers.attach(other)])
    await peers.group([0, 1]).broadcast(Uint8Array.of(value), { root: 1 })
    await turns(20)
    return { link, peers }
  }
  const first = await back(5)
  const { gone } = here.get(1)!
  first.link.cut()
  await gone
  const second = await back(6)
  assert.deepEqual(await here.group([0, 1]).broadcast(new Uint8Array(1), { root: 1 }), Uint8Array.of(6))
  await Promise.all([first.peers.close(), second.peers.close()])
})

test('functions of the program, in the order of ranks where they ask for it', async () => {
  await using mesh = await Mesh.open(5)
  const groups = mesh.groups()
  // Keeps the left one: associative, and anything but commutative.
  const first = { combine: (left: bigint) => left, commutative: false, name: 'first' }
  for (const length of [1, 5000]) {
    const results = await Promise.all(
      groups.map((group, rank) => group.allReduce(new BigInt64Array(length).fill(BigInt(rank + 10)), first)),
    )
    for (const result of results) assert.ok(result.every((value) => value === 10n))
  }
  const scanned = await Promise.all(groups.map((group, rank) => group.scan(BigUint64Array.of(BigInt(rank + 3)), first)))
  assert.deepEqual(scanned.map(String), ['3', '3', '3', '3', '3'])
})

test('deterministic floating-point sums have the bits of adding in the order of ranks, for any length', async () => {
  await using mesh = await Mesh.open(7)
  const groups = mesh.groups()
  const value = (rank: number, index: number) => 1 / (rank * 3 + index + 1)
  for (const length of [1, 3, 100, 20_000]) {
    const expected = Float32Array.from(rangeOf(length), (index) =>
      rangeOf(7).reduce(
        (sum, rank) => (rank === 0 ? value(0, index) : Math.fround(Math.fround(sum) + Math.fround(value(rank, index)))),
        0,
      ),
    )
    const results = await Promise.all(
      groups.map((group, rank) =>
        group.allReduce(
          Float32Array.from(rangeOf(length), (index) => value(rank, index)),
          'sum',
          undefined,
          {
            deterministic: true,
          },
        ),
      ),
    )
    for (const result of results) assert.deepEqual(result, expected)
  }
  await assert.rejects(
    groups[0]!.allReduce(new Float32Array(1), 'sum', undefined, { deterministic: true, algorithm: 'ring' }),
    { code: 'ERR_AETHER_INVALID_ARGUMENT', message: /rank-order/ },
  )
})

test('wrong arguments are refused before anything is sent, and the group goes on', async () => {
  await using mesh = await Mesh.open(2)
  const groups = mesh.groups()
  const [group] = groups as [PeerGroup, PeerGroup]
  const wrong: (() => Promise<unknown>)[] = [
    () => group.broadcast(new Float64Array(1), { root: 2 }),
    () => group.broadcast([] as unknown as ElementArray),
    () => group.broadcast(new DataView(new ArrayBuffer(8)) as unknown as ElementArray),
    () => group.allReduce(new Float64Array(2), 'xor'),
    () => group.allReduce(new Float64Array(2), 'sum', new Float64Array(3)),
    () => group.allReduce(new Float64Array(2), 'sum', new Float32Array(2) as never),
    () => group.allGather(new Float64Array(2), new Float64Array(5)),
    () => group.gather(new Float64Array(2)),
    () => group.allToAll(new Float64Array(3), new Float64Array(3)),
    () => group.barrier({ algorithm: 'tree' as never }),
    () => group.scatter(new Float64Array(3), new Float64Array(2), { counts: [1, 2, 3] }),
    () =>
      group.allToAllV(new Int8Array(4), new Int8Array(4), {
        sendCounts: [2, 2],
        receiveCounts: [2, 2],
        receiveOffsets: [0, 1],
      }),
    () => {
      const memory = new Float64Array(6)
      return group.allToAll(memory.subarray(0, 4), memory.subarray(2, 6))
    },
  ]
  // Not one of them throws instead.
  for (const call of wrong) await assert.rejects(call(), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await callAll(groups, 3)
})

test('lengths that are all the same may be named at one rank and not at the other', async () => {
  await using mesh = await Mesh.open(2)
  const groups = mesh.groups()
  const results = await Promise.all(
    groups.map((group, rank) =>
      group.allGather(given(rank, 1), new Float64Array(2), rank === 0 ? { counts: [1, 1] } : {}),
    ),
  )
  for (const result of results) assert.deepEqual(result, Float64Array.of(0, 1000))
})

test('what is gathered or reduced is given to the root alone, whatever the others give as output', async () => {
  await using mesh = await Mesh.open(2)
  const groups = mesh.groups()
  const outputs = groups.map(() => new Float64Array(2))
  const gathered = await Promise.all(groups.map((group, rank) => group.gather(given(rank, 1), outputs[rank])))
  assert.deepEqual(gathered, [outputs[0], undefined])
  const reduced = await Promise.all(groups.map((group, rank) => group.reduce(given(rank, 2), 'sum', outputs[rank])))
  assert.deepEqual(reduced, [outputs[0], undefined])
})

test('a time that never ends, or that no timer counts, is waited for; one that cannot be is refused', async () => {
  await using mesh = await Mesh.open(2)
  const groups = mesh.groups()
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    const first = groups[0]!.barrier({ timeoutMs })
    // A timer that had taken it for 1 ms would have gone off.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await Promise.all([first, groups[1]!.barrier()])
  }
  await assert.rejects(groups[0]!.barrier({ timeoutMs: Number.NaN }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  assert.throws(() => groups[0]!.barrierSync({ timeoutMs: -1 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})
