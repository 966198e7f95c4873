import type { EdgeSet } from './edge-set.ts'

/**
 * A graph by incoming edges (compressed sparse rows of the transposed adjacency matrix).
 * The arrays are given from outside: a single process passes its own, members of a group windows of a shared region.
 */
export interface CompressedGraph {
  /** vertexCount + 1 entries: the edges into v are `sources[offsets[v] … offsets[v + 1])`. */
  readonly offsets: Uint32Array
  /** One entry an edge: where it comes from. */
  readonly sources: Uint32Array
  /** One entry a vertex: how many edges leave it. */
  readonly outDegrees: Uint32Array
}

/** Arrays of the right lengths in this process's own memory. */
export function allocateGraph(vertexCount: number, edgeCount: number): CompressedGraph {
  return {
    offsets: new Uint32Array(vertexCount + 1),
    sources: new Uint32Array(edgeCount),
    outDegrees: new Uint32Array(vertexCount),
  }
}

/** Fill `graph` from an edge list by a counting sort on the target; edges into one vertex keep their order. */
export function compressEdges(edges: EdgeSet, graph: CompressedGraph): void {
  const { from, to, vertexCount } = edges
  const { offsets, sources, outDegrees } = graph
  assertLengths(edges, graph)
  // offsets[v + 1] first counts the edges into v, then is where the next edge into v goes, and so ends as where those
  // of v end.
  offsets.fill(0)
  outDegrees.fill(0)
  for (let edge = 0; edge < to.length; edge += 1) {
    offsets[to[edge]! + 1]! += 1
    outDegrees[from[edge]!]! += 1
  }
  let start = 0
  for (let vertex = 1; vertex <= vertexCount; vertex += 1) {
    const count = offsets[vertex]!
    offsets[vertex] = start
    start += count
  }
  for (let edge = 0; edge < to.length; edge += 1) sources[offsets[to[edge]! + 1]!++] = from[edge]!
}

function assertLengths({ vertexCount, from }: EdgeSet, { offsets, sources, outDegrees }: CompressedGraph): void {
  if (offsets.length !== vertexCount + 1 || sources.length !== from.length || outDegrees.length !== vertexCount) {
    throw new RangeError(
      `arrays of ${offsets.length}, ${sources.length} and ${outDegrees.length} entries cannot hold this graph`,
    )
  }
}
