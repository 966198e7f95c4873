import type { CompressedGraph } from './compressed-graph.ts'

/** Makes a window of a region; `region.view` has this shape. */
export type OpenWindow = <T extends Uint32Array | Float64Array>(
  type: WindowConstructor<T>,
  window: { byteOffset: number; length: number },
) => T

/** A kind of typed array. */
interface WindowConstructor<T> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): T
}

/** Gives out parts of a region one after the other, each on a page of its own. */
export class RegionCursor {
  readonly #pageBytes: number
  #end = 0

  constructor(pageBytes: number) {
    this.#pageBytes = pageBytes
  }

  /** Byte offset of a part of that length. */
  place(lengthBytes: number): number {
    const start = this.#end
    this.#end += Math.ceil(lengthBytes / this.#pageBytes) * this.#pageBytes
    return start
  }

  /** Bytes given out, a multiple of the page. */
  get lengthBytes(): number {
    return this.#end
  }
}

/** Where a graph lies in a region, as byte offsets. */
export interface GraphLayout {
  readonly vertexCount: number
  readonly edgeCount: number
  readonly offsets: number
  readonly sources: number
  readonly outDegrees: number
}

export function placeGraph(cursor: RegionCursor, vertexCount: number, edgeCount: number): GraphLayout {
  return {
    vertexCount,
    edgeCount,
    offsets: cursor.place((vertexCount + 1) * Uint32Array.BYTES_PER_ELEMENT),
    sources: cursor.place(edgeCount * Uint32Array.BYTES_PER_ELEMENT),
    outDegrees: cursor.place(vertexCount * Uint32Array.BYTES_PER_ELEMENT),
  }
}

/** The graph whose arrays are windows of a region. */
export function openGraph(layout: GraphLayout, open: OpenWindow): CompressedGraph {
  return {
    offsets: open(Uint32Array, { byteOffset: layout.offsets, length: layout.vertexCount + 1 }),
    sources: open(Uint32Array, { byteOffset: layout.sources, length: layout.edgeCount }),
    outDegrees: open(Uint32Array, { byteOffset: layout.outDegrees, length: layout.vertexCount }),
  }
}

export function copyGraph(from: CompressedGraph, to: CompressedGraph): void {
  to.offsets.set(from.offsets)
  to.sources.set(from.sources)
  to.outDegrees.set(from.outDegrees)
}
