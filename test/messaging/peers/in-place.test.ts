import assert from 'node:assert/strict'
import test from 'node:test'
import { algorithms, type CollectiveName } from '../../../src/collectives/algorithms.ts'
import { elementKind } from '../../../src/collectives/element-kind.ts'
import type { PeerGroup } from '../../../src/messaging/index.ts'
import { foldLeft, offsetsOf, type Value } from '../../collectives/reference.ts'
import { given, rangeOf } from './call-all.ts'
import { Mesh } from './mesh.ts'

/** Calls whose input and output are the same memory, or one a part of the other. */

const kind = elementKind('float64')
/** What lies around the memory of a call, and stays. */
const EDGE = -5

/** A stretch of memory in the middle of more. */
function inside(values: Iterable<number>): Float64Array {
  return Float64Array.of(EDGE, EDGE, ...values, EDGE).subarray(2, -1)
}

/** The stretch has these values, and what lies around it is as it was. */
function holds(stretch: Float64Array, expected: Iterable<Value>): void {
  const all = new Float64Array(stretch.buffer)
  assert.deepEqual([...all], [EDGE, EDGE, ...expected, EDGE])
}

const sums = (vectors: readonly Float64Array[]): Value[] =>
  foldLeft(
    vectors.map((vector) => [...vector]),
    kind,
    'sum',
  )

/** Lengths of parts: all the same, odd ones with an empty one among them, and long ones. */
const countsOf = (size: number): number[][] => [
  Array<number>(size).fill(3),
  rangeOf(size).map((rank) => (rank * 3 + 2) % 5),
  rangeOf(size).map((rank) => 3001 + rank),
]

