import { type BenchRow, rowOfOthers } from '../row.ts'
import { measureUcx, type UcxTest, type UcxTransport } from './ucx-perftest.ts'

/** What it says as a row. Half of a round trip, or messages one way; both ends spin, in programs in C. */
export async function ucxRow(
  op: string,
  provider: string,
  test: UcxTest,
  bytes: number,
  timeMs: number,
  transport: UcxTransport = 'memory',
): Promise<BenchRow> {
  return rowOfOthers(op, provider, bytes, await measureUcx(test, bytes, timeMs, transport))
}
