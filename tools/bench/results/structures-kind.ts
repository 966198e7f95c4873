import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatRate, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import { isSameWork, type StructuresRow } from '../structures/structures-row.ts'
import { bytesAxis, countAxis, distributionPlan, medianExplained, rateAxis, timeAxis } from './axes.ts'
import { grouped } from './plot.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  { title: 'keys', align: 'left' },
  ...['value', 'processes'].map((title): Column => ({ title, align: 'right' })),
  { title: 'of', align: 'left' },
  ...['p50', 'p99', 'max', 'ratio', 'operations', 'of best'].map((title): Column => ({ title, align: 'right' })),
]

function cellsOf(row: StructuresRow): string[] {
  return [
    row.op,
    row.keys,
    formatBytes(row.bytes),
    String(row.processes),
    row.store,
    ...[row.p50Ns, row.p99Ns, row.maxNs].map((ns) => formatTime(ns / 1e6)),
    row.ratio === null ? '' : formatRatio(row.ratio),
    formatRate(row.opsPerSec),
    formatShare(row.peakShare),
  ]
}

/**
 * What was asked of the structures: how fast a get is beside the others, what the seam costs, what more processes
 * bring.
 */
function sentences(rows: readonly StructuresRow[]): string[] {
  const own = rows.filter(({ store }) => store === 'aether')
  const gets = own.filter(({ op, processes }) => op === 'get' && processes === 1).map((row) => getLine(row, rows))
  const adds = rows.flatMap(({ op, store, processes, ratio }) => {
    if (op !== 'add' || store !== 'Map' || processes !== 1 || ratio === null) return []
    return [
      `a counter's add takes ${formatRatio(1 / ratio)} what Atomics.add takes, through the seam of memory and all checks`,
    ]
  })
  return [...gets, ...adds, ...own.filter(({ processes }) => processes === 1).flatMap((row) => growthLine(row, own))]
}

function getLine(row: StructuresRow, rows: readonly StructuresRow[]): string {
  const others = rows.filter((each) => each.ratio !== null && isSameWork(each, row))
  const beside = others.map(({ store, ratio }) => `${store} ${formatRatio(ratio!)}`).join(', ')
  const what = `a get of ${formatBytes(row.bytes)} (${row.keys}) takes ${formatTime(row.p50Ns / 1e6)}`
  return beside === '' ? what : `${what}; for comparison: ${beside}`
}

/** For gets and sets: the rate of the most processes, relative to the best rate of any number. */
function growthLine(row: StructuresRow, own: readonly StructuresRow[]): string[] {
  const same = own.filter((each) => isSameWork({ ...each, processes: 1 }, row))
  const most = same.reduce((one, other) => (other.processes > one.processes ? other : one))
  if (same.length < 2 || (row.op !== 'get' && row.op !== 'set')) return []
  const what = `${row.op} of ${formatBytes(row.bytes)} (${row.keys})`
  const does = `${most.processes} processes do ${formatRate(most.opsPerSec)}`
  return [`${what}: ${does}, ${formatShare(most.peakShare)} of the best rate of any number`]
}

function formatShare(share: number): string {
  return `${Math.round(100 * share)} %`
}

const ofStore = ({ store }: StructuresRow): string => store
const processesOf = ({ processes }: StructuresRow): string =>
  `${processes} ${processes === 1 ? 'process' : 'processes'}`
const valuesOf = ({ bytes }: StructuresRow): string => `values of ${formatBytes(bytes)}`
/** What is done; queues and counters have no keys. */
const workOf = ({ op, keys }: StructuresRow): string => (keys === 'one' ? op : `${op}, ${keys} keys`)
const whereOf = (row: StructuresRow): string => `${processesOf(row)}, ${valuesOf(row)}`

/** Rows of `aether bench structures`. */
export const structuresKind: RowKind<StructuresRow> = {
  identity: ['op', 'store', 'processes', 'bytes', 'keys'],
  cost: { title: 'the median time', of: ({ p50Ns }) => p50Ns },
  mark: { category: (row) => `${workOf(row)}; ${whereOf(row)}`, series: ofStore },
  // Rows of the same work are side by side.
  table: (rows, before) =>
    table([...grouped(rows, (row) => `${workOf(row)}, ${whereOf(row)}`).values()].flat(), before),
  sentences,
  notes: [
    'p50, p99 and max are those of means over batches of at least 20 µs, because one operation is too short for the clock. Requests to Redis are timed',
    'singly. ratio: the median divided by that of the shared structure. operations: of all processes together, as fast as they can. of best: relative',
    'to the best rate of any number of processes.',
    'Values are bytes, copied in and out. The Map is in one process and returns the stored values; its add is Atomics.add. lmdb does not wait for its',
    'disk. If there are more processes than CPUs, they wait for each other all the time.',
  ],
  plots: [
    {
      kind: 'lines',
      section: 'Rate by number of processes',
      explained: 'Operations per second of all processes together.',
      group: valuesOf,
      figure: workOf,
      series: ofStore,
      x: countAxis('processes'),
      y: rateAxis,
      points: ({ processes, opsPerSec }) => [{ x: processes, y: opsPerSec }],
    },
    {
      kind: 'lines',
      section: 'Time by number of processes',
      explained: medianExplained,
      group: valuesOf,
      figure: workOf,
      series: ofStore,
      x: countAxis('processes'),
      y: timeAxis,
      points: ({ processes, p50Ns, p99Ns }) => [{ x: processes, y: p50Ns, high: p99Ns }],
    },
    {
      kind: 'lines',
      section: 'Time by length of the value',
      explained: medianExplained,
      group: processesOf,
      figure: workOf,
      series: ofStore,
      x: bytesAxis,
      y: timeAxis,
      points: ({ bytes, p50Ns, p99Ns }) => [{ x: bytes, y: p50Ns, high: p99Ns }],
    },
    {
      kind: 'dots',
      section: 'Stores side by side',
      explained: medianExplained,
      group: processesOf,
      figure: () => 'time of one operation',
      category: (row) => `${workOf(row)}, ${formatBytes(row.bytes)}`,
      series: ofStore,
      x: timeAxis,
      value: ({ p50Ns, p99Ns }) => ({ value: p50Ns, high: p99Ns }),
    },
    distributionPlan({ group: whereOf, figure: workOf, series: ofStore }),
  ],
}

const table = rowTable(columns, cellsOf)
