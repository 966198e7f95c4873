import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { algorithms, type CollectiveName, rankOrderAlgorithms } from '../../src/collectives/algorithms.ts'
import { defaultAlgorithm } from '../../src/collectives/choose.ts'
import {
  type ElementArray,
  type ElementKind,
  elementKind,
  elementKindNames,
} from '../../src/collectives/element-kind.ts'
import { kernelFor, type OperationName } from '../../src/collectives/operation.ts'
import type { Schedule } from '../../src/collectives/schedule.ts'
import { drawn } from '../support/drawn.ts'
import { ownOperations } from './own-operations.ts'
import { play, type RankMemory } from './plain-memory.ts'
import { arrayOf, foldLeft, offsetsOf, type Value, type Vector, valuesOf } from './reference.ts'

/** One call: its schedules, what each rank gives, where the result of each goes, and what it should be. */
interface Trial {
  readonly schedules: readonly Schedule[]
  readonly inputs: readonly Vector[]
  readonly outputLengths: readonly number[]
  /** undefined: whatever was there before. */
  readonly expected: readonly (Vector | undefined)[]
  /** For calls in place: where in a rank's output its input lies, or where in its input its output. */
  /** There is no other way. */
  readonly onlyInPlace?: boolean
  readonly inPlace?: (rank: number) => { readonly inputInOutput?: number; readonly outputInInput?: number } | undefined
}

const SIZES = drawn([1, 2, 3, 4, 5, 6, 7, 8, 13, 16], 5)
const float64 = elementKind('float64')
const rangeOf = (size: number) => Array.from({ length: size }, (_, index) => index)

/** Values that tell who gave them and where they were. */
const given = (rank: number, count: number): number[] => rangeOf(count).map((index) => rank * 1000 + index + 1)

function memoriesOf(trial: Trial, kind: ElementKind, inPlace: boolean): RankMemory[] {
  return trial.inputs.map((values, rank) => {
    const length = trial.outputLengths[rank]!
    const place = inPlace || trial.onlyInPlace ? trial.inPlace?.(rank) : undefined
    if (place?.inputInOutput !== undefined) {
      const output = kind.allocate(length)
      output.set(values as never, place.inputInOutput)
      return { input: output.subarray(place.inputInOutput, place.inputInOutput + values.length), output }
    }
    const input = arrayOf(kind, values)
    if (place?.outputInInput === undefined) return { input, output: kind.allocate(length) }
    return { input, output: input.subarray(place.outputInInput, place.outputInInput + length) }
  })
}

function check(
  trial: Trial,
  kind: ElementKind = float64,
  operation: OperationName = 'sum',
  inPlace = false,
  seed = 1,
): ElementArray[] {
  const memories = memoriesOf(trial, kind, inPlace)
  play(trial.schedules, memories, kind, { kernel: kernelFor(operation, kind), seed })
  for (const [rank, expected] of trial.expected.entries())
    if (expected !== undefined)
      assert.deepEqual(valuesOf(memories[rank]!.output), expected, `rank ${rank} of ${memories.length}`)
  return memories.map(({ output }) => output)
}

type Draw = (rank: number, count: number) => Vector

/** The trial of one algorithm of a collective. */
type Maker = (
  algorithm: never,
  size: number,
  counts: readonly number[],
  root: number,
  draw: Draw,
  fold: (vectors: readonly Vector[]) => Vector,
) => Trial

