import { modulo, whole } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'

export type RotateAlgorithm = 'ring'

export interface RotateTask {
  readonly rank: number
  readonly size: number
  readonly count: number
}

/** Each rank's input, to the output of the next rank. */
export function rotateRing({ rank, size, count }: RotateTask): Schedule {
  const builder = new ScheduleBuilder()
  const [input, output] = [whole('input', count), whole('output', count)]
  if (size === 1) return builder.copy(input, output).finish()
  return builder
    .send(modulo(rank + 1, size), input)
    .receive(modulo(rank - 1, size), output)
    .finish()
}
