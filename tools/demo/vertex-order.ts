import type { EdgeSet } from './edge-set.ts'

/** The work is dealt into 2^6 parts, more than the processes that one machine would run. */
const partBits = 6
const parts = 2 ** partBits

/** Contributions in a cache line, what is dealt at a time. */
const lineVertices = 8

/**
 * The same graph with its vertices numbered so that the ones that are read most lie side by side. A vertex's
 * contribution is read once for each edge that leaves it, from anywhere. If few vertices have most of the edges, their
 * contributions are then side by side and fit the cache of one CPU.
 *
 * Sorted by out-degree alone, the first pages would have nearly all of the work, so the sorted vertices are dealt out
 * by cache lines. Vertices without outgoing edges come last: their contributions are never read, so those pages never
 * move. The result does not depend on the number of processes.
 *
 * "Hub clustering": Balaji and Lucia, "When is Graph Reordering an Optimization?", IISWC 2018.
 */
export function clusterHubs(edges: EdgeSet): EdgeSet {
  const { sorted, givers } = sortByOutDegree(edges)
  dealLines(sorted.subarray(0, givers))
  const places = sorted
  const numbers = new Uint32Array(edges.vertexCount)
  places.forEach((vertex, number) => {
    numbers[vertex] = number
  })
  const renumber = (column: Uint32Array) => column.map((vertex) => numbers[vertex]!)
  return {
    ...edges,
    from: renumber(edges.from),
    to: renumber(edges.to),
    describe: (vertex) => edges.describe(places[vertex]!),
  }
}

/**
 * Vertices by descending number of edges that leave them, equals by number: a counting sort. Edges leave the first
 * `givers` of them.
 */
function sortByOutDegree({ from, vertexCount }: EdgeSet): { sorted: Uint32Array; givers: number } {
  const degrees = new Uint32Array(vertexCount)
  for (let edge = 0; edge < from.length; edge += 1) degrees[from[edge]!]! += 1
  const largest = degrees.reduce((most, degree) => Math.max(most, degree), 0)
  // starts[d] first counts the vertices of degree d, then is where the next of them goes.
  const starts = new Uint32Array(largest + 1)
  for (let vertex = 0; vertex < vertexCount; vertex += 1) starts[degrees[vertex]!]! += 1
  let start = 0
  for (let degree = largest; degree >= 0; degree -= 1) {
    const count = starts[degree]!
    starts[degree] = start
    start += count
  }
  const givers = starts[0]!
  const sorted = new Uint32Array(vertexCount)
  for (let vertex = 0; vertex < vertexCount; vertex += 1) sorted[starts[degrees[vertex]!]!++] = vertex
  return { sorted, givers }
}

/**
 * Every 64th cache line, from the first on, then from another on, … The earlier a part begins the more work it has, so
 * the beginnings come in bit-reversed order: 0, 32, 16, 48, … Wherever the parts are cut, both sides have early ones
 * and late ones.
 */
function dealLines(vertices: Uint32Array): void {
  const sorted = vertices.slice()
  let next = 0
  for (let part = 0; part < parts; part += 1) {
    for (let first = reverseBits(part) * lineVertices; first < sorted.length; first += parts * lineVertices) {
      const line = sorted.subarray(first, first + lineVertices)
      vertices.set(line, next)
      next += line.length
    }
  }
}

function reverseBits(part: number): number {
  let reversed = 0
  for (let bit = 0; bit < partBits; bit += 1) reversed = (reversed << 1) | ((part >> bit) & 1)
  return reversed
}