const makers: { readonly [Name in keyof typeof algorithms]: Maker } = {
  broadcast(algorithm: keyof typeof algorithms.broadcast, size, [count = 0], root, draw) {
    const inputs = rangeOf(size).map((rank) => draw(rank, count))
    return {
      schedules: rangeOf(size).map((rank) => algorithms.broadcast[algorithm]({ rank, size, root, count })),
      inputs,
      outputLengths: inputs.map(() => count),
      expected: inputs.map(() => inputs[root]!),
      onlyInPlace: true,
      inPlace: () => ({ inputInOutput: 0 }),
    }
  },
  scatter(algorithm: keyof typeof algorithms.scatter, size, counts, root, draw) {
    const total = counts.reduce((sum, count) => sum + count, 0)
    const offsets = offsetsOf(counts)
    const data = draw(root, total)
    return {
      schedules: rangeOf(size).map((rank) => algorithms.scatter[algorithm]({ rank, size, root, counts })),
      inputs: rangeOf(size).map((rank) => (rank === root ? data : [])),
      outputLengths: counts,
      expected: counts.map((count, rank) => data.slice(offsets[rank]!, offsets[rank]! + count)),
      inPlace: (rank) => (rank === root ? { outputInInput: offsets[rank]! } : undefined),
    }
  },
  gather(algorithm: keyof typeof algorithms.gather, size, counts, root, draw) {
    const total = counts.reduce((sum, count) => sum + count, 0)
    const inputs = counts.map((count, rank) => draw(rank, count))
    return {
      schedules: rangeOf(size).map((rank) => algorithms.gather[algorithm]({ rank, size, root, counts })),
      inputs,
      outputLengths: rangeOf(size).map((rank) => (rank === root ? total : 0)),
      expected: rangeOf(size).map((rank) => (rank === root ? inputs.flat() : [])),
      inPlace: (rank) => (rank === root ? { inputInOutput: offsetsOf(counts)[rank]! } : undefined),
    }
  },
  allGather(algorithm: keyof typeof algorithms.allGather, size, counts, _root, draw) {
    const inputs = counts.map((count, rank) => draw(rank, count))
    return {
      schedules: rangeOf(size).map((rank) => algorithms.allGather[algorithm]({ rank, size, counts })),
      inputs,
      outputLengths: inputs.map(() => inputs.flat().length),
      expected: inputs.map(() => inputs.flat()),
      inPlace: (rank) => ({ inputInOutput: offsetsOf(counts)[rank]! }),
    }
  },
  reduce(algorithm: keyof typeof algorithms.reduce, size, [count = 0], root, draw, fold) {
    const inputs = rangeOf(size).map((rank) => draw(rank, count))
    return {
      schedules: rangeOf(size).map((rank) => algorithms.reduce[algorithm]({ rank, size, root, count })),
      inputs,
      outputLengths: rangeOf(size).map((rank) => (rank === root ? count : 0)),
      expected: rangeOf(size).map((rank) => (rank === root ? fold(inputs) : [])),
      inPlace: (rank) => (rank === root ? { inputInOutput: 0 } : undefined),
    }
  },
  allReduce(algorithm: keyof typeof algorithms.allReduce, size, [count = 0], _root, draw, fold) {
    const inputs = rangeOf(size).map((rank) => draw(rank, count))
    return {
      schedules: rangeOf(size).map((rank) => algorithms.allReduce[algorithm]({ rank, size, count })),
      inputs,
      outputLengths: inputs.map(() => count),
      expected: inputs.map(() => fold(inputs)),
      inPlace: () => ({ inputInOutput: 0 }),
    }
  },
  reduceScatter(algorithm: keyof typeof algorithms.reduceScatter, size, counts, _root, draw, fold) {
    const total = counts.reduce((sum, count) => sum + count, 0)
    const offsets = offsetsOf(counts)
    const inputs = rangeOf(size).map((rank) => draw(rank, total))
    const all = fold(inputs)
    return {
      schedules: rangeOf(size).map((rank) => algorithms.reduceScatter[algorithm]({ rank, size, counts })),
      inputs,
      outputLengths: counts,
      expected: counts.map((count, rank) => all.slice(offsets[rank]!, offsets[rank]! + count)),
      inPlace: (rank) => ({ outputInInput: offsets[rank]! }),
    }
  },
  scan(algorithm: keyof typeof algorithms.scan, size, [count = 0], root, draw, fold) {
    // The root has no part in a scan: it picks between the two kinds here.
    const exclusive = root % 2 === 1
    const inputs = rangeOf(size).map((rank) => draw(rank, count))
    return {
      schedules: rangeOf(size).map((rank) => algorithms.scan[algorithm]({ rank, size, count, exclusive })),
      inputs,
      outputLengths: inputs.map(() => count),
      expected: inputs.map((_, rank) =>
        !exclusive ? fold(inputs.slice(0, rank + 1)) : rank === 0 ? undefined : fold(inputs.slice(0, rank)),
      ),
      inPlace: () => ({ inputInOutput: 0 }),
    }
  },
  allToAll(algorithm: keyof typeof algorithms.allToAll, size, [count = 0], root, draw) {
    // The root has no part in it: it picks between the two kinds here. What is for calls in place works with any memory
    // that has the input in the output.
    const inPlace = root % 2 === 1
    const inputs = rangeOf(size).map((rank) => draw(rank, count * size))
    return {
      ...(inPlace && { onlyInPlace: true, inPlace: () => ({ inputInOutput: 0 }) }),
      schedules: rangeOf(size).map((rank) => algorithms.allToAll[algorithm]({ rank, size, count, inPlace })),
      inputs,
      outputLengths: inputs.map(() => count * size),
      expected: inputs.map((_, rank) => inputs.flatMap((input) => input.slice(rank * count, (rank + 1) * count))),
    }
  },
  allToAllV(algorithm: keyof typeof algorithms.allToAllV, size, counts, root, draw) {
    // The root has no part in it: it picks who is told that its output shares memory with its input, which changes no
    // result.
    const sharing = (rank: number) => (rank + root) % 2 === 1
    // What rank i sends to rank j, with gaps between the parts.
    const length = (from: number, to: number) => counts[(from * 3 + to) % size]! + ((from + to) % 2)
    const spread = (lengths: readonly number[]) => offsetsOf(lengths.map((count) => count + 1))
    const sends = rangeOf(size).map((from) => rangeOf(size).map((to) => length(from, to)))
    const receives = rangeOf(size).map((to) => rangeOf(size).map((from) => length(from, to)))
    const room = (lengths: readonly number[]) => lengths.reduce((sum, count) => sum + count + 1, 0)
    const inputs = sends.map((lengths, rank) => draw(rank, room(lengths)))
    return {
      schedules: rangeOf(size).map((rank) =>
        algorithms.allToAllV[algorithm]({
          rank,
          size,
          sendCounts: sends[rank]!,
          sendOffsets: spread(sends[rank]!),
          receiveCounts: receives[rank]!,
          receiveOffsets: spread(receives[rank]!),
          sharing: sharing(rank),
        }),
      ),
      inputs,
      outputLengths: receives.map(room),
      expected: receives.map((lengths, rank) => {
        const zero: Value = typeof inputs.flat()[0] === 'bigint' ? 0n : 0
        return lengths.flatMap((count, from) => {
          const at = spread(sends[from]!)[rank]!
          return [...inputs[from]!.slice(at, at + count), zero]
        })
      }),
    }
  },
  barrier(algorithm: keyof typeof algorithms.barrier, size) {
    return {
      schedules: rangeOf(size).map((rank) => algorithms.barrier[algorithm]({ rank, size })),
      inputs: rangeOf(size).map(() => []),
      outputLengths: rangeOf(size).map(() => 0),
      expected: rangeOf(size).map(() => []),
    }
  },
}