/** For every size, every algorithm of the collective, and every root. */
async function everyWay(
  collective: CollectiveName,
  call: (groups: readonly PeerGroup[], options: { algorithm: never; root: number }, counts: number[]) => Promise<void>,
  isRooted = false,
): Promise<void> {
  for (const size of [1, 2, 3, 5]) {
    await using mesh = await Mesh.open(size, { ringBytes: 1 << 14, delayTurnsMax: 1 })
    const groups = mesh.groups()
    for (const algorithm of Object.keys(algorithms[collective]))
      for (const counts of countsOf(size))
        for (const root of isRooted ? rangeOf(size) : [0])
          await call(groups, { algorithm: algorithm as never, root }, counts)
  }
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

test('scatter in place: the output of the root is its part of the input, and the other parts stay', () =>
  everyWay(
    'scatter',
    async (groups, options, counts) => {
      const { root } = options
      const offsets = offsetsOf(counts)
      const data = given(root, total(counts))
      const input = inside(data)
      const parts = await Promise.all(
        groups.map((group, rank) => {
          const own = input.subarray(offsets[rank]!, offsets[rank]! + counts[rank]!)
          return rank === root
            ? group.scatter(input, own, { ...options, counts })
            : group.scatter(undefined, inside(own.slice().fill(0)), { ...options, counts })
        }),
      )
      for (const [rank, part] of parts.entries()) {
        const expected = data.subarray(offsets[rank]!, offsets[rank]! + counts[rank]!)
        if (rank === root) assert.deepEqual([...part], [...expected])
        else holds(part, expected)
      }
      holds(input, data)
    },
    true,
  ))

test('gather in place: the input of the root is its part of the output', () =>
  everyWay(
    'gather',
    async (groups, options, counts) => {
      const { root } = options
      const output = inside(new Float64Array(total(counts)))
      const offset = offsetsOf(counts)[root]!
      output.set(given(root, counts[root]!), offset)
      await Promise.all(
        groups.map((group, rank) =>
          rank === root
            ? group.gather(output.subarray(offset, offset + counts[rank]!), output, { ...options, counts })
            : group.gather(given(rank, counts[rank]!), undefined, { ...options, counts }),
        ),
      )
      holds(
        output,
        counts.flatMap((count, rank) => [...given(rank, count)]),
      )
    },
    true,
  ))

test('allGather in place: the input is the own part of the output', () =>
  everyWay('allGather', async (groups, { algorithm }, counts) => {
    const offsets = offsetsOf(counts)
    const outputs = groups.map((_, rank) => {
      const output = inside(new Float64Array(total(counts)))
      output.set(given(rank, counts[rank]!), offsets[rank])
      return output
    })
    await Promise.all(
      groups.map((group, rank) => {
        const output = outputs[rank]!
        const input = output.subarray(offsets[rank]!, offsets[rank]! + counts[rank]!)
        return group.allGather(input, output, { algorithm, counts })
      }),
    )
    for (const output of outputs)
      holds(
        output,
        counts.flatMap((count, rank) => [...given(rank, count)]),
      )
  }))

test('reduceScatter in place: the output is the own part of the input', () =>
  everyWay('reduceScatter', async (groups, { algorithm }, counts) => {
    const offsets = offsetsOf(counts)
    const inputs = groups.map((_, rank) => inside(given(rank, total(counts))))
    const all = sums(groups.map((_, rank) => given(rank, total(counts))))
    const parts = await Promise.all(
      groups.map((group, rank) => {
        const input = inputs[rank]!
        const output = input.subarray(offsets[rank]!, offsets[rank]! + counts[rank]!)
        return group.reduceScatter(input, 'sum', output, { algorithm, counts })
      }),
    )
    for (const [rank, part] of parts.entries()) {
      assert.deepEqual([...part], all.slice(offsets[rank]!, offsets[rank]! + counts[rank]!))
      const memory = new Float64Array(inputs[rank]!.buffer)
      assert.deepEqual([memory[0], memory[1], memory.at(-1)], [EDGE, EDGE, EDGE])
    }
  }))

for (const where of ['left out', 'the input itself'] as const) {
  const output = (input: Float64Array) => (where === 'left out' ? undefined : input)

  test(`reduce in place, the output ${where}: the sum is in the input of the root, the others keep theirs`, () =>
    everyWay(
      'reduce',
      async (groups, options, [count = 0]) => {
        const inputs = groups.map((_, rank) => inside(given(rank, count)))
        const isRoot = (rank: number) => rank === options.root
        await Promise.all(
          groups.map((group, rank) =>
            group.reduce(inputs[rank]!, 'sum', isRoot(rank) ? output(inputs[rank]!) : undefined, options),
          ),
        )
        const all = sums(groups.map((_, rank) => given(rank, count)))
        for (const [rank, input] of inputs.entries()) holds(input, isRoot(rank) ? all : given(rank, count))
      },
      true,
    ))

  test(`allReduce and scans in place, the output ${where}`, async () => {
    await everyWay('allReduce', async (groups, { algorithm }, [count = 0]) => {
      const inputs = groups.map((_, rank) => inside(given(rank, count)))
      await Promise.all(
        groups.map((group, rank) => group.allReduce(inputs[rank]!, 'sum', output(inputs[rank]!), { algorithm })),
      )
      const all = sums(groups.map((_, rank) => given(rank, count)))
      for (const input of inputs) holds(input, all)
    })
    for (const name of ['scan', 'exclusiveScan'] as const) {
      await everyWay('scan', async (groups, { algorithm }, [count = 0]) => {
        const inputs = groups.map((_, rank) => inside(given(rank, count)))
        await Promise.all(
          groups.map((group, rank) => group[name](inputs[rank]!, 'sum', output(inputs[rank]!), { algorithm })),
        )
        for (const [rank, input] of inputs.entries()) {
          const before = rangeOf(name === 'scan' ? rank + 1 : rank).map((each) => given(each, count))
          // That of the first stays as it is.
          holds(input, before.length === 0 ? given(rank, count) : sums(before))
        }
      })
    }
  })
}

test('allToAll in place: the output is the input', () =>
  everyWay('allToAll', async (groups, { algorithm }, [count = 0]) => {
    const { length: size } = groups
    const all = groups.map((_, rank) => inside(given(rank, count * size)))
    await Promise.all(groups.map((group, rank) => group.allToAll(all[rank]!, all[rank]!, { algorithm })))
    for (const [rank, data] of all.entries())
      holds(
        data,
        rangeOf(size).flatMap((from) => [...given(from, count * size).subarray(rank * count, (rank + 1) * count)]),
      )
  }))

test('allToAll by one in place and by another not: both are told', async () => {
  for (const algorithm of Object.keys(algorithms.allToAll)) {
    await using mesh = await Mesh.open(3)
    const calls = mesh.groups().map((group, rank) => {
      const data = given(rank, 9)
      return group.allToAll(data, rank === 1 ? data : new Float64Array(9), { algorithm: algorithm as never })
    })
    for (const outcome of await Promise.allSettled(calls)) {
      assert.equal(outcome.status, 'rejected')
      assert.equal(outcome.reason.code, 'ERR_AETHER_COLLECTIVE_MISMATCH')
    }
  }
})

for (const [where, shift] of [
  ['is the input', 0],
  ['begins within the input', 3],
  ['ends within the input', -3],
] as const) {
  test(`allToAllV where the output ${where}, at every other rank: all parts leave before one comes`, () =>
    everyWay('allToAllV', async (groups, { algorithm }, counts) => {
      const ranks = rangeOf(groups.length)
      const length = (from: number, to: number) => counts[(from * 3 + to) % counts.length]!
      const sends = ranks.map((from) => ranks.map((to) => length(from, to)))
      const receives = ranks.map((to) => ranks.map((from) => length(from, to)))
      const inputs = sends.map((lengths, rank) => given(rank, total(lengths)))
      // What a rank gives lies in the middle of more than it gets.
      const memories = ranks.map((rank) => {
        const margin = total(receives[rank]!) + 3
        const memory = new Float64Array(inputs[rank]!.length + 2 * margin)
        memory.set(inputs[rank]!, margin)
        const input = memory.subarray(margin, margin + inputs[rank]!.length)
        if (rank % 2 === 1) return { input, output: new Float64Array(total(receives[rank]!)) }
        const from = shift < 0 ? margin + 3 - total(receives[rank]!) : margin + shift
        return { input, output: memory.subarray(from, from + total(receives[rank]!)) }
      })
      await Promise.all(
        groups.map((group, rank) => {
          const { input, output } = memories[rank]!
          const lengths = { sendCounts: sends[rank]!, receiveCounts: receives[rank]! }
          return group.allToAllV(input, output, lengths, { algorithm })
        }),
      )
      for (const [rank, { output }] of memories.entries()) {
        const parts = ranks.map((from) => {
          const at = offsetsOf(sends[from]!)[rank]!
          return inputs[from]!.subarray(at, at + length(from, rank))
        })
        assert.deepEqual(
          [...output],
          parts.flatMap((part) => [...part]),
          `rank ${rank} of ${groups.length}`,
        )
      }
    }))
}
