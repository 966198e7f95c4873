import { strict as assert } from 'node:assert'
import type { BenchRow } from '../../../tools/bench/row.ts'

/** That a row's times are there, and in their order. */
export function checkTimes(row: BenchRow): void {
  const times = [0, row.p50Ns, row.p99Ns, row.maxNs].filter((ns) => ns !== null)
  assert.deepEqual(
    times,
    [...times].sort((one, other) => one - other),
    JSON.stringify(row),
  )
  assert.ok(row.opsPerSec > 0 && (row.cpuNsPerOp ?? 0) >= 0, JSON.stringify(row))
}
