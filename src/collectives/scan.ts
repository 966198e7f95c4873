import { whole } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'

export type ScanAlgorithm = 'recursive-doubling' | 'rank-order'

/**
 * The inputs of ranks 0 to r, combined element by element, into the output of rank r. Exclusive: of ranks 0 to r - 1;
 * rank 0's output does not change.
 */
export interface ScanTask {
  readonly rank: number
  readonly size: number
  readonly count: number
  readonly exclusive: boolean
}

/**
 * In round k a rank hears from the one 2^k before it what that one has combined: log2(size) rounds. Source: Hillis and
 * Steele 1986.
 */
export function scanRecursiveDoubling({ rank, size, count, exclusive }: ScanTask): Schedule {
  const builder = new ScheduleBuilder()
  const [input, output] = [whole('input', count), whole('output', count)]
  const sum = exclusive ? builder.scratch(count) : output
  const come = builder.scratch(count)
  builder.copy(input, sum).nextRound()
  for (let distance = 1; distance < size; distance *= 2) {
    if (rank + distance < size) builder.send(rank + distance, sum)
    if (rank >= distance) {
      builder.receive(rank - distance, come).reduce(come, sum, true)
      if (exclusive && distance === 1) builder.copy(come, output)
      else if (exclusive) builder.reduce(come, output, true)
    }
    builder.nextRound()
  }
  return builder.finish()
}

/** Each rank waits for the one before it and combines in the order of ranks: size - 1 rounds one after the other. */
export function scanRankOrder({ rank, size, count, exclusive }: ScanTask): Schedule {
  const builder = new ScheduleBuilder()
  const [input, output] = [whole('input', count), whole('output', count)]
  const sum = exclusive ? builder.scratch(count) : output
  builder.copy(input, sum).nextRound()
  if (rank > 0) {
    const come = exclusive ? output : builder.scratch(count)
    builder
      .receive(rank - 1, come)
      .reduce(come, sum, true)
      .nextRound()
  }
  if (rank < size - 1) builder.send(rank + 1, sum)
  return builder.finish()
}
