import { beforeRatio } from './bench/compare.ts'
import type { BenchRow } from './bench/row.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatRate, formatRatio, formatTime } from './output/units.ts'

const ownColumns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  { title: 'through', align: 'left' },
  { title: 'length', align: 'right' },
  { title: 'p50', align: 'right' },
  { title: 'p99', align: 'right' },
  { title: 'max', align: 'right' },
  { title: 'operations', align: 'right' },
  { title: 'bytes', align: 'right' },
  { title: 'cpu', align: 'right' },
  { title: 'ratio', align: 'right' },
  { title: 'of', align: 'left' },
]

/** What the times of batches are. */
export const batchNotes: readonly string[] = [
  'p50 and p99 are of means over batches, since one operation is shorter than the clock resolves; max is what one took',
  'in the slowest batch if the others in it took the median. cpu is of both processes; for SEND both ends spin.',
  'libfabric is fi_pingpong (messages of its shm provider), which is written in C and tells means: they are in operations, and in the ratio.',
]

/** What the times of `aether bench messaging` are. */
export const messagingNotes: readonly string[] = [
  'Of message and send both ends spin; of message-loop and stream-loop both are in their event loops, and times are of single messages or of means over',
  'batches of a stream. UCX is ucx_perftest (tag matching over shared memory), libfabric fi_pingpong (messages of its shm provider,',
  'means only); both are in C. cpu is of all processes, the server of Redis among',
  'them. ratio is how many times the time of the row it names.',
]

/** What the times of `aether bench rpc` are. */
export const rpcNotes: readonly string[] = [
  'Times are there and back: of call-N, clients-N and object-64 of single calls, with others under way; of call-sync, object-sync, send-return and write-return means over batches.',
  'Of rdma-source, rdma-target, body-request and body-answer the bytes go one way; memcpy is one copy of them within a process.',
  'Every client is a process. gRPC carries the bytes without Protocol Buffers. cpu is of all processes; ends that spin or wait for a message that is due',
  'take it, too. ratio is how many times the time of the row it names.',
]

/** What the times of `aether bench ops` are. */
export const opsNotes: readonly string[] = [
  'operations: of all processes together. Reads and writes are of values at random, the same ones for all; of hardware, directory and lmdb times are means',
  'over batches of one process, of Redis single requests. directory moves pages of 4 KiB between processes that write in the same ones: who writes in pages of',
  'its own pays nothing (aether bench dsm has both). Of calls each client has 16 under way. ratio is how many times the median of the row it names.',
]

const beforeColumn: Column = { title: 'before', align: 'right' }

/** The table: titles, and cells by row; with an earlier run beside it, each row's ratio to that. */
export interface BenchTable {
  readonly columns: readonly Column[]
  readonly cells: readonly (readonly string[])[]
}

export function benchTable(rows: readonly BenchRow[], before: readonly BenchRow[] | undefined): BenchTable {
  if (before === undefined) return { columns: ownColumns, cells: rows.map(cellsOf) }
  const cells = rows.map((row) => {
    const ratio = beforeRatio(row, before)
    return [...cellsOf(row), ratio === null ? 'no such row' : formatRatio(ratio)]
  })
  return { columns: [...ownColumns, beforeColumn], cells }
}

/** All rows as a table, and how to read it. */
export function showBench(screen: Screen, { columns, cells }: BenchTable, notes: readonly string[]): void {
  screen.table(columns, cells)
  screen.line()
  for (const note of notes) screen.line(`  ${note}`)
}

function cellsOf(row: BenchRow): string[] {
  const { op, provider, bytes, p50Ns, p99Ns, maxNs, opsPerSec, gbPerSec, cpuNsPerOp, ratio, baseline } = row
  const timeOf = (ns: number | null): string => (ns === null ? '' : formatTime(ns / 1e6))
  return [
    op,
    provider,
    formatBytes(bytes),
    ...[p50Ns, p99Ns, maxNs].map(timeOf),
    formatRate(opsPerSec),
    `${gbPerSec.toFixed(2)} GB/s`,
    timeOf(cpuNsPerOp),
    ratio === null ? '' : formatRatio(ratio),
    baseline ?? '',
  ]
}
