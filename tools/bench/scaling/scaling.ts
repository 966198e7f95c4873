import type { Protocol } from 'aether-dsm/internal/dsm'
import { barrierCost } from './barriers.ts'
import { CountedCluster } from './counted-cluster.ts'
import { misses } from './miss.ts'

/** One line of `aether bench scaling`, and one object of its `--json`. */
export interface ScalingRow {
  /** Of the protocol; `barrier` where it is the cost of a barrier. */
  readonly protocol: string
  readonly ranks: number
  /** What misses, and how. */
  readonly miss: string
  /** Per miss, or per barrier. */
  readonly messages: number
  readonly bytes: number
  /** Messages one after the other, until the access could be done. */
  readonly hops: number
}

export interface ScalingOptions {
  readonly protocols: readonly Protocol[]
  /** Numbers of ranks. */
  readonly ranks: readonly number[]
  readonly pageBytes: number
  readonly onRow?: (row: ScalingRow) => void
}

const BARRIER_MESSAGE_BYTES = 12
const tenths = (value: number): number => Math.round(10 * value) / 10

/**
 * What misses and barriers cost as the cluster grows: exact counts, by the agents' own state machines without a
 * network.
 */
export function countScaling({ protocols, ranks, pageBytes, onRow }: ScalingOptions): ScalingRow[] {
  const rows: ScalingRow[] = []
  const keep = (row: ScalingRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  for (const protocol of protocols)
    for (const { name, ranks: ranksMin, cost } of misses)
      for (const size of ranks.filter((each) => each >= ranksMin)) {
        const { messages, bytes, hops } = cost(new CountedCluster(protocol, size, pageBytes))
        keep({
          protocol: protocol.name,
          ranks: size,
          miss: name,
          messages: tenths(messages),
          bytes: Math.round(bytes),
          hops: tenths(hops),
        })
      }
  for (const size of ranks) {
    const { messages, rounds } = barrierCost(size)
    const bytes = messages * BARRIER_MESSAGE_BYTES
    keep({ protocol: 'barrier', ranks: size, miss: 'all ranks arrive', messages, bytes, hops: rounds })
  }
  return rows
}
