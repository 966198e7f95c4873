import { countBlocks } from './block-split.ts'
import type { CompressedGraph } from './compressed-graph.ts'

/**
 * Numbers a block leaves behind in an iteration: the change of its ranks and the rank of its vertices without outgoing
 * edges.
 */
export const partialsPerBlock = 2

/**
 * Everything an iteration reads and writes. `contributions` and `partials` exist twice: iteration k writes the pair k
 * mod 2, while slower members may still read the other pair. So one barrier for each iteration is enough.
 */
export interface RankState {
  readonly graph: CompressedGraph
  /** Rank of each vertex; each entry is read and written by its owner only, until the end. */
  readonly ranks: Float64Array
  /** rank / out-degree of each vertex, what it gives along each of its edges; written by its owner, read by all. */
  readonly contributions: readonly [Float64Array, Float64Array]
  /** Change and dangling rank of each block, at `slots[block]`; written by the block's owner, read by all. */
  readonly partials: readonly [Float64Array, Float64Array]
  /** Where in `partials` each block has its two numbers. */
  readonly slots: Uint32Array
}

/** A state of one process's own, for a graph of its own. */
export function allocateRankState(graph: CompressedGraph): RankState {
  const vertexCount = graph.outDegrees.length
  const blocks = countBlocks(vertexCount)
  const column = (length: number) => new Float64Array(length)
  return {
    graph,
    ranks: column(vertexCount),
    contributions: [column(vertexCount), column(vertexCount)],
    partials: [column(blocks * partialsPerBlock), column(blocks * partialsPerBlock)],
    slots: Uint32Array.from({ length: blocks }, (_, block) => block * partialsPerBlock),
  }
}
