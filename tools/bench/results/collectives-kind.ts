import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatCount, formatTime } from 'aether-dsm/internal/cli'
import type { CollectivesRow } from '../collectives-row.ts'
import { bytesAxis, countAxis, distributionPlan, medianExplained, timeAxis } from './axes.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  ...['collective', 'algorithm', 'chosen'].map((title): Column => ({ title, align: 'left' })),
  ...['processes', 'length', 'p50', 'p99', 'cpu', 'rounds', 'messages', 'sent', 'busiest'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
]

function cellsOf(row: CollectivesRow): string[] {
  const { op, algorithm, chosen, processes, bytes, p50Ns, p99Ns, cpuNsPerOp, rounds, messages, sentBytes } = row
  const times = [p50Ns, p99Ns, cpuNsPerOp].map((ns) => formatTime(ns / 1e6))
  const counts = [rounds, messages].map(formatCount)
  const lengths = [sentBytes, row.busiestBytes].map(formatBytes)
  return [op, algorithm, chosen, formatCount(processes), formatBytes(bytes), ...times, ...counts, ...lengths]
}

const ofOp = ({ op }: CollectivesRow): string => op
const ofAlgorithm = ({ algorithm }: CollectivesRow): string => algorithm
const processesOf = ({ processes }: CollectivesRow): string =>
  `${processes} ${processes === 1 ? 'process' : 'processes'}`
/** A barrier has no length. */
const lengthOf = ({ op, bytes }: CollectivesRow): string => (op === 'barrier' ? 'no bytes' : formatBytes(bytes))

/** Rows of `aether bench collectives`. */
export const collectivesKind: RowKind<CollectivesRow> = {
  identity: ['op', 'algorithm', 'processes', 'bytes'],
  cost: { title: 'the median time', of: ({ p50Ns }) => p50Ns },
  mark: { category: (row) => `${row.op}, ${lengthOf(row)}, ${processesOf(row)}`, series: ofAlgorithm },
  table: rowTable(columns, cellsOf),
  notes: [
    'p50 and p99 are of rank 0, which sleeps between messages. With more processes than CPUs they depend more on the scheduler than on the algorithm.',
    'cpu is the CPU time of all processes. Rounds, messages and bytes are counted in the schedules: messages and bytes sent by all, and bytes that the',
    'busiest process sends or receives. chosen: the algorithm is used by default, or with deterministic.',
  ],
  plots: [
    {
      kind: 'dots',
      section: 'All collectives',
      explained: `With the default algorithm. ${medianExplained}`,
      where: ({ chosen }) => chosen === 'default' || chosen === 'both',
      figure: processesOf,
      category: ofOp,
      series: lengthOf,
      x: timeAxis,
      value: ({ p50Ns, p99Ns }) => ({ value: p50Ns, high: p99Ns }),
    },
    {
      kind: 'lines',
      section: 'By length',
      explained: medianExplained,
      group: processesOf,
      figure: ofOp,
      series: ofAlgorithm,
      x: bytesAxis,
      y: timeAxis,
      points: ({ bytes, p50Ns, p99Ns }) => [{ x: bytes, y: p50Ns, high: p99Ns }],
    },
    {
      kind: 'lines',
      section: 'By number of processes',
      explained: medianExplained,
      group: lengthOf,
      figure: ofOp,
      series: ofAlgorithm,
      x: countAxis('processes'),
      y: timeAxis,
      points: ({ processes, p50Ns, p99Ns }) => [{ x: processes, y: p50Ns, high: p99Ns }],
    },
    distributionPlan({
      group: (row) => `${lengthOf(row)}, ${processesOf(row)}`,
      figure: ofOp,
      series: ofAlgorithm,
    }),
  ],
}
