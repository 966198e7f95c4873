import type { Region } from 'aether-dsm'
import { blockVertices } from './block-split.ts'
import type { CompressedGraph } from './compressed-graph.ts'
import { partialsPerBlock } from './rank-state.ts'
import type { RegionLayout } from './region-layout.ts'

/** What one member works on: indexes, each `end` the one behind the last. */
export interface Share {
  readonly firstBlock: number
  readonly endBlock: number
  readonly firstVertex: number
  readonly endVertex: number
  /** The end of the vertices with outgoing edges. Contributions of the others are never read. */
  readonly endGiver: number
  readonly firstEdge: number
  readonly endEdge: number
}

/** The share of `rank`, where member m has blocks `bounds[m] … bounds[m + 1] - 1`. */
export function shareOf(graph: CompressedGraph, bounds: Uint32Array, rank: number): Share {
  const vertexCount = graph.outDegrees.length
  const firstBlock = bounds[rank]!
  const endBlock = bounds[rank + 1]!
  const firstVertex = Math.min(firstBlock * blockVertices, vertexCount)
  const endVertex = Math.min(endBlock * blockVertices, vertexCount)
  const endGiver = graph.outDegrees.findLastIndex((degree) => degree > 0) + 1
  const firstEdge = graph.offsets[firstVertex]!
  const endEdge = graph.offsets[endVertex]!
  return { firstBlock, endBlock, firstVertex, endVertex, endGiver, firstEdge, endEdge }
}

/** The part of the graph that this member reads. */
export async function fetchGraph(region: Region, { graph }: RegionLayout, own: Share): Promise<void> {
  const vertices = own.endVertex - own.firstVertex
  await Promise.all([
    region.prefetch(graph.offsets + own.firstVertex * 4, (vertices + 1) * 4),
    region.prefetch(graph.outDegrees + own.firstVertex * 4, vertices * 4),
    region.prefetch(graph.sources + own.firstEdge * 4, (own.endEdge - own.firstEdge) * 4),
  ])
}

/**
 * After each iteration, fetches the others' contributions for reading, and the pages that this member writes next for
 * writing; no member reads those any more. Round trips of pages overlap if they are requested together. If they were
 * touched one by one, each page would be a separate fault.
 */
export function fetcherOf(region: Region, layout: RegionLayout, own: Share): (iteration: number) => Promise<void> {
  const givers = Math.max(0, Math.min(own.endVertex, own.endGiver) - own.firstVertex)
  const partials = {
    start: (layout.slots[own.firstBlock] ?? 0) * 8,
    length: (own.endBlock - own.firstBlock) * partialsPerBlock * 8,
  }
  const write = { access: 'write' } as const
  return async (iteration) => {
    const current = (iteration & 1) as 0 | 1
    const next = (current ^ 1) as 0 | 1
    await Promise.all([
      region.prefetch(layout.contributions[current], own.endGiver * 8),
      region.prefetch(layout.partials[current], layout.partialsBytes),
      region.prefetch(layout.contributions[next] + own.firstVertex * 8, givers * 8, write),
      region.prefetch(layout.partials[next] + partials.start, partials.length, write),
    ])
  }
}
