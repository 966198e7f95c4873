import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatCount, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import type { ArraysRow } from '../arrays/arrays-row.ts'
import { countAxis, distributionPlan, medianExplained, timeAxis } from './axes.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  ...['elements', 'ranks', 'threads'].map((title): Column => ({ title, align: 'right' })),
  { title: 'of', align: 'left' },
  ...['p50', 'mean', 'p99', 'moved', 'needed', 'ratio'].map((title): Column => ({ title, align: 'right' })),
  { title: 'to', align: 'left' },
]

const bytesOrNothing = (bytes: number | null): string => (bytes === null ? '' : formatBytes(bytes))

function cellsOf(row: ArraysRow): string[] {
  return [
    row.op,
    formatCount(row.elements),
    row.ranks === 0 ? '' : formatCount(row.ranks),
    formatCount(row.threads),
    row.provider,
    ...[row.p50Ns, row.meanNs, row.p99Ns].map((ns) => formatTime(ns / 1e6)),
    bytesOrNothing(row.movedBytes),
    bytesOrNothing(row.neededBytes),
    row.ratio === null ? '' : formatRatio(row.ratio),
    row.baseline ?? '',
  ]
}

const whereOf = ({ ranks, threads }: ArraysRow): string => {
  const each = `${threads} ${threads === 1 ? 'thread' : 'threads'}`
  if (ranks === 0) return each
  return `${ranks} ${ranks === 1 ? 'rank' : 'ranks'} of ${each}`
}
const elementsOf = ({ elements }: ArraysRow): string => `${formatCount(elements)} elements`
const opOf = ({ op }: ArraysRow): string => op
const seriesOf = (row: ArraysRow): string => `${row.provider}, ${whereOf(row)}`

/** Rows of `aether bench arrays`. */
export const arraysKind: RowKind<ArraysRow> = {
  identity: ['op', 'provider', 'elements', 'ranks', 'threads'],
  cost: { title: 'the median time', of: ({ p50Ns }) => p50Ns },
  mark: { category: (row) => `${row.op}, ${elementsOf(row)}`, series: seriesOf },
  table: rowTable(columns, cellsOf),
  notes: [
    'Elements are float64. Times of short operations are means of batches of at least 10 µs. NumPy takes turns with this package; several threads are',
    'those of its library for matrices only. ratio: the median divided by that of the row named at the end. moved: bytes that came to all ranks for one',
    'operation; needed: those that no way of doing it can spare.',
  ],
  plots: [
    {
      kind: 'dots',
      section: 'All operations',
      explained: medianExplained,
      group: elementsOf,
      figure: () => 'time of one operation',
      category: opOf,
      series: seriesOf,
      x: timeAxis,
      value: ({ p50Ns, p99Ns }) => ({ value: p50Ns, high: p99Ns }),
    },
    {
      kind: 'lines',
      section: 'Time by number of elements',
      explained: medianExplained,
      figure: opOf,
      series: seriesOf,
      x: countAxis('elements'),
      y: timeAxis,
      points: ({ elements, p50Ns, p99Ns }) => [{ x: elements, y: p50Ns, high: p99Ns }],
    },
    distributionPlan({ group: elementsOf, figure: opOf, series: seriesOf }),
  ],
}
