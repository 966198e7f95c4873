import { modulo, Parts, whole } from './parts.ts'
import { reduceBlockInOrder } from './rank-order.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'

export type ReduceScatterAlgorithm = 'pairwise' | 'ring' | 'rank-order'

/** Part i of every rank's input, combined element by element, into the output of rank i. */
export interface ReduceScatterTask {
  readonly rank: number
  readonly size: number
  readonly counts: readonly number[]
}

/**
 * In round k a rank sends to the k-th behind it what belongs there. Source: Thakur, Rabenseifner and Gropp 2005,
 * section 4.4.
 */
export function reduceScatterPairwise({ rank, size, counts }: ReduceScatterTask): Schedule {
  const builder = new ScheduleBuilder()
  const parts = new Parts('input', counts)
  const output = whole('output', counts[rank]!)
  const come = builder.scratch(counts[rank]!)
  builder.copy(parts.at(rank), output).nextRound()
  for (let step = 1; step < size; step += 1) {
    builder
      .send(modulo(rank + step, size), parts.at(rank + step))
      .receive(modulo(rank - step, size), come)
      .reduce(come, output)
      .nextRound()
  }
  return builder.finish()
}

/** Parts go around a ring and are combined on the way: each rank sends only to one neighbour. */
export function reduceScatterRing({ rank, size, counts }: ReduceScatterTask): Schedule {
  const builder = new ScheduleBuilder()
  const parts = new Parts('input', counts)
  const output = whole('output', counts[rank]!)
  const most = Math.max(...counts)
  const turns = [builder.scratch(most), builder.scratch(most)] as const
  builder.copy(parts.at(rank), output).nextRound()
  for (let step = 0; step < size - 1; step += 1) {
    const goes = parts.at(rank - step - 1)
    const next = parts.at(rank - step - 2)
    const come = { ...turns[step % 2]!, count: next.count }
    builder
      .send(modulo(rank + 1, size), step === 0 ? goes : { ...turns[(step + 1) % 2]!, count: goes.count })
      .receive(modulo(rank - 1, size), come)
    // The last part that comes is this rank's own.
    if (step === size - 2) builder.reduce(come, output)
    else builder.reduce(next, come)
    builder.nextRound()
  }
  return builder.finish()
}

/** Each rank combines its part in the order of ranks. */
export function reduceScatterRankOrder({ rank, size, counts }: ReduceScatterTask): Schedule {
  const builder = new ScheduleBuilder()
  reduceBlockInOrder(builder, rank, size, new Parts('input', counts), whole('output', counts[rank]!))
  return builder.finish()
}
