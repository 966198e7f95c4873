import { countBlocks } from './block-split.ts'
import { type GraphLayout, type OpenWindow, openGraph, placeGraph, RegionCursor } from './graph-layout.ts'
import { partialsPerBlock, type RankState } from './rank-state.ts'

/** What a layout is computed from; every member of the group has the same. */
export interface LayoutInput {
  readonly vertexCount: number
  readonly edgeCount: number
  /** Member m owns blocks `bounds[m] … bounds[m + 1] - 1`. */
  readonly bounds: Uint32Array
  /** Page size of the region, a multiple of 4 KiB. */
  readonly pageBytes: number
}

/**
 * Where the arrays of a {@link RankState} lie in a region, as byte offsets. Each starts on a page of its own; the
 * partial sums of each member have pages of their own.
 * ```
 * offsets | sources | outDegrees | ranks | contributions 0 | contributions 1 | partials 0: member 0 | member 1 | …
 *        | partials 1: member 0 | …
 * ```
 */
export interface RegionLayout {
  readonly lengthBytes: number
  readonly graph: GraphLayout
  readonly ranks: number
  readonly contributions: readonly [number, number]
  readonly partials: readonly [number, number]
  /** Length of each of the two `partials`. */
  readonly partialsBytes: number
  /** Index of each block's two numbers in `partials`. */
  readonly slots: Uint32Array
}

export function planRegion(input: LayoutInput): RegionLayout {
  const { vertexCount, edgeCount, pageBytes } = input
  const cursor = new RegionCursor(pageBytes)
  const vertexBytes = vertexCount * Float64Array.BYTES_PER_ELEMENT
  const graph = placeGraph(cursor, vertexCount, edgeCount)
  const ranks = cursor.place(vertexBytes)
  const contributions = [cursor.place(vertexBytes), cursor.place(vertexBytes)] as const
  const { slots, lengthBytes: partialsBytes } = planSlots(input)
  const partials = [cursor.place(partialsBytes), cursor.place(partialsBytes)] as const
  return { graph, ranks, contributions, partials, partialsBytes, slots, lengthBytes: cursor.lengthBytes }
}

/** The state whose arrays are windows of a region. */
export function openRankState(layout: RegionLayout, open: OpenWindow): RankState {
  const column = (byteOffset: number) => open(Float64Array, { byteOffset, length: layout.graph.vertexCount })
  const partialsLength = layout.partialsBytes / Float64Array.BYTES_PER_ELEMENT
  const partials = (byteOffset: number) => open(Float64Array, { byteOffset, length: partialsLength })
  return {
    graph: openGraph(layout.graph, open),
    ranks: column(layout.ranks),
    contributions: [column(layout.contributions[0]), column(layout.contributions[1])],
    partials: [partials(layout.partials[0]), partials(layout.partials[1])],
    slots: layout.slots,
  }
}

function planSlots({ vertexCount, bounds, pageBytes }: LayoutInput): { slots: Uint32Array; lengthBytes: number } {
  const slots = new Uint32Array(countBlocks(vertexCount))
  const cursor = new RegionCursor(pageBytes)
  for (let member = 0; member + 1 < bounds.length; member += 1) {
    const first = bounds[member]!
    const last = bounds[member + 1]!
    const start = cursor.place((last - first) * partialsPerBlock * Float64Array.BYTES_PER_ELEMENT)
    for (let block = first; block < last; block += 1) {
      slots[block] = start / Float64Array.BYTES_PER_ELEMENT + (block - first) * partialsPerBlock
    }
  }
  return { slots, lengthBytes: cursor.lengthBytes }
}
