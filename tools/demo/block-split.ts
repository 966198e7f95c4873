/**
 * Vertices in a block, the unit of work and of summation. 512 doubles are one page of 4 KiB. It must never change: sums
 * are taken block by block, so that the result does not depend on the processes or the page size.
 */
export const blockVertices = 512

/**
 * Weight of a vertex against an edge when work is divided: its division, its rank, its contribution. Only balance
 * depends on it.
 */
const vertexWeight = 4

/** How many blocks a graph has; the last may be short. */
export function countBlocks(vertexCount: number): number {
  return Math.ceil(vertexCount / blockVertices)
}

/**
 * Divide the blocks among `members` so that each has about the same number of incoming edges: member m takes blocks
 * `bounds[m] … bounds[m + 1] - 1`. Bounds are page boundaries of the rank vectors, so that no page has two writers.
 * If pages are too large for the graph, some members have no work.
 */
export function splitBlocks(offsets: Uint32Array, members: number, pageBytes: number): Uint32Array {
  const vertexCount = offsets.length - 1
  const blocks = countBlocks(vertexCount)
  const blocksPerPage = Math.max(1, pageBytes / (blockVertices * Float64Array.BYTES_PER_ELEMENT))
  const costBefore = (block: number) => {
    const vertex = Math.min(block * blockVertices, vertexCount)
    return offsets[vertex]! + vertex * vertexWeight
  }
  const bounds = new Uint32Array(members + 1)
  for (let member = 1; member < members; member += 1) {
    const share = (costBefore(blocks) * member) / members
    let bound = bounds[member - 1]!
    // The border nearest to the share: go on while the middle of the next page is still before it.
    while (bound < blocks && (costBefore(bound) + costBefore(Math.min(bound + blocksPerPage, blocks))) / 2 < share) {
      bound = Math.min(bound + blocksPerPage, blocks)
    }
    bounds[member] = bound
  }
  bounds[members] = blocks
  return bounds
}
