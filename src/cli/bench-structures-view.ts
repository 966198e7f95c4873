import { isSameWork, type StructuresRow } from './bench/structures/structures-row.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatRate, formatRatio, formatTime } from './output/units.ts'

const columns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  { title: 'keys', align: 'left' },
  ...['value', 'processes'].map((title): Column => ({ title, align: 'right' })),
  { title: 'of', align: 'left' },
  ...['p50', 'p99', 'max', 'ratio', 'operations', 'of best'].map((title): Column => ({ title, align: 'right' })),
]

const notes = [
  'p50, p99 and max are of means over batches of at least 20 µs, since one operation is shorter than the clock resolves; a request to Redis is',
  'timed alone. ratio: how many times the median of the shared structure. operations: of all processes together, as fast as they can; of best: beside',
  'the most that any number of processes did.',
  'Values are bytes, copied in and out, but for the Map, which is of one process and hands out what it keeps; its add is Atomics.add. lmdb does',
  'not wait for its disk. More processes than processors wait for each other at all times.',
]

/** Rows as a table, those of the same work together, with what to read out of them. */
export function showStructuresBench(screen: Screen, rows: readonly StructuresRow[]): void {
  screen.table(columns, grouped(rows).map(cells))
  screen.line()
  for (const line of [...sentences(rows), '', ...notes]) screen.line(`  ${line}`.trimEnd())
}

/** In the order in which works first come. */
function grouped(rows: readonly StructuresRow[]): StructuresRow[] {
  const firsts = rows.filter((row, at) => rows.findIndex((each) => isSameWork(each, row)) === at)
  return firsts.flatMap((first) => rows.filter((row) => isSameWork(row, first)))
}

function cells(row: StructuresRow): string[] {
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

/** What was asked of the structures: how fast a get is beside the others, what the seam costs, what more processes bring. */
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
  return beside === '' ? what : `${what}; beside it: ${beside}`
}

/** Of gets and sets: the rate of the most processes beside the best of any number. */
function growthLine(row: StructuresRow, own: readonly StructuresRow[]): string[] {
  const same = own.filter((each) => isSameWork({ ...each, processes: 1 }, row))
  const most = same.reduce((one, other) => (other.processes > one.processes ? other : one))
  if (same.length < 2 || (row.op !== 'get' && row.op !== 'set')) return []
  const what = `${row.op} of ${formatBytes(row.bytes)} (${row.keys})`
  const does = `${most.processes} processes do ${formatRate(most.opsPerSec)}`
  return [`${what}: ${does}, ${formatShare(most.peakShare)} of the best of any number`]
}

function formatShare(share: number): string {
  return `${Math.round(100 * share)} %`
}
