import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import { quantileShares } from '../quantiles.ts'
import type { SpacesRow } from '../spaces/spaces-row.ts'
import { distributionPlan, medianExplained, timeAxis } from './axes.ts'
import { grouped } from './plot.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  ...['operation', 'of', 'in'].map((title): Column => ({ title, align: 'left' })),
  ...['length', 'mean', 'p50', 'p99', 'p99.9', 'max', 'written', 'ratio'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  { title: 'to', align: 'left' },
]
const P999 = quantileShares.indexOf(0.999)

function cellsOf(row: SpacesRow): string[] {
  const { op, store, place, bytes, meanNs, p50Ns, p99Ns, quantilesNs, maxNs, writtenBytes, ratio, baseline } = row
  return [
    ...[op, store, place, formatBytes(bytes)],
    ...[meanNs, p50Ns, p99Ns, quantilesNs[P999]!, maxNs].map((ns) => formatTime(ns / 1e6)),
    writtenBytes === null || writtenBytes === 0 ? '' : formatBytes(writtenBytes),
    ratio === null ? '' : formatRatio(ratio),
    baseline ?? '',
  ]
}

const ofOp = ({ op }: SpacesRow): string => op
const isOpening = ({ op }: SpacesRow): boolean => op === 'open'
const whereOf = ({ store, place }: SpacesRow): string => `${store}, ${place}`

/** What was asked: what a directory costs, and how soon a large store is open again. */
function sentences(rows: readonly SpacesRow[]): string[] {
  const own = rows.filter(({ store, ratio }) => store === 'aether' && ratio !== null)
  const costs = [...grouped(own, ({ place }) => place)].map(
    ([place, those]) =>
      `on ${place}, of the time in memory: ${those.map(({ op, ratio }) => `${op} ${formatRatio(ratio!)}`).join(', ')}`,
  )
  const openings = rows.filter(isOpening)
  const times = openings.map((row) => `${formatTime(row.p50Ns / 1e6)} (${whereOf(row)})`).join(', ')
  return openings.length === 0 ? costs : [...costs, `${formatBytes(openings[0]!.bytes)} are open after ${times}`]
}

/** Rows of `aether bench spaces`. */
export const spacesKind: RowKind<SpacesRow> = {
  identity: ['op', 'store', 'place', 'bytes'],
  cost: { title: 'the median time', of: ({ p50Ns }) => p50Ns },
  mark: { category: ({ op, bytes }) => `${op}, ${formatBytes(bytes)}`, series: whereOf },
  // Rows of the same operation are side by side.
  table: (rows, before) => table([...grouped(rows, ofOp).values()].flat(), before),
  sentences,
  notes: [
    'Keys of 16 bytes, values of 100. p50 to max are of operations that are timed singly, with a look at the clock in each; the mean is without. ratio:',
    'the time of batches divided by that in memory in the same round of milliseconds, the median of all rounds. With write-back, the changed pages of',
    'all files are written to the disk once a second; written: what these operations added to that. open: from the call in a new process to the first',
    'value, with the files in the cache of the kernel; the space in memory is restored from its save. lmdb and SQLite do not wait for the disk either:',
    'noSync, and WAL with synchronous = OFF.',
  ],
  plots: [
    {
      kind: 'dots',
      section: 'Times side by side',
      explained: medianExplained,
      group: (row) => (isOpening(row) ? 'opening a store' : 'operations'),
      figure: () => 'time of one',
      category: ofOp,
      series: whereOf,
      x: timeAxis,
      value: ({ p50Ns, p99Ns }) => ({ value: p50Ns, high: p99Ns }),
    },
    distributionPlan({ where: (row) => !isOpening(row), figure: ofOp, series: whereOf }),
  ],
}

const table = rowTable(columns, cellsOf)
