import type { BenchRow } from '../row.ts'
import { measureUcx, type UcxTest } from './ucx-perftest.ts'

/** What it says as a row. Half of a round trip, or messages one way; both ends spin, in programs in C. */
export async function ucxRow(
  op: string,
  provider: string,
  test: UcxTest,
  bytes: number,
  timeMs: number,
): Promise<BenchRow> {
  const { p50Ns, opsPerSec } = await measureUcx(test, bytes, timeMs)
  return {
    op,
    provider,
    bytes,
    p50Ns,
    p99Ns: null,
    maxNs: null,
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * bytes) / 1e4) / 1e5,
    cpuNsPerOp: null,
    baseline: null,
    ratio: null,
  }
}