const sums = (vectors: readonly Vector[]) => foldLeft(vectors, float64, 'sum')

/** Lengths of parts: none, one, odd ones, some empty, one that has it all. */
function countsFor(size: number): number[][] {
  return [
    Array<number>(size).fill(0),
    Array<number>(size).fill(1),
    Array<number>(size).fill(7),
    rangeOf(size).map((rank) => (rank * 5 + 3) % 4),
    rangeOf(size).map((rank) => (rank === size - 1 ? 9 : 0)),
    rangeOf(size).map((rank) => (rank === 0 ? 37 : rank)),
  ]
}

/** The others take the number for something else, or for nothing. */
const rooted = ['broadcast', 'scatter', 'gather', 'reduce']

for (const [collective, table] of Object.entries(algorithms)) {
  for (const algorithm of Object.keys(table)) {
    test(`${collective} by ${algorithm}: any number of ranks, any root, odd and empty parts, in place too`, () => {
      for (const size of SIZES) {
        for (const counts of countsFor(size)) {
          for (const root of rangeOf(rooted.includes(collective) ? size : 2)) {
            const make = makers[collective as keyof typeof makers]
            const trial = make(algorithm as never, size, counts, root, given, sums)
            check(trial, float64, 'sum', false, root + 1)
            if (trial.onlyInPlace !== true && trial.inPlace !== undefined) check(trial, float64, 'sum', true, root + 1)
          }
        }
      }
    })
  }
}

test('what a rank is sent in a round is sent in that round, or it would wait for ever', () => {
  const one = algorithms.barrier.dissemination({ rank: 0, size: 2 })
  const other = { rounds: [], scratchCount: 0 }
  const memories = [0, 1].map(() => ({ input: float64.allocate(0), output: float64.allocate(0) }))
  assert.throws(() => play([one, other], memories, float64), /deadlock/)
})

/** Operations that make sense for a kind, and whose result does not depend on the grouping. */
function exactOperations(kind: ElementKind): readonly OperationName[] {
  if (kind.float) return ['min', 'max']
  return ['sum', 'prod', 'min', 'max', 'and', 'or', 'xor']
}

function elementOf(kind: ElementKind): fc.Arbitrary<Value> {
  if (kind.name === 'int64') return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  if (kind.name === 'uint64') return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  if (kind.name === 'float32') return fc.float()
  if (kind.name === 'float64') return fc.double()
  const bits = kind.bytes * 8
  return kind.name.startsWith('u')
    ? fc.integer({ min: 0, max: 2 ** bits - 1 })
    : fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
}

