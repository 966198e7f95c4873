import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countBlocks, splitBlocks } from '../../../tools/demo/block-split.ts'
import type { EdgeSet } from '../../../tools/demo/edge-set.ts'
import type { OpenWindow } from '../../../tools/demo/graph-layout.ts'
import { generateKronecker } from '../../../tools/demo/kronecker.ts'
import { computePageRank, type PageRankResult } from '../../../tools/demo/pagerank.ts'
import { allocateRankState, type RankState } from '../../../tools/demo/rank-state.ts'
import { openRankState, planRegion } from '../../../tools/demo/region-layout.ts'
import { compress, edgeSetOf, edgeSets } from './random-graph.ts'

/** Power iteration on the dense matrix, straight from the definition. */
function naivePageRank({ vertexCount: n, from, to }: EdgeSet): number[] {
  const matrix = Array.from({ length: n }, () => new Array<number>(n).fill(0))
  for (const [edge, source] of from.entries()) matrix[to[edge]!]![source]! += 1
  const outDegree = Array.from({ length: n }, (_, source) => matrix.reduce((sum, row) => sum + row[source]!, 0))
  for (const row of matrix) {
    for (let source = 0; source < n; source += 1)
      row[source] = outDegree[source] === 0 ? 1 / n : row[source]! / outDegree[source]!
  }
  let ranks = new Array<number>(n).fill(1 / n)
  for (let iteration = 0; iteration < 200; iteration += 1) {
    ranks = matrix.map((row) => 0.15 / n + 0.85 * row.reduce((sum, weight, source) => sum + weight * ranks[source]!, 0))
  }
  return ranks
}

async function rankAlone(edges: EdgeSet): Promise<{ state: RankState; result: PageRankResult }> {
  const state = allocateRankState(compress(edges))
  const result = await computePageRank(state, { firstBlock: 0, lastBlock: countBlocks(edges.vertexCount) })
  return { state, result }
}

/** A barrier among members that are promises in one thread. */
function createBarrier(members: number): () => Promise<void> {
  let waiting: (() => void)[] = []
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length < members) return
      for (const go of waiting) go()
      waiting = []
    })
}

/** As many members as asked for, over one buffer that stands for the shared region; each makes its own windows. */
async function rankTogether(
  edges: EdgeSet,
  members: number,
  pageBytes: number,
): Promise<{ state: RankState; results: PageRankResult[] }> {
  const alone = compress(edges)
  const bounds = splitBlocks(alone.offsets, members, pageBytes)
  const input = { vertexCount: edges.vertexCount, edgeCount: edges.from.length, bounds, pageBytes }
  const layout = planRegion(input)
  const buffer = new SharedArrayBuffer(layout.lengthBytes)
  const open: OpenWindow = (type, { byteOffset, length }) => new type(buffer, byteOffset, length)
  const states = Array.from({ length: members }, () => openRankState(layout, open))
  states[0]!.graph.offsets.set(alone.offsets)
  states[0]!.graph.sources.set(alone.sources)
  states[0]!.graph.outDegrees.set(alone.outDegrees)
  const barrier = createBarrier(members)
  const results = await Promise.all(
    states.map((state, member) =>
      computePageRank(state, { firstBlock: bounds[member]!, lastBlock: bounds[member + 1]!, barrier }),
    ),
  )
  return { state: states.at(-1)!, results }
}

test('agrees with the dense definition, for any small graph', async () => {
  await fc.assert(
    fc.asyncProperty(edgeSets, async (edges) => {
      const { state, result } = await rankAlone(edges)
      assert(result.converged)
      const expected = naivePageRank(edges)
      const distance = expected.reduce((sum, rank, vertex) => sum + Math.abs(rank - state.ranks[vertex]!), 0)
      assert(distance < 1e-8, `L1 distance ${distance}`)
    }),
  )
})

test('ranks sum to one where most vertices have no outgoing edge', async () => {
  const { state } = await rankAlone(edgeSetOf(1500, [[0, 1400]]))
  const total = state.ranks.reduce((sum, rank) => sum + rank, 0)
  assert(Math.abs(total - 1) < 1e-12, `${total}`)
})

test('the vertex that all others point to is first', async () => {
  const { state } = await rankAlone(
    edgeSetOf(5, [
      [0, 3],
      [1, 3],
      [2, 3],
      [4, 3],
      [3, 0],
    ]),
  )
  assert.equal(state.ranks.indexOf(Math.max(...state.ranks)), 3)
})

const kronecker = generateKronecker({ scale: 13, seed: 11 })

for (const members of [1, 2, 3, 4, 5]) {
  test(`${members} members get the bits of one process`, async () => {
    const { state: alone, result } = await rankAlone(kronecker)
    for (const pageBytes of [4096, 16_384]) {
      const { state, results } = await rankTogether(kronecker, members, pageBytes)
      assert.deepEqual(new BigUint64Array(state.ranks.slice().buffer), new BigUint64Array(alone.ranks.slice().buffer))
      for (const each of results) {
        assert.equal(each.iterations, result.iterations)
        assert.equal(each.change, result.change)
      }
    }
  })
}

test('reports each iteration, and a change that falls below the tolerance', async () => {
  const changes: number[] = []
  const state = allocateRankState(compress(kronecker))
  const lastBlock = countBlocks(kronecker.vertexCount)
  const onIteration = (iteration: number, change: number) => assert.equal(changes.push(change), iteration)
  const result = await computePageRank(state, { firstBlock: 0, lastBlock, tolerance: 1e-6, onIteration })
  assert.equal(changes.length, result.iterations)
  assert(changes.at(-1)! < 1e-6 && changes.at(-2)! >= 1e-6)
})

test('a tolerance that cannot be met ends all the same, and says so', async () => {
  const state = allocateRankState(compress(edgeSetOf(2, [[0, 1]])))
  const result = await computePageRank(state, { firstBlock: 0, lastBlock: 1, tolerance: 0 })
  assert.equal(result.converged, false)
})
