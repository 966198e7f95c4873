import { modulo, Parts } from './parts.ts'
import type { Range, ScheduleBuilder } from './schedule.ts'

/**
 * Combining in the order of ranks: ((x0 op x1) op x2) op …, element by element. The bits of the result then depend only
 * on the values and their ranks.
 */

/** The slots, one a rank, combined from the left into `into`. Slot 0 is used up. */
export function foldInOrder(builder: ScheduleBuilder, slots: Parts, into: Range): ScheduleBuilder {
  for (let rank = 1; rank < slots.counts.length; rank += 1) builder.reduce(slots.at(rank), slots.at(0))
  return builder.copy(slots.at(0), into)
}

/** Rank i receives part i from every rank and combines the parts into `into`. */
export function reduceBlockInOrder(
  builder: ScheduleBuilder,
  rank: number,
  size: number,
  parts: Parts,
  into: Range,
): void {
  const { count } = into
  const slots = new Parts('scratch', Array<number>(size).fill(count), builder.scratch(size * count).offset)
  for (let step = 1; step < size; step += 1) {
    builder
      .send(modulo(rank + step, size), parts.at(rank + step))
      .receive(modulo(rank - step, size), slots.at(rank - step))
  }
  builder.copy(parts.at(rank), slots.at(rank))
  foldInOrder(builder, slots, into)
}