/** The least and the most, those beside them and beside 0. */
function edgesOf(kind: ElementKind): readonly Value[] {
  if (kind.float)
    return [0, -0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 24, 2 ** -126]
  const bits = BigInt(kind.bytes * 8)
  const [least, most] = kind.name.startsWith('u')
    ? [0n, 2n ** bits - 1n]
    : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
  const edges = [least, least + 1n, 0n, 1n, 2n, most - 1n, most]
  return kind.big ? edges : edges.map(Number)
}

for (const name of elementKindNames) {
  test(`every collective by every algorithm with ${name}, random values, lengths and orders of arrival`, () => {
    const kind = elementKind(name)
    fc.assert(
      fc.property(
        fc.record({
          size: fc.constantFrom(1, 2, 3, 4, 5, 7, 8),
          parts: fc.array(fc.nat(40), { minLength: 8, maxLength: 8, size: 'max' }),
          values: fc.array(elementOf(kind), { minLength: 40, maxLength: 400, size: 'max' }),
          root: fc.nat(7),
          seed: fc.nat(),
          pick: fc.nat(),
          inPlace: fc.boolean(),
        }),
        ({ size, parts, values, root, seed, pick, inPlace }) => {
          const operations = exactOperations(kind)
          const operation = operations[pick % operations.length]!
          const draw: Draw = (rank, count) =>
            rangeOf(count).map((index) => values[(rank * 31 + index) % values.length]!)
          const fold = (vectors: readonly Vector[]) => foldLeft(vectors, kind, operation)
          for (const [collective, table] of Object.entries(algorithms)) {
            const make = makers[collective as keyof typeof makers]
            for (const algorithm of Object.keys(table)) {
              const trial = make(algorithm as never, size, parts.slice(0, size), root % size, draw, fold)
              check(trial, kind, operation, inPlace && trial.inPlace !== undefined, seed)
            }
          }
        },
      ),
      { numRuns: 15 },
    )
  })
}

test('in rank order the bits of floating-point sums and products are those of combining from the left, whatever the algorithm', () => {
  const reducing = ['reduce', 'allReduce', 'reduceScatter', 'scan'] as const
  const trials = (['float32', 'float64'] as const).flatMap((name) =>
    (['sum', 'prod'] as const).map((operation) => ({ kind: elementKind(name), operation })),
  )
  for (const { kind, operation } of trials) {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 64, maxLength: 64, size: 'max' }),
        fc.constantFrom(2, 3, 5, 8),
        fc.nat(),
        (values, size, seed) => {
          const draw: Draw = (rank, count) =>
            valuesOf(
              arrayOf(
                kind,
                rangeOf(count).map((index) => values[(rank * 17 + index) % 64]! / 3),
              ),
            )
          const fold = (vectors: readonly Vector[]) => foldLeft(vectors, kind, operation)
          for (const collective of reducing) {
            for (const algorithm of rankOrderAlgorithms[collective]) {
              const trial = makers[collective](
                algorithm as never,
                size,
                Array<number>(size).fill(19),
                seed % size,
                draw,
                fold,
              )
              check(trial, kind, operation, false, seed)
            }
          }
        },
      ),
      { numRuns: 30 },
    )
  }
})

test('by any algorithm all ranks get the same bits of a floating-point sum', () => {
  for (const algorithm of Object.keys(algorithms.allReduce)) {
    for (const size of [3, 5, 8]) {
      const draw: Draw = (rank, count) => rangeOf(count).map((index) => 1 / (rank * 7 + index + 3))
      const trial = makers.allReduce(algorithm as never, size, [33], 0, draw, () => [])
      const [first, ...others] = check({ ...trial, expected: [] })
      for (const other of others) assert.deepEqual(valuesOf(other), valuesOf(first!))
    }
  }
})

