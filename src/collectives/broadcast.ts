import { gatherAround } from './all-gather.ts'
import { evenCounts, modulo, Parts, whole } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'
import { childrenOf, parentOf, subtreeSize } from './tree.ts'

export type BroadcastAlgorithm = 'binomial' | 'scatter-all-gather'

/** `count` elements of the root's output, to every rank's output. */
export interface BroadcastTask {
  readonly rank: number
  readonly size: number
  readonly root: number
  readonly count: number
}

/** Down a binomial tree: log2(size) rounds. */
export function broadcastBinomial({ rank, size, root, count }: BroadcastTask): Schedule {
  const builder = new ScheduleBuilder()
  const data = whole('output', count)
  const relative = modulo(rank - root, size)
  if (relative !== 0) builder.receive(modulo(parentOf(relative) + root, size), data).nextRound()
  for (const child of childrenOf(relative, size)) builder.send(modulo(child + root, size), data)
  return builder.finish()
}

/**
 * Each rank receives a part down a binomial tree, then the parts go around a ring. Every rank sends and receives the
 * data once or twice, however many ranks there are. Source: van de Geijn's broadcast for long messages, as in Thakur,
 * Rabenseifner and Gropp 2005, section 4.2.
 */
export function broadcastScatterAllGather({ rank, size, root, count }: BroadcastTask): Schedule {
  const builder = new ScheduleBuilder()
  const relative = modulo(rank - root, size)
  const actual = (other: number) => modulo(other + root, size)
  const parts = new Parts('output', evenCounts(count, size))
  if (relative !== 0) {
    builder.receive(actual(parentOf(relative)), parts.run(relative, subtreeSize(relative, size))).nextRound()
  }
  for (const child of childrenOf(relative, size)) {
    builder.send(actual(child), parts.run(child, subtreeSize(child, size)))
  }
  builder.nextRound()
  gatherAround(builder, relative, size, parts, actual)
  return builder.finish()
}
