import { modulo, Parts, prefixSums, whole } from './parts.ts'
import { type Schedule, ScheduleBuilder } from './schedule.ts'
import { childrenOf, parentOf, subtreeSize } from './tree.ts'

export type ScatterAlgorithm = 'binomial' | 'linear'

/** Part i of the root's input, to the output of rank i. */
export interface ScatterTask {
  readonly rank: number
  readonly size: number
  readonly root: number
  readonly counts: readonly number[]
}

/** The root sends to each. */
export function scatterLinear({ rank, size, root, counts }: ScatterTask): Schedule {
  const builder = new ScheduleBuilder()
  const own = whole('output', counts[rank]!)
  if (rank !== root) return builder.receive(root, own).finish()
  const parts = new Parts('input', counts)
  for (let step = 1; step < size; step += 1) builder.send(modulo(root + step, size), parts.at(root + step))
  return builder.copy(parts.at(rank), own).finish()
}

/** Down a binomial tree, each edge carrying the parts of all below it. */
export function scatterBinomial({ rank, size, root, counts }: ScatterTask): Schedule {
  const builder = new ScheduleBuilder()
  const own = whole('output', counts[rank]!)
  const relative = modulo(rank - root, size)
  const actual = (other: number) => modulo(other + root, size)
  const below = subtreeSize(relative, size) - 1
  // In the order of relative ranks, which count from the root.
  const counted = counts.map((_, index) => counts[actual(index)]!)
  let parts: Parts
  if (relative === 0) {
    const offsets = prefixSums(counts)
    parts = new Parts(
      'input',
      counted,
      counts.map((_, index) => offsets[actual(index)]!),
    )
  } else {
    const held = builder.scratch(sum(counted.slice(relative + 1, relative + 1 + below)))
    parts = new Parts('scratch', counted, held.offset - sum(counted.slice(0, relative + 1)))
    builder.receive(actual(parentOf(relative)), [own, held]).nextRound()
  }
  for (const child of childrenOf(relative, size)) {
    builder.send(actual(child), parts.run(child, subtreeSize(child, size)))
  }
  if (relative === 0) builder.copy(parts.at(0), own)
  return builder.finish()
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
