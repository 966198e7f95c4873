import { foldRanks } from './fold.ts'
import { modulo, Parts, whole } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'

export type AllGatherAlgorithm = 'ring' | 'recursive-doubling' | 'bruck' | 'concurrent'

/** The input of rank i, to part i of every rank's output. */
export interface AllGatherTask {
  readonly rank: number
  readonly size: number
  readonly counts: readonly number[]
}

type Actual = (rank: number) => number

const same: Actual = (rank) => rank

function begin({ rank, counts }: AllGatherTask): { builder: ScheduleBuilder; parts: Parts } {
  const builder = new ScheduleBuilder()
  const parts = new Parts('output', counts)
  builder.copy(whole('input', counts[rank]!), parts.at(rank)).nextRound()
  return { builder, parts }
}

/** Parts go around a ring, size - 1 rounds: each rank sends only to one neighbour. */
export function allGatherRing(task: AllGatherTask): Schedule {
  const { builder, parts } = begin(task)
  gatherAround(builder, task.rank, task.size, parts, same)
  return builder.finish()
}

/** The rounds of a ring, for schedules that end with them. Each rank has its own part already. */
export function gatherAround(builder: ScheduleBuilder, rank: number, size: number, parts: Parts, actual: Actual): void {
  for (let step = 0; step < size - 1; step += 1) {
    builder
      .send(actual(modulo(rank + 1, size)), parts.at(rank - step))
      .receive(actual(modulo(rank - 1, size)), parts.at(rank - step - 1))
      .nextRound()
  }
}

/**
 * Bruck's: log2(size) rounds for any size; in round k a rank has 2^k parts, its own and those behind it. Parts are in
 * their final place from the start, so nothing is rotated. Source: Bruck, Ho, Kipnis, Upfal and Weathersby 1997,
 * section 3.2.
 */
export function allGatherBruck(task: AllGatherTask): Schedule {
  const { builder, parts } = begin(task)
  gatherBruck(builder, task.rank, task.size, parts)
  return builder.finish()
}

/** The rounds of Bruck's all-gather, for schedules that contain them. */
export function gatherBruck(builder: ScheduleBuilder, rank: number, size: number, parts: Parts): void {
  for (let have = 1; have < size; have *= 2) {
    const length = Math.min(have, size - have)
    builder
      .send(modulo(rank - have, size), parts.run(rank, length))
      .receive(modulo(rank + have, size), parts.run(rank + have, length))
      .nextRound()
  }
}

/** All exchanges in flight at once: one round, size - 1 messages. */
export function allGatherConcurrent(task: AllGatherTask): Schedule {
  const { builder, parts } = begin(task)
  const { rank, size } = task
  for (let step = 1; step < size; step += 1) {
    builder.send(modulo(rank + step, size), parts.at(rank)).receive(modulo(rank - step, size), parts.at(rank - step))
  }
  return builder.finish()
}

/**
 * Recursive doubling: partners at distance 1, 2, 4, … exchange all they have. If the size is not a power of two, some
 * ranks hand their part to a neighbour first and receive everything at the end. Source: Thakur, Rabenseifner and Gropp
 * 2005, section 4.1.
 */
export function allGatherRecursiveDoubling(task: AllGatherTask): Schedule {
  const { builder, parts } = begin(task)
  const { rank, size } = task
  const fold = foldRanks(rank, size)
  if (fold.role === 'idle') {
    builder.send(rank + 1, parts.at(rank)).nextRound()
    builder.receive(rank + 1, [...parts.run(0, rank), ...parts.run(rank + 1, size - rank - 1)])
    return builder.finish()
  }
  if (fold.role === 'double') builder.receive(rank - 1, parts.at(rank - 1)).nextRound()
  // The ranks whose parts a stretch of active ranks has are a stretch, too.
  const runOf = (first: number, length: number) => {
    const [from, to] = [fold.firstBehind(first), fold.firstBehind(first + length)]
    return parts.run(from, to - from)
  }
  for (let have = 1; have < fold.active; have *= 2) {
    const first = fold.position - (fold.position % have)
    const partner = fold.position ^ have
    builder
      .send(fold.rankAt(partner), runOf(first, have))
      .receive(fold.rankAt(partner), runOf(first ^ have, have))
      .nextRound()
  }
  if (fold.role === 'double') builder.send(rank - 1, [...parts.run(0, rank - 1), ...parts.run(rank, size - rank)])
  return builder.finish()
}
