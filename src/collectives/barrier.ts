import { modulo } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'

export type BarrierAlgorithm = 'dissemination'

export interface BarrierTask {
  readonly rank: number
  readonly size: number
}

/**
 * In round k a rank tells the one 2^k behind it, so after log2(size) rounds each has heard of all. The bytes sent carry
 * no meaning. Source: Hensgen, Finkel and Manber 1988.
 */
export function barrierDissemination({ rank, size }: BarrierTask): Schedule {
  const builder = new ScheduleBuilder()
  const token = builder.scratch(1)
  for (let distance = 1; distance < size; distance *= 2) {
    builder
      .send(modulo(rank + distance, size), token)
      .receive(modulo(rank - distance, size), builder.scratch(1))
      .nextRound()
  }
  return builder.finish()
}
