/**
 * One process of the demo's PageRank without shared memory. It has a copy of the graph; what an iteration changed it
 * sends to the others, by messages that its parent passes on or through Redis.
 * @module
 */
import { connectRedis } from '../bench/peers/redis-package.ts'
import { computePageRank, warmUp } from './pagerank.ts'
import { type ExchangeReply, type ExchangeTask, RankExchange } from './rank-exchange.ts'
import { shareOf } from './rank-share.ts'
import { allocateRankState } from './rank-state.ts'

let exchange: RankExchange
let go: () => void

process.on('message', (task: ExchangeTask) => {
  if (task.kind === 'prepare') void takePart(task)
  else if (task.kind === 'part') exchange.take(task.rank, task.bytes)
  else go()
})
process.on('disconnect', () => process.exit())

async function takePart({ graph, bounds, rank, redis }: Extract<ExchangeTask, { kind: 'prepare' }>): Promise<void> {
  const state = allocateRankState(graph)
  const shares = Array.from({ length: bounds.length - 1 }, (_, each) => shareOf(graph, bounds, each))
  const send =
    redis === undefined
      ? (bytes: Uint8Array) => reply({ kind: 'part', rank, bytes })
      : await openChannels(redis, rank, shares.length)
  const { firstBlock, endBlock, firstVertex, endVertex } = shares[rank]!
  const options = { firstBlock, lastBlock: endBlock, fetch: (iteration: number) => exchange.run(iteration) }
  const begin = async (): Promise<void> => {
    exchange = new RankExchange(state, shares, rank, send)
    reply({ kind: 'ready' })
    await new Promise<void>((resolve) => {
      go = resolve
    })
  }
  await begin()
  await warmUp(state, options)
  await begin()
  const start = performance.now()
  const { iterations } = await computePageRank(state, options)
  const totalMs = performance.now() - start
  reply({ kind: 'done', totalMs, iterations, ranks: state.ranks.subarray(firstVertex, endVertex) })
}

/** A channel for each rank: it publishes, the others have subscribed. */
async function openChannels(directory: string, rank: number, members: number): Promise<(bytes: Uint8Array) => void> {
  // A connection that has subscribed takes no other commands.
  const [publisher, subscriber] = await Promise.all([connectRedis(directory), connectRedis(directory)])
  for (let other = 0; other < members; other += 1) {
    if (other === rank) continue
    await subscriber.subscribe(`part-${other}`, (bytes) => exchange.take(other, bytes), true)
  }
  return (bytes) => void publisher.publish(`part-${rank}`, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
}

function reply(message: ExchangeReply): void {
  process.send?.(message)
}
