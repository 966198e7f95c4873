import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatRate, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import type { AlternatedRow } from '../alternated/alternated-row.ts'
import { countAxis, distributionPlan, medianExplained, timeAxis } from './axes.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  ...['operation', 'through'].map((title): Column => ({ title, align: 'left' })),
  ...['length', 'busy', 'p50', 'mean', 'p99', 'operations', 'p50 ratio', 'mean ratio', 'p99 ratio', 'rate ratio'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  ...['cpu', 'delay', 'sleeps', 'preempted'].map((title): Column => ({ title, align: 'right' })),
]

function cellsOf(row: AlternatedRow): string[] {
  const { op, provider, bytes, busy, p50Ns, meanNs, p99Ns, opsPerSec } = row
  const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns / 1e6))
  const number = (value: number | null): string => (value === null ? '' : value.toFixed(2))
  const ratios = [row.p50Ratio, row.meanRatio, row.p99Ratio, row.rateRatio]
  return [
    ...[op, provider, formatBytes(bytes), String(busy)],
    ...[p50Ns, meanNs, p99Ns].map(time),
    formatRate(opsPerSec),
    ...ratios.map((ratio) => (ratio === null ? '' : formatRatio(ratio))),
    ...[row.cpuNsPerOp, row.delayNsPerOp].map(time),
    ...[row.sleepsPerOp, row.preemptionsPerOp].map(number),
  ]
}

const ofProvider = ({ provider }: AlternatedRow): string => provider
const besideOf = ({ busy }: AlternatedRow): string => `beside ${busy} busy`

/** Rows of `aether bench messaging` and `rpc` with `--loads`. */
export const alternatedKind: RowKind<AlternatedRow> = {
  identity: ['op', 'provider', 'bytes', 'busy'],
  cost: { title: 'the mean time', of: ({ meanNs }) => meanNs },
  mark: {
    category: (row) => `${row.op}, ${formatBytes(row.bytes)}, ${besideOf(row)}`,
    series: ofProvider,
  },
  table: rowTable(columns, cellsOf),
  notes: [
    'This package and a Unix socket took turns, beside so many busy processes. Each figure is the median over the rounds, each ratio that of ratios within',
    'a round: time, or operations per second, divided by that of the socket. cpu, delay (ready to run, without a processor), sleeps and preempted are the',
    "scheduler's counts for the event loops of all ends, per operation. Sleeps include each time that a thread let others run.",
  ],
  plots: [
    {
      kind: 'lines',
      section: 'Time by load',
      explained: medianExplained,
      group: ({ bytes }) => formatBytes(bytes),
      figure: ({ op }) => op,
      series: ofProvider,
      x: countAxis('busy processes', 'linear'),
      y: timeAxis,
      points: ({ busy, p50Ns, p99Ns }) => [{ x: busy, y: p50Ns, high: p99Ns }],
    },
    distributionPlan({
      group: besideOf,
      figure: ({ op, bytes }) => `${op}, ${formatBytes(bytes)}`,
      series: ofProvider,
    }),
  ],
}
