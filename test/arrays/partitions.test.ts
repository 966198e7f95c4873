import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type AxisMap,
  pickedMap,
  repeatedMap,
  rolledMap,
  shiftedMap,
  slicedMap,
  tiledMap,
} from '../../src/arrays/partitions/axis-map.ts'
import {
  type AxisPartition,
  blockAxis,
  cutAxis,
  cyclicAxis,
  indexOfPlace,
  intervalOf,
  intervalsOf,
  lengthOfPart,
  partOf,
  placeInPart,
  wholeAxis,
} from '../../src/arrays/partitions/axis-partition.ts'
import { ElementFinder } from '../../src/arrays/partitions/element-finder.ts'
import { countShared, intersect, intersectRuns, type SharedRuns } from '../../src/arrays/partitions/intersection.ts'
import { divide, Partition } from '../../src/arrays/partitions/partition.ts'
import { runsOf } from '../../src/arrays/partitions/runs.ts'

/** Any partition of an axis of this extent. */
function axes(extent: number): fc.Arbitrary<AxisPartition> {
  const parts = fc.integer({ min: 1, max: 8 })
  const cuts = fc
    .array(fc.integer({ min: 0, max: extent }), { maxLength: 7 })
    .map((inner) => cutAxis([0, ...inner.sort((one, other) => one - other), extent]))
  return fc.oneof(
    fc.constant(wholeAxis(extent)),
    fc.tuple(parts, fc.integer({ min: 1, max: 5 })).map(([count, unit]) => blockAxis(extent, count, unit)),
    fc.tuple(parts, fc.integer({ min: 1, max: 6 })).map(([count, block]) => cyclicAxis(extent, count, block)),
    cuts,
  )
}

const extents = fc.integer({ min: 0, max: 60 })
const anyAxis = extents.chain(axes)
const twoOfOne = extents.chain((extent) => fc.tuple(axes(extent), axes(extent)))

/** The indices of a part in order, by its intervals. */
function indicesOf(axis: AxisPartition, part: number): number[] {
  const indices: number[] = []
  for (let turn = 0; turn < intervalsOf(axis, part); turn += 1) {
    const { begin, end } = intervalOf(axis, part, turn)
    for (let index = begin; index < end; index += 1) indices.push(index)
  }
  return indices
}

const range = (length: number): number[] => Array.from({ length }, (_, at) => at)

test('each index has one part and one place in it, and parts hold their indices in order', () => {
  fc.assert(
    fc.property(anyAxis, (axis) => {
      const all: number[] = []
      for (const part of range(axis.parts)) {
        const indices = indicesOf(axis, part)
        assert.equal(lengthOfPart(axis, part), indices.length)
        for (const [place, index] of indices.entries()) {
          assert.equal(partOf(axis, index), part)
          assert.equal(placeInPart(axis, index), place)
          assert.equal(indexOfPlace(axis, part, place), index)
        }
        all.push(...indices)
      }
      assert.deepEqual(
        all.sort((one, other) => one - other),
        range(axis.extent),
      )
    }),
  )
})

test('blocks differ by one unit at most, and begin at multiples of it', () => {
  fc.assert(
    fc.property(extents, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (extent, parts, unit) => {
      const axis = blockAxis(extent, parts, unit)
      const units = range(parts).map((part) => Math.ceil(lengthOfPart(axis, part) / unit))
      assert.ok(Math.max(...units) - Math.min(...units) <= 1)
      for (const part of range(parts)) {
        const { begin, end } = intervalOf(axis, part, 0)
        if (begin < end) assert.equal(begin % unit, 0)
      }
    }),
  )
})

/** The pairs of places that runs stand for, in order. */
function pairsOf(runs: readonly SharedRuns[]): (readonly [from: number, into: number])[] {
  return runs.flatMap(({ from, into, length, step, count, fromStep, intoStep }) =>
    range(count * length).map((each) => {
      const [turn, within] = [Math.floor(each / length), each % length]
      return [from + turn * fromStep + within * step, into + turn * intoStep + within] as const
    }),
  )
}

