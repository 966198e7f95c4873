import { distributionOf } from '../quantiles.ts'
import type { BenchRow } from '../row.ts'
import type { Samples } from '../structures/job.ts'

/**
 * A row of what several processes found at the same time: p50, p99 and max of means over batches of one process; the
 * rates added. Their processor time is not read.
 */
export function opsRow(head: Pick<BenchRow, 'op' | 'provider' | 'bytes'>, found: readonly Samples[]): BenchRow {
  const opsPerSec = found.reduce((sum, { operations, totalNs }) => sum + (1e9 * operations) / totalNs, 0)
  return {
    ...head,
    ...distributionOf(Float64Array.from(found.flatMap(({ ns }) => [...ns]))),
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * head.bytes) / 1e4) / 1e5,
    cpuNsPerOp: null,
    baseline: null,
    ratio: null,
  }
}
