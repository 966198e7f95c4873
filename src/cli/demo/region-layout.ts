import { countBlocks } from './block-split.ts'
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
 * Where the arrays of a {@link RankState} lie in a region. Each starts on a page of its own; the partial sums of each member have pages of their own.
 * ```
 * offsets | sources | outDegrees | ranks | contributions 0 | contributions 1 | partials 0: member 0 | member 1 | … | partials 1: member 0 | …
 * ```
 */
export interface RegionLayout {
  readonly lengthBytes: number
  /** Byte offsets. */
  readonly offsets: number
  readonly sources: number
  readonly outDegrees: number
  readonly ranks: number
  readonly contributions: readonly [number, number]
  readonly partials: readonly [number, number]
  /** Length of each of the two `partials`. */
  readonly partialsBytes: number
  /** Index of each block's two numbers in `partials`. */
  readonly slots: Uint32Array
}

/** Makes a window of the region; `region.view` has this shape. */
export type OpenWindow = <T extends Uint32Array | Float64Array>(
  type: { new (length: number): T },
  window: { byteOffset: number; length: number },
) => T

export function planRegion(input: LayoutInput): RegionLayout {
  const { vertexCount, edgeCount, pageBytes } = input
  const slots = planSlots(input)
  let end = 0
  const place = (lengthBytes: number): number => {
    const start = end
    end += roundUp(lengthBytes, pageBytes)
    return start
  }
  const vertexBytes = vertexCount * Float64Array.BYTES_PER_ELEMENT
  return {
    offsets: place((vertexCount + 1) * Uint32Array.BYTES_PER_ELEMENT),
    sources: place(edgeCount * Uint32Array.BYTES_PER_ELEMENT),
    outDegrees: place(vertexCount * Uint32Array.BYTES_PER_ELEMENT),
    ranks: place(vertexBytes),
    contributions: [place(vertexBytes), place(vertexBytes)],
    partials: [place(slots.lengthBytes), place(slots.lengthBytes)],
    partialsBytes: slots.lengthBytes,
    slots: slots.slots,
    lengthBytes: end,
  }
}

/** The state whose arrays are windows of a region. */
export function openRankState(layout: RegionLayout, input: LayoutInput, open: OpenWindow): RankState {
  const { vertexCount, edgeCount } = input
  const column = (byteOffset: number, length: number) => open(Float64Array, { byteOffset, length })
  const partialsLength = layout.partialsBytes / Float64Array.BYTES_PER_ELEMENT
  return {
    graph: {
      offsets: open(Uint32Array, {
        byteOffset: layout.offsets,
        length: vertexCount + 1,
      }),
      sources: open(Uint32Array, {
        byteOffset: layout.sources,
        length: edgeCount,
      }),
      outDegrees: open(Uint32Array, {
        byteOffset: layout.outDegrees,
        length: vertexCount,
      }),
    },
    ranks: column(layout.ranks, vertexCount),
    contributions: [column(layout.contributions[0], vertexCount), column(layout.contributions[1], vertexCount)],
    partials: [column(layout.partials[0], partialsLength), column(layout.partials[1], partialsLength)],
    slots: layout.slots,
  }
}

function planSlots({ vertexCount, bounds, pageBytes }: LayoutInput): {
  slots: Uint32Array
  lengthBytes: number
} {
  const slots = new Uint32Array(countBlocks(vertexCount))
  let start = 0
  for (let member = 0; member + 1 < bounds.length; member++) {
    const first = bounds[member]!
    const last = bounds[member + 1]!
    for (let block = first; block < last; block++) {
      slots[block] = start / Float64Array.BYTES_PER_ELEMENT + (block - first) * partialsPerBlock
    }
    start += roundUp((last - first) * partialsPerBlock * Float64Array.BYTES_PER_ELEMENT, pageBytes)
  }
  return { slots, lengthBytes: start }
}

function roundUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit
}
