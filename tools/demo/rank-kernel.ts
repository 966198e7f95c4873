import { blockVertices } from './block-split.ts'
import type { RankState } from './rank-state.ts'

/** Probability of following an edge rather than jumping anywhere. Brin and Page, 1998. */
const damping = 0.85

/** What a whole iteration left behind. */
export interface IterationTotals {
  /** L1 distance of the ranks from those before. */
  readonly change: number
  /** Rank that sits on vertices without outgoing edges; the next iteration spreads it over all. */
  readonly dangling: number
}

/** Iteration 0 of blocks `firstBlock … lastBlock - 1`: every vertex has the same rank. */
export function initialiseBlocks(state: RankState, firstBlock: number, lastBlock: number): void {
  const { ranks, graph } = state
  const rank = 1 / ranks.length
  for (let block = firstBlock; block < lastBlock; block += 1) {
    const end = Math.min((block + 1) * blockVertices, ranks.length)
    let dangling = 0
    for (let vertex = block * blockVertices; vertex < end; vertex += 1) {
      const degree = graph.outDegrees[vertex]!
      ranks[vertex] = rank
      state.contributions[0][vertex] = degree === 0 ? 0 : rank / degree
      if (degree === 0) dangling += rank
    }
    // All of the rank is new.
    writePartials(state, 0, block, (end - block * blockVertices) * rank, dangling)
  }
}

/**
 * Iteration `iteration` >= 1 of blocks `firstBlock … lastBlock - 1`. `dangling` is the rank of vertices without
 * outgoing edges after the previous iteration.
 *
 * ```
 * rank(v) = (1 - d) / n + d · (Σ rank(u) / outDegree(u) over edges u -> v + dangling / n)
 * ```
 *
 * Each vertex pulls from its in-neighbours in the order of its edges, so the result does not depend on the member that
 * computes it.
 */
export function iterateBlocks(
  state: RankState,
  iteration: number,
  dangling: number,
  firstBlock: number,
  lastBlock: number,
): void {
  const vertexCount = state.ranks.length
  const base = (1 - damping) / vertexCount + (damping * dangling) / vertexCount
  for (let block = firstBlock; block < lastBlock; block += 1) {
    iterateBlock(state, iteration, base, block, Math.min((block + 1) * blockVertices, vertexCount))
  }
}

/** The hot loop: one read of `sources` and one gather from `contributions` an edge. */
function iterateBlock(state: RankState, iteration: number, base: number, block: number, end: number): void {
  const { offsets, sources, outDegrees } = state.graph
  const ranks = state.ranks
  const current = iteration & 1
  const given = state.contributions[current ^ 1]!
  const giving = state.contributions[current]!
  let change = 0
  let nextDangling = 0
  let edge = offsets[block * blockVertices]!
  for (let vertex = block * blockVertices; vertex < end; vertex += 1) {
    const lastEdge = offsets[vertex + 1]!
    let sum = 0
    for (; edge < lastEdge; edge += 1) sum += given[sources[edge]!]!
    const rank = base + damping * sum
    change += Math.abs(rank - ranks[vertex]!)
    ranks[vertex] = rank
    const degree = outDegrees[vertex]!
    giving[vertex] = degree === 0 ? 0 : rank / degree
    if (degree === 0) nextDangling += rank
  }
  writePartials(state, current, block, change, nextDangling)
}

/** Add up what all blocks left behind, in block order: every member gets the same bits. */
export function sumBlocks(state: RankState, iteration: number): IterationTotals {
  const partials = state.partials[iteration & 1]!
  let change = 0
  let dangling = 0
  for (const slot of state.slots) {
    change += partials[slot]!
    dangling += partials[slot + 1]!
  }
  return { change, dangling }
}

function writePartials(state: RankState, parity: number, block: number, change: number, dangling: number): void {
  const slot = state.slots[block]!
  const partials = state.partials[parity]!
  partials[slot] = change
  partials[slot + 1] = dangling
}
