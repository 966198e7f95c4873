import { modulo, Parts, prefixSums, whole } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'
import { childrenOf, parentOf, subtreeSize } from './tree.ts'

export type GatherAlgorithm = 'binomial' | 'linear'

/** The input of rank i, to part i of the root's output. */
export interface GatherTask {
  readonly rank: number
  readonly size: number
  readonly root: number
  readonly counts: readonly number[]
}

/** Each sends to the root. */
export function gatherLinear({ rank, size, root, counts }: GatherTask): Schedule {
  const builder = new ScheduleBuilder()
  const own = whole('input', counts[rank]!)
  if (rank !== root) return builder.send(root, own).finish()
  const parts = new Parts('output', counts)
  for (let step = 1; step < size; step += 1) builder.receive(modulo(root + step, size), parts.at(root + step))
  return builder.copy(own, parts.at(rank)).finish()
}

/** Up a binomial tree, each edge carrying the parts of all below it. */
export function gatherBinomial({ rank, size, root, counts }: GatherTask): Schedule {
  const builder = new ScheduleBuilder()
  const own = whole('input', counts[rank]!)
  const relative = modulo(rank - root, size)
  const actual = (other: number) => modulo(other + root, size)
  // In the order of relative ranks, which count from the root.
  const counted = counts.map((_, index) => counts[actual(index)]!)
  const positions = prefixSums(counted)
  const below = subtreeSize(relative, size) - 1
  const held = builder.scratch(
    relative === 0 ? 0 : counted.slice(relative + 1, relative + 1 + below).reduce((total, count) => total + count, 0),
  )
  const parts =
    relative === 0
      ? new Parts('output', counted, rootOffsets(counts, actual))
      : new Parts('scratch', counted, held.offset - positions[relative]! - counted[relative]!)
  for (const child of childrenOf(relative, size)) {
    builder.receive(actual(child), parts.run(child, subtreeSize(child, size)))
  }
  if (relative === 0) return builder.copy(own, parts.at(0)).finish()
  return builder
    .nextRound()
    .send(actual(parentOf(relative)), [own, held])
    .finish()
}

function rootOffsets(counts: readonly number[], actual: (relative: number) => number): number[] {
  const offsets = prefixSums(counts)
  return counts.map((_, index) => offsets[actual(index)]!)
}