test('operations do with each kind what its array does: wrap around, clamp, keep all bits of a product', () => {
  const combined = (name: Parameters<typeof elementKind>[0], operation: OperationName, left: Value, right: Value) => {
    const kind = elementKind(name)
    const into = arrayOf(kind, [left])
    kernelFor(operation, kind)(into, 0, arrayOf(kind, [right]), 0, 1, false)
    assert.deepEqual(valuesOf(into), foldLeft([[left], [right]], kind, operation))
    return valuesOf(into)[0]
  }
  assert.equal(combined('int8', 'sum', 127, 1), -128)
  assert.equal(combined('uint8clamped', 'sum', 200, 100), 255)
  assert.equal(combined('int32', 'prod', 0x7fff_ffff, 0x7fff_ffff), 1)
  assert.equal(combined('uint32', 'prod', 0xffff_ffff, 0xffff_ffff), 1)
  assert.equal(combined('uint32', 'or', 0x8000_0000, 1), 0x8000_0001)
  assert.equal(combined('uint64', 'sum', 2n ** 64n - 1n, 2n), 1n)
  assert.equal(combined('int64', 'prod', -(2n ** 62n), 2n), -(2n ** 63n))
  assert.equal(combined('float64', 'min', Number.NaN, 1), Number.NaN)
  assert.equal(combined('float64', 'min', 0, -0), -0)
  assert.equal(combined('float32', 'sum', 2 ** 24, 1), 2 ** 24)
})

test('each operation does with each kind what the table of the tests says, from either side, and with what is beside it nothing', () => {
  let pairs = 0
  for (const name of elementKindNames) {
    const kind = elementKind(name)
    for (const operation of ['sum', 'prod', 'min', 'max', 'and', 'or', 'xor'] as const) {
      const combine = ownOperations[name][operation]
      if (combine === undefined) {
        assert.throws(() => kernelFor(operation, kind), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
        continue
      }
      pairs += 1
      const element = fc.oneof(elementOf(kind), fc.constantFrom(...edgesOf(kind)))
      fc.assert(
        fc.property(fc.array(fc.tuple(element, element), { maxLength: 20 }), fc.boolean(), (values, fromFirst) => {
          const [left, right] = [values.map(([one]) => one), values.map(([, other]) => other)]
          const [zero] = valuesOf(kind.allocate(1)) as [Value]
          const into = arrayOf(kind, [zero, ...left, zero])
          kernelFor(operation, kind)(into, 1, arrayOf(kind, [zero, zero, ...right]), 2, values.length, fromFirst)
          const expected = values.map(([one, other]) => (fromFirst ? combine(other, one) : combine(one, other)))
          assert.deepEqual(valuesOf(into), [zero, ...expected, zero], `${operation} of ${name}`)
        }),
        { numRuns: 50 },
      )
    }
  }
  // Floats have no bits to combine.
  assert.equal(pairs, 7 * 11 - 2 * 3)
})

test('an operation that does not fit is refused with what would', () => {
  const message = /or, xor|needs integers|combine/
  assert.throws(() => kernelFor('xor', float64), { code: 'ERR_AETHER_INVALID_ARGUMENT', message })
  assert.throws(() => kernelFor('mean' as never, float64), { code: 'ERR_AETHER_INVALID_ARGUMENT', message })
  assert.throws(() => kernelFor({} as never, float64), { code: 'ERR_AETHER_INVALID_ARGUMENT', message })
})

test('every choice by size and number is an algorithm that there is, and in rank order one that keeps it', () => {
  for (const collective of Object.keys(algorithms) as CollectiveName[]) {
    const known = Object.keys(algorithms[collective])
    const ordered = (rankOrderAlgorithms as Record<string, readonly string[]>)[collective]
    for (const oneMachine of [false, true]) {
      for (let size = 1; size <= 130; size += 1) {
        for (const bytes of [0, 1, 8, 100, 4096, 65_535, 65_536, 2 ** 19, 2 ** 20, 2 ** 31]) {
          assert.ok(known.includes(defaultAlgorithm(collective, { size, bytes, rankOrder: false, oneMachine })))
          const inOrder = defaultAlgorithm(collective, { size, bytes, rankOrder: true, oneMachine })
          assert.ok(ordered?.includes(inOrder) ?? true, `${collective} of ${size}, ${bytes} bytes: ${inOrder}`)
        }
      }
    }
  }
})

test('on one machine no byte is sent in parts that make more work in all than they spare a link', () => {
  const choice = (collective: CollectiveName, size: number, bytes: number, oneMachine: boolean): string =>
    defaultAlgorithm(collective, { size, bytes, rankOrder: false, oneMachine })
  assert.deepEqual(
    [true, false].map((near) => choice('broadcast', 8, 2 ** 20, near)),
    ['binomial', 'scatter-all-gather'],
  )
  assert.deepEqual(
    [true, false].map((near) => choice('allGather', 4, 2 ** 20, near)),
    ['concurrent', 'ring'],
  )
  assert.deepEqual(
    [true, false].map((near) => choice('allReduce', 2, 2 ** 17, near)),
    ['recursive-doubling', 'rabenseifner'],
  )
})
