import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countBlocks, splitBlocks } from '../../../tools/demo/block-split.ts'
import { generateKronecker } from '../../../tools/demo/kronecker.ts'
import { computePageRank } from '../../../tools/demo/pagerank.ts'
import { RankExchange } from '../../../tools/demo/rank-exchange.ts'
import { shareOf } from '../../../tools/demo/rank-share.ts'
import { allocateRankState } from '../../../tools/demo/rank-state.ts'
import { clusterHubs } from '../../../tools/demo/vertex-order.ts'
import { compress } from './random-graph.ts'

const edges = clusterHubs(generateKronecker({ scale: 12, seed: 3 }))

for (const members of [1, 2, 3, 5]) {
  test(`${members} members that send parts to each other get the bits of one process`, async () => {
    const graph = compress(edges)
    const alone = allocateRankState(graph)
    await computePageRank(alone, { firstBlock: 0, lastBlock: countBlocks(edges.vertexCount) })
    const bounds = splitBlocks(graph.offsets, members, 4096)
    const shares = Array.from({ length: members }, (_, rank) => shareOf(graph, bounds, rank))
    const states = shares.map(() => allocateRankState(graph))
    const exchanges: RankExchange[] = []
    for (const [rank, state] of states.entries()) {
      const send = (bytes: Uint8Array): void => {
        // Starts anywhere in its buffer, and comes to one after the other.
        const message = new Uint8Array(bytes.length + 3).subarray(3)
        message.set(bytes)
        for (const [other, exchange] of exchanges.entries())
          if (other !== rank) setTimeout(() => exchange.take(rank, message), other % 3)
      }
      exchanges.push(new RankExchange(state, shares, rank, send))
    }
    await Promise.all(
      states.map((state, rank) => {
        const { firstBlock, endBlock } = shares[rank]!
        const fetch = (iteration: number) => exchanges[rank]!.run(iteration)
        return computePageRank(state, { firstBlock, lastBlock: endBlock, fetch })
      }),
    )
    for (const [rank, { firstVertex, endVertex }] of shares.entries()) {
      const bits = (ranks: Float64Array) => new BigUint64Array(ranks.slice(firstVertex, endVertex).buffer)
      assert.deepEqual(bits(states[rank]!.ranks), bits(alone.ranks))
    }
  })
}
