import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  exactTolerance,
  largestUnrepresentative,
  representedBy,
  sharedMemoryCut,
  toleranceByExpansion,
  vertexExpansion,
} from '../../../../tools/agreement/graph/expansion.ts'
import {
  completeGraph,
  emptyGraph,
  graphNamed,
  graphOfEdges,
  graphShapes,
  hypercubeGraph,
  type Neighbours,
  randomRegularGraph,
  ringGraph,
} from '../../../../tools/agreement/graph/graphs.ts'

const star = (processes: number): Neighbours =>
  graphOfEdges(
    processes,
    Array.from({ length: processes - 1 }, (_, leaf) => [0, leaf + 1] as const),
  )

const manyGraphs = (): Neighbours[] => [
  ...[1, 2, 3, 4, 5].flatMap((processes) => graphShapes(processes)),
  ...Array.from({ length: 60 }, (_, seed) => randomRegularGraph(8 + 2 * (seed % 4), 2 + (seed % 4), seed)),
  ...['ring', 'hypercube', 'margulis', 'complete', 'none'].map((name) => graphNamed(name, 16)),
]

/** All sets of so many processes, without any of the tricks of the code under test. */
function setsOf(processes: number, size: number): number[][] {
  return Array.from({ length: 2 ** processes }, (_, bits) =>
    Array.from({ length: processes }, (_, process) => process).filter((process) => ((bits >> process) & 1) === 1),
  ).filter(({ length }) => length === size)
}

test('vertex expansion: what one finds by hand', () => {
  assert.equal(vertexExpansion(emptyGraph(6)), 0)
  assert.equal(vertexExpansion(completeGraph(6)), 1)
  assert.equal(vertexExpansion(completeGraph(5)), 3 / 2)
  // The worst half of a ring is an arc, with a neighbour at each end.
  assert.equal(vertexExpansion(ringGraph(12)), 2 / 6)
  // The leaves of a star have one neighbour together.
  assert.equal(vertexExpansion(star(7)), 1 / 3)
  assert.equal(vertexExpansion(emptyGraph(1)), Infinity)
})

test('tolerance: what one finds by hand', () => {
  // Message passing: a minority.
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((processes) => exactTolerance(emptyGraph(processes))),
    [0, 0, 1, 1, 2, 2, 3],
  )
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((processes) => exactTolerance(completeGraph(processes))),
    [0, 1, 2, 3, 4],
  )
  // Two leaves of a star of five represent three, which is a majority. One leaf represents two.
  assert.equal(exactTolerance(star(5)), 3)
  assert.deepEqual(representedBy(star(5), [2, 4]), [0, 2, 4])
  // Six processes of a ring of twelve are represented by four in a row, so five are needed.
  assert.equal(exactTolerance(ringGraph(12)), 7)
  assert.deepEqual(largestUnrepresentative(ringGraph(12)), [0, 1, 2, 3])
})

test('the bound by expansion: what the formula gives, and strictly below it', () => {
  assert.equal(toleranceByExpansion(7, 0), 3)
  assert.equal(toleranceByExpansion(8, 0), 3)
  assert.equal(toleranceByExpansion(8, 1), 5)
  assert.equal(toleranceByExpansion(12, 1 / 3), 7)
  // n - n/(2(1+h)) is 8 exactly.
  assert.equal(toleranceByExpansion(10, 1.5), 7)
  assert.equal(toleranceByExpansion(1, Infinity), 0)
})

test('the exact tolerance is that of the definition, for all graphs of up to five processes', () => {
  for (const processes of [1, 2, 3, 4, 5])
    for (const graph of graphShapes(processes)) {
      const withstands = (crashes: number): boolean =>
        setsOf(processes, processes - crashes).every((set) => 2 * representedBy(graph, set).length > processes)
      const faults = exactTolerance(graph)
      assert.ok(withstands(faults), JSON.stringify(graph))
      if (faults + 1 < processes) assert.ok(!withstands(faults + 1), JSON.stringify(graph))
      assert.ok(2 * representedBy(graph, largestUnrepresentative(graph)).length <= processes)
    }
})

test('no graph withstands less than its expansion promises', () => {
  for (const graph of manyGraphs())
    assert.ok(
      exactTolerance(graph) >= toleranceByExpansion(graph.length, vertexExpansion(graph)),
      JSON.stringify(graph),
    )
})

test('more edges never withstand less', () => {
  for (const graph of graphShapes(5))
    for (let one = 0; one < 5; one += 1)
      for (let other = 0; other < one; other += 1) {
        const edges = graph.flatMap((each, process) => each.map((neighbour) => [process, neighbour] as const))
        assert.ok(exactTolerance(graphOfEdges(5, [...edges, [one, other]])) >= exactTolerance(graph))
      }
})

test('an SM-cut is what the paper says that it is', () => {
  let cuts = 0
  for (const graph of manyGraphs())
    for (let crashes = 0; crashes < graph.length; crashes += 1) {
      const cut = sharedMemoryCut(graph, crashes)
      if (cut === undefined) continue
      cuts += 1
      const [first, second] = cut.between
      const all = [...cut.one, ...cut.other, ...first, ...second].sort((one, other) => one - other)
      assert.deepEqual(all, [...graph.keys()])
      assert.ok(cut.one.length >= graph.length - crashes && cut.other.length >= graph.length - crashes)
      const share = (some: readonly number[], others: readonly number[]): boolean =>
        some.some((process) => others.some((other) => graph[process]!.includes(other)))
      assert.ok(!share(cut.one, cut.other) && !share(first, cut.other) && !share(second, cut.one))
    }
  assert.ok(cuts > 100)
})

test('an SM-cut is found exactly where one is, for all graphs of up to five processes', () => {
  for (const processes of [2, 3, 4, 5])
    for (const graph of graphShapes(processes))
      for (let crashes = 0; crashes < processes; crashes += 1) {
        const sets = setsOf(processes, processes - crashes)
        const exists = sets.some((one) =>
          sets.some((other) => {
            const represented = new Set(representedBy(graph, one))
            return representedBy(graph, other).every((process) => !represented.has(process))
          }),
        )
        assert.equal(sharedMemoryCut(graph, crashes) !== undefined, exists)
      }
})

test('HBO withstands nothing that an SM-cut makes impossible', () => {
  for (const graph of manyGraphs()) assert.equal(sharedMemoryCut(graph, exactTolerance(graph)), undefined)
})

test('without shared memory, and on hypercubes of 8 and 16, the impossibility begins right above what HBO withstands', () => {
  for (const graph of [emptyGraph(4), emptyGraph(8), hypercubeGraph(8), hypercubeGraph(16)])
    assert.notEqual(sharedMemoryCut(graph, exactTolerance(graph) + 1), undefined)
})

test('on a graph with too many processes to enumerate, it is refused', () => {
  assert.throws(() => exactTolerance(emptyGraph(31)), /up to 30 processes/)
})