test('shared runs are what two parts have in common, each element once, at its places in both', () => {
  fc.assert(
    fc.property(twoOfOne, ([from, into]) => {
      for (const giver of range(from.parts)) {
        for (const taker of range(into.parts)) {
          const mine = indicesOf(from, giver)
          const theirs = indicesOf(into, taker)
          const common = mine.filter((index) => theirs.includes(index))
          const runs = intersect(from, giver, into, taker)
          const pairs = pairsOf(runs)
          assert.equal(countShared(runs), common.length)
          assert.deepEqual(
            pairs.map(([at]) => mine[at]),
            common,
          )
          assert.deepEqual(
            pairs.map(([, to]) => theirs[to]),
            common,
          )
        }
      }
    }),
  )
})

const anyIndices = fc.integer({ min: 1, max: 40 }).chain((extent) =>
  fc.oneof(
    fc.constant([shiftedMap(extent, 0, 0), extent] as const),
    fc.integer({ min: -50, max: 50 }).map((shift) => [rolledMap(extent, shift), extent] as const),
    fc.integer({ min: 1, max: 4 }).map((times) => [tiledMap(extent, times), extent] as const),
    fc
      .array(fc.integer({ min: 0, max: 3 }), { minLength: extent, maxLength: extent })
      .map((times) => [repeatedMap(times), extent] as const),
    fc.array(fc.integer({ min: 0, max: extent - 1 })).map((indices) => [pickedMap(indices), extent] as const),
    fc.tuple(fc.nat(extent - 1), fc.constantFrom(-7, -3, -1, 1, 2, 5)).map(([start, step]) => {
      const count = Math.ceil((step > 0 ? extent - start : start + 1) / Math.abs(step))
      return [slicedMap({ start, count, step }), extent] as const
    }),
  ),
)

/** The index of each position of a result. */
function mapped(map: AxisMap): number[] {
  const indices: number[] = []
  for (const { into, from, count, step } of map) for (const k of range(count)) indices[into + k] = from + k * step
  return indices
}

test('a map of indices says what each position of a result gets from a part, in any partition of both', () => {
  fc.assert(
    fc.property(
      anyIndices.chain(([map, extent]) => fc.tuple(fc.constant(map), axes(extent), axes(mapped(map).length))),
      ([map, from, into]) => {
        const indices = mapped(map)
        for (const taker of range(into.parts)) {
          const theirs = indicesOf(into, taker)
          const got = theirs.map(() => -1)
          for (const giver of range(from.parts)) {
            const mine = indicesOf(from, giver)
            const pairs = pairsOf(intersect(from, giver, into, taker, map))
            for (const [at, to] of pairs) {
              assert.equal(got[to], -1, 'each position is got once')
              got[to] = mine[at]!
            }
          }
          assert.deepEqual(
            got,
            theirs.map((position) => indices[position]),
          )
        }
      },
    ),
  )
})

test('elements in row-major order are shared by parts of two shapes, each once', () => {
  const shapes = [[4, 6], [3, 8], [24], [2, 3, 4], [24, 1]] as const
  const divisions = ['block', 'cyclic', { blockCyclic: 2 }] as const
  for (const size of [1, 2, 3, 7])
    for (const one of shapes)
      for (const other of shapes)
        for (const division of divisions) {
          const from = divide(one, division, range(size))
          const into = divide(other, 'cyclic', range(size))
          const elements = (partition: Partition, rank: number): number[] =>
            [...runsOf(partition, rank)].flatMap(({ start, length }) => range(length).map((at) => start + at))
          for (const taker of range(size)) {
            const theirs = elements(into, taker)
            const got = range(size).flatMap((giver) =>
              pairsOf(intersectRuns(runsOf(from, giver), runsOf(into, taker))).map(
                ([at, to]) => [to, elements(from, giver)[at]!] as const,
              ),
            )
            assert.deepEqual(
              got.sort(([left], [right]) => left - right),
              theirs.map((element, to) => [to, element]),
            )
          }
        }
})

