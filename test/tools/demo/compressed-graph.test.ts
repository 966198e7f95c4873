import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { allocateGraph, compressEdges } from '../../../tools/demo/compressed-graph.ts'
import { compress, edgeSetOf, edgeSets } from './random-graph.ts'

test('lists the sources of each vertex, in the order of the edges', () => {
  const graph = compress(
    edgeSetOf(3, [
      [2, 1],
      [0, 1],
      [1, 1],
      [0, 2],
    ]),
  )
  assert.deepEqual([...graph.offsets], [0, 0, 3, 4])
  assert.deepEqual([...graph.sources], [2, 0, 1, 0])
  assert.deepEqual([...graph.outDegrees], [2, 1, 1])
})

test('holds exactly the edges it was given, for any graph', () => {
  fc.assert(
    fc.property(edgeSets, (edges) => {
      const graph = compress(edges)
      for (let vertex = 0; vertex < edges.vertexCount; vertex += 1) {
        const incoming = [...edges.to.keys()].filter((edge) => edges.to[edge] === vertex)
        const held = graph.sources.subarray(graph.offsets[vertex], graph.offsets[vertex + 1])
        assert.deepEqual(
          [...held],
          incoming.map((edge) => edges.from[edge]),
        )
        assert.equal(graph.outDegrees[vertex], edges.from.filter((from) => from === vertex).length)
      }
    }),
  )
})

test('arrays that held another graph before are overwritten', () => {
  const graph = allocateGraph(2, 1)
  for (const array of Object.values(graph)) array.fill(99)
  compressEdges(edgeSetOf(2, [[1, 0]]), graph)
  assert.deepEqual([...graph.offsets], [0, 1, 1])
  assert.deepEqual([...graph.outDegrees], [0, 1])
})

test('refuses arrays of other lengths', () => {
  assert.throws(() => compressEdges(edgeSetOf(3, [[1, 0]]), allocateGraph(2, 1)), RangeError)
  assert.throws(() => compressEdges(edgeSetOf(2, [[1, 0]]), allocateGraph(2, 2)), RangeError)
})
