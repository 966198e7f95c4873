import fc from 'fast-check'
import { allocateGraph, type CompressedGraph, compressEdges } from '../../../tools/demo/compressed-graph.ts'
import type { EdgeSet } from '../../../tools/demo/edge-set.ts'

/** Any small graph, with parallel edges, self-loops and lonely vertices. */
export const edgeSets: fc.Arbitrary<EdgeSet> = fc
  .integer({ min: 1, max: 40 })
  .chain((vertexCount) => {
    const vertex = fc.integer({ min: 0, max: vertexCount - 1 })
    return fc.record({
      vertexCount: fc.constant(vertexCount),
      pairs: fc.array(fc.tuple(vertex, vertex), { maxLength: 120 }),
    })
  })
  .map(({ vertexCount, pairs }) => edgeSetOf(vertexCount, pairs))

export function edgeSetOf(vertexCount: number, pairs: readonly (readonly [number, number])[]): EdgeSet {
  return {
    name: 'test',
    vertexCount,
    from: Uint32Array.from(pairs, ([from]) => from),
    to: Uint32Array.from(pairs, ([, to]) => to),
    describe: (vertex) => ({ name: String(vertex), gloss: '' }),
  }
}

export function compress(edges: EdgeSet): CompressedGraph {
  const graph = allocateGraph(edges.vertexCount, edges.from.length)
  compressEdges(edges, graph)
  return graph
}