test('a block and a cyclic axis share few entries, however long they are', () => {
  const [block, cyclic] = [blockAxis(1_000_000, 4), cyclicAxis(1_000_000, 4, 3)]
  for (const giver of range(4))
    for (const taker of range(4)) assert.ok(intersect(block, giver, cyclic, taker).length <= 3)
})

test('blocks of a cyclic axis are not walked one by one', () => {
  const extent = 2 ** 45
  const [block, cyclic] = [blockAxis(extent, 4), cyclicAxis(extent, 4, 2)]
  for (const [from, into] of [[block, cyclic] as const, [cyclic, block] as const]) {
    const counts = range(4).flatMap((giver) =>
      range(4).map((taker) => countShared(intersect(from, giver, into, taker))),
    )
    assert.deepEqual(counts, new Array(16).fill(extent / 16))
    const turned = [{ from: extent - 1, into: 0, count: extent, step: -1 }]
    assert.equal(countShared(intersect(from, 0, into, 3, turned)), extent / 16)
  }
})

const divisions = fc.oneof(
  fc.constantFrom('block' as const, 'cyclic' as const, 'replicated' as const),
  fc.integer({ min: 1, max: 4 }).map((blockCyclic) => ({ blockCyclic })),
)
const arrays = fc
  .array(fc.integer({ min: 0, max: 7 }), { maxLength: 3 })
  .chain((shape) =>
    fc.tuple(
      fc.constant(shape),
      fc.array(divisions, { minLength: shape.length, maxLength: shape.length }),
      fc.integer({ min: 1, max: 12 }),
    ),
  )

/** The indices of every element of a shape. */
function everyIndex(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (indices, extent) => indices.flatMap((index) => range(extent).map((next) => [...index, next])),
    [[]],
  )
}

test('each element of an array has one rank, unless every rank has all', () => {
  fc.assert(
    fc.property(arrays, ([shape, division, size]) => {
      // Not the ranks from 0 on: those that are left of a larger group.
      const ranks = range(size).map((rank) => 2 * rank + 1)
      const partition = divide(shape, division, ranks)
      const seen = new Map<string, number>()
      for (const rank of ranks) {
        const held = everyIndex(partition.shapeOf(rank))
        const finder = new ElementFinder(partition, rank)
        for (const place of held) {
          const index = partition.index(rank, place)
          if (!partition.isReplicated) {
            const shapeThere = partition.shapeOf(rank)
            assert.equal(
              finder.find(index),
              place.reduce((number, at, axis) => number * shapeThere[axis]! + at, 0),
            )
            assert.equal(finder.rank, rank)
          }
          seen.set(index.join(), (seen.get(index.join()) ?? 0) + 1)
        }
      }
      const times = partition.isReplicated ? size : 1
      assert.deepEqual(
        [...seen.entries()].sort(),
        everyIndex(shape)
          .map((index): [string, number] => [index.join(), times])
          .sort(),
      )
    }),
  )
})

test('one word divides the first axis; several divided axes take the ranks as a grid', () => {
  const ranks = range(12)
  assert.deepEqual(divide([100, 3], 'block', ranks).shapeOf(11), [9, 3])
  assert.deepEqual(divide([], 'block', ranks), Partition.replicated([], ranks))
  const grid = divide([90, 40], ['block', 'cyclic'], ranks)
  assert.deepEqual(
    grid.axes.map(({ parts }) => parts),
    [6, 2],
  )
  assert.equal(String(grid), 'block x cyclic')
  assert.equal(String(divide([8], { blockCyclic: 2 }, ranks)), 'block-cyclic(2)')
  assert.equal(String(divide([8], 'replicated', ranks)), 'replicated')
})
