import { evenCounts, modulo, Parts, whole } from './parts.ts'
import { foldInOrder, reduceBlockInOrder } from './rank-order.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'
import { childrenOf, parentOf } from './tree.ts'

export type ReduceAlgorithm = 'binomial' | 'rank-order' | 'rank-order-blocks'

/** Every rank's input, combined element by element, into the root's output. */
export interface ReduceTask {
  readonly rank: number
  readonly size: number
  readonly root: number
  readonly count: number
}

/** Up a binomial tree: log2(size) rounds, each with all elements. */
export function reduceBinomial({ rank, size, root, count }: ReduceTask): Schedule {
  const builder = new ScheduleBuilder()
  const input = whole('input', count)
  const relative = modulo(rank - root, size)
  const actual = (other: number) => modulo(other + root, size)
  const children = childrenOf(relative, size).reverse()
  const isLeaf = children.length === 0 && relative !== 0
  const sum = relative === 0 ? whole('output', count) : isLeaf ? input : builder.scratch(count)
  if (!isLeaf) builder.copy(input, sum).nextRound()
  if (children.length > 0) {
    const come = builder.scratch(count)
    for (const child of children) builder.receive(actual(child), come).reduce(come, sum).nextRound()
  }
  if (relative !== 0) builder.send(actual(parentOf(relative)), sum)
  return builder.finish()
}

/** The root receives everything and combines it in the order of ranks. */
export function reduceRankOrder({ rank, size, root, count }: ReduceTask): Schedule {
  const builder = new ScheduleBuilder()
  if (rank !== root) return builder.send(root, whole('input', count)).finish()
  const slots = new Parts('scratch', Array<number>(size).fill(count), builder.scratch(size * count).offset)
  for (let step = 1; step < size; step += 1) builder.receive(modulo(root + step, size), slots.at(root + step))
  builder.copy(whole('input', count), slots.at(rank))
  return foldInOrder(builder, slots, whole('output', count)).finish()
}

/** Each rank combines a block of the elements in the order of ranks; the root gathers the blocks. */
export function reduceRankOrderBlocks({ rank, size, root, count }: ReduceTask): Schedule {
  const builder = new ScheduleBuilder()
  const counts = evenCounts(count, size)
  const outputs = new Parts('output', counts)
  const own = rank === root ? outputs.at(rank) : builder.scratch(counts[rank]!)
  reduceBlockInOrder(builder, rank, size, new Parts('input', counts), own)
  builder.nextRound()
  if (rank !== root) return builder.send(root, own).finish()
  for (let step = 1; step < size; step += 1) builder.receive(modulo(root + step, size), outputs.at(root + step))
  return builder.finish()
}
