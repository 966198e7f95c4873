import type { BenchRow } from './bench/row.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatRate, formatTime } from './output/units.ts'

const columns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  { title: 'through', align: 'left' },
  { title: 'length', align: 'right' },
  { title: 'p50', align: 'right' },
  { title: 'p99', align: 'right' },
  { title: 'max', align: 'right' },
  { title: 'operations', align: 'right' },
  { title: 'bytes', align: 'right' },
  { title: 'cpu', align: 'right' },
]

/** What the times of batches are. */
export const batchNotes: readonly string[] = [
  'p50 and p99 are of means over batches, since one operation is shorter than the clock resolves; max is what one took',
  'in the slowest batch if the others in it took the median. cpu is of both processes; for SEND both ends spin.',
]

/** What the times of `aether bench rpc` are. */
export const rpcNotes: readonly string[] = [
  'Times are there and back: of call-N, clients-N, object-64, socket-N and ipc-N of single calls, with others under way; of call-sync and object-sync',
  'means over batches. cpu is of both processes; ends that spin or wait for a message that is due take it, too.',
]

/** All rows as a table, and how to read it. */
export function showBench(screen: Screen, rows: readonly BenchRow[], notes: readonly string[]): void {
  screen.table(columns, rows.map(cellsOf))
  screen.line()
  for (const note of notes) screen.line(`  ${note}`)
}

function cellsOf({ op, provider, bytes, p50Ns, p99Ns, maxNs, opsPerSec, gbPerSec, cpuNsPerOp }: BenchRow): string[] {
  const times = [p50Ns, p99Ns, maxNs].map((ns) => formatTime(ns / 1e6))
  return [
    op,
    provider,
    formatBytes(bytes),
    ...times,
    formatRate(opsPerSec),
    `${gbPerSec.toFixed(2)} GB/s`,
    formatTime(cpuNsPerOp / 1e6),
  ]
}
