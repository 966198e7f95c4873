import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  automorphismsOf,
  completeGraph,
  emptyGraph,
  graphNamed,
  graphOfEdges,
  graphShapes,
  hypercubeGraph,
  margulisGraph,
  randomRegularGraph,
  ringGraph,
  wrongNeighbours,
} from '../../../../tools/agreement/graph/graphs.ts'

const degreesOf = (neighbours: readonly (readonly number[])[]): number[] => neighbours.map(({ length }) => length)

test('a graph is symmetric, and no process is its own neighbour', () => {
  const graphs = [
    completeGraph(5),
    ringGraph(7),
    hypercubeGraph(8),
    margulisGraph(9),
    randomRegularGraph(10, 3, 1),
    emptyGraph(3),
    graphOfEdges(3, [[0, 2]]),
  ]
  for (const graph of graphs) assert.equal(wrongNeighbours(graph, graph.length), undefined)
})

test('small graphs are those one would draw', () => {
  assert.deepEqual(completeGraph(3), [
    [1, 2],
    [0, 2],
    [0, 1],
  ])
  assert.deepEqual(ringGraph(4), [
    [1, 3],
    [0, 2],
    [1, 3],
    [0, 2],
  ])
  assert.deepEqual(ringGraph(2), [[1], [0]])
  assert.deepEqual(ringGraph(1), [[]])
  assert.deepEqual(hypercubeGraph(4), [
    [1, 2],
    [0, 3],
    [0, 3],
    [1, 2],
  ])
  assert.deepEqual(
    graphOfEdges(3, [
      [2, 0],
      [0, 2],
      [1, 1],
    ]),
    [[2], [], [0]],
  )
})

test('a hypercube and a random regular graph have the same number of neighbours for all', () => {
  assert.deepEqual(new Set(degreesOf(hypercubeGraph(16))), new Set([4]))
  for (const [processes, degree] of [
    [8, 3],
    [10, 4],
    [7, 6],
    [12, 9],
    [6, 0],
  ] as const)
    for (let seed = 1; seed <= 20; seed += 1)
      assert.deepEqual(new Set(degreesOf(randomRegularGraph(processes, degree, seed))), new Set([degree]))
})

test('a random graph is that of its seed', () => {
  assert.deepEqual(randomRegularGraph(12, 3, 5), randomRegularGraph(12, 3, 5))
  assert.notDeepEqual(randomRegularGraph(12, 3, 5), randomRegularGraph(12, 3, 6))
})

test('a Margulis graph has at most eight neighbours for each, however many processes', () => {
  for (const side of [2, 3, 4, 5]) assert.ok(Math.max(...degreesOf(margulisGraph(side * side))) <= 8)
  // (1, 2) modulo 5 leads to (0, 2), (1, 4), (1, 0) and along y; and (2, 2), (1, 3) and others lead to it.
  assert.ok(margulisGraph(25)[7]!.includes(2))
  assert.ok(margulisGraph(25)[7]!.includes(9))
})

test('graphs have names, and what is wrong with one is said', () => {
  assert.deepEqual(graphNamed('0-1,1-2', 3), [[1], [0, 2], [1]])
  assert.deepEqual(graphNamed('random-2', 6, 4), randomRegularGraph(6, 2, 4))
  assert.throws(() => graphNamed('star', 3), /no graph 'star': take one of complete, ring/)
  assert.throws(() => graphNamed('0-3', 3), /leads out of a graph of 3/)
  assert.throws(() => graphNamed('hypercube', 6), /power of two/)
  assert.throws(() => graphNamed('margulis', 8), /square/)
  assert.throws(() => randomRegularGraph(5, 3, 1), /no graph of 5 processes has 3 neighbours/)
  assert.match(wrongNeighbours([[1], []], 2)!, /not the other way round/)
  assert.match(wrongNeighbours([[0]], 1)!, /its own neighbour/)
  assert.match(wrongNeighbours([[4]], 1)!, /does not exist/)
  assert.match(wrongNeighbours([[]], 2)!, /has 1 processes where the setting has 2/)
})

test('there are 1, 2, 4, 11 and 34 shapes of graphs of one to five processes', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((processes) => graphShapes(processes).length),
    [1, 2, 4, 11, 34],
  )
})

test('a ring of n has 2n symmetries, and a complete graph of n has n!', () => {
  assert.equal(automorphismsOf(ringGraph(5)).length, 10)
  assert.equal(automorphismsOf(completeGraph(4)).length, 24)
})
