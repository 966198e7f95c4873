import { gatherAround, gatherBruck } from './all-gather.ts'
import { type Fold, foldRanks } from './fold.ts'
import { evenCounts, modulo, Parts, whole } from './parts.ts'
import { foldInOrder, reduceBlockInOrder } from './rank-order.ts'
import { type Range, type Schedule, ScheduleBuilder } from './schedule.ts'

export type AllReduceAlgorithm = 'recursive-doubling' | 'ring' | 'rabenseifner' | 'rank-order' | 'rank-order-blocks'

/** Every rank's input, combined element by element, into every rank's output. */
export interface AllReduceTask {
  readonly rank: number
  readonly size: number
  readonly count: number
}

/** Those that do not fit into a power of two leave their elements to a neighbour, and get the result from it. */
function folded(task: AllReduceTask, body: (builder: ScheduleBuilder, fold: Fold, come: Range) => void): Schedule {
  const { rank, size, count } = task
  const builder = new ScheduleBuilder()
  const [input, output] = [whole('input', count), whole('output', count)]
  const fold = foldRanks(rank, size)
  if (fold.role === 'idle') {
    return builder
      .send(rank + 1, input)
      .nextRound()
      .receive(rank + 1, output)
      .finish()
  }
  const come = builder.scratch(count)
  builder.copy(input, output).nextRound()
  if (fold.role === 'double')
    builder
      .receive(rank - 1, come)
      .reduce(come, output, true)
      .nextRound()
  body(builder, fold, come)
  if (fold.role === 'double') builder.nextRound().send(rank - 1, output)
  return builder.finish()
}

/**
 * Partners at distance 1, 2, 4, … exchange all elements: log2(size) rounds. Source: Thakur, Rabenseifner and Gropp
 * 2005, section 4.5.
 */
export function allReduceRecursiveDoubling(task: AllReduceTask): Schedule {
  return folded(task, (builder, fold, come) => {
    const output = whole('output', task.count)
    for (let distance = 1; distance < fold.active; distance *= 2) {
      const partner = fold.position ^ distance
      const peer = fold.rankAt(partner)
      builder
        .send(peer, output)
        .receive(peer, come)
        .reduce(come, output, partner < fold.position)
        .nextRound()
    }
  })
}

/**
 * Rabenseifner's: halves of the remaining elements are exchanged and combined until each rank has one block, then the
 * way back. That takes 2 log2(size) rounds and sends each element about twice. Source: Thakur, Rabenseifner and Gropp
 * 2005, section 4.5.
 */
export function allReduceRabenseifner(task: AllReduceTask): Schedule {
  return folded(task, (builder, fold, come) => {
    const counts = evenCounts(task.count, fold.active)
    const blocks = new Parts('output', counts)
    const comes = new Parts('scratch', counts, come.offset)
    let first = 0
    for (let half = fold.active / 2; half >= 1; half /= 2) {
      const partner = fold.position ^ half
      const [keep, give] = fold.position < partner ? [first, first + half] : [first + half, first]
      const peer = fold.rankAt(partner)
      builder.send(peer, blocks.run(give, half)).receive(peer, comes.run(keep, half))
      const [from, into] = [comes.run(keep, half)[0], blocks.run(keep, half)[0]]
      if (from !== undefined && into !== undefined) builder.reduce(from, into, partner < fold.position)
      builder.nextRound()
      first = keep
    }
    for (let have = 1; have < fold.active; have *= 2) {
      const peer = fold.rankAt(fold.position ^ have)
      builder
        .send(peer, blocks.run(first, have))
        .receive(peer, blocks.run(first ^ have, have))
        .nextRound()
      first = Math.min(first, first ^ have)
    }
  })
}

/** Blocks go around a ring and are combined on the way, then go around once more: 2 (size - 1) rounds. */
export function allReduceRing({ rank, size, count }: AllReduceTask): Schedule {
  const builder = new ScheduleBuilder()
  const counts = evenCounts(count, size)
  const blocks = new Parts('output', counts)
  const come = builder.scratch(Math.max(...counts))
  builder.copy(whole('input', count), whole('output', count)).nextRound()
  for (let step = 0; step < size - 1; step += 1) {
    const mine = blocks.at(rank - step - 1)
    const part = { ...come, count: mine.count }
    builder
      .send(modulo(rank + 1, size), blocks.at(rank - step))
      .receive(modulo(rank - 1, size), part)
      .reduce(part, mine)
      .nextRound()
  }
  // Rank r has block r + 1 now, so around the ring the blocks are those of the neighbour.
  const shifted = new Parts(
    'output',
    counts.map((_, index) => blocks.at(index + 1).count),
    counts.map((_, index) => blocks.at(index + 1).offset),
  )
  gatherAround(builder, rank, size, shifted, (other) => other)
  return builder.finish()
}

/** Every rank receives everything (Bruck's all-gather) and combines it in the order of ranks. For few elements. */
export function allReduceRankOrder({ rank, size, count }: AllReduceTask): Schedule {
  const builder = new ScheduleBuilder()
  const slots = new Parts('scratch', Array<number>(size).fill(count), builder.scratch(size * count).offset)
  builder.copy(whole('input', count), slots.at(rank)).nextRound()
  gatherBruck(builder, rank, size, slots)
  return foldInOrder(builder, slots, whole('output', count)).finish()
}

/** Each rank combines a block in the order of ranks; the blocks go around a ring. */
export function allReduceRankOrderBlocks({ rank, size, count }: AllReduceTask): Schedule {
  const builder = new ScheduleBuilder()
  const counts = evenCounts(count, size)
  const blocks = new Parts('output', counts)
  reduceBlockInOrder(builder, rank, size, new Parts('input', counts), blocks.at(rank))
  builder.nextRound()
  gatherAround(builder, rank, size, blocks, (other) => other)
  return builder.finish()
}
