import type { DsmRow } from './bench/dsm-row.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatRatio, formatTime } from './output/units.ts'

const columns: readonly Column[] = [
  { title: 'access', align: 'left' },
  { title: 'coherence', align: 'left' },
  ...['processes', 'page', 'p50 us', 'p99 us', 'max us', 'messages', 'moved', 'hits', 'ratio'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  { title: 'of', align: 'left' },
]

const notes = [
  'The agents sleep before each measured access, as beside a program that computes: waking them is part of the time. Messages and moved',
  'bytes are of all processes, for one access, counted apart. Fewer processors than threads (two a process) make everything slower.',
  '',
  'The grid: all processes load and store single words at random, at the same time, as fast as they can, in 64 pages that they share and 64',
  'of their own; a sample is the time of all processes in a twentieth of the cell, divided by their accesses.',
]

/** Rows as a table, with what to read out of them. */
export function showDsmBench(screen: Screen, rows: readonly DsmRow[]): void {
  screen.table(columns, rows.map(cells))
  screen.line()
  for (const line of [...sentences(rows), '', ...notes]) screen.line(line)
}

function cells(row: DsmRow): string[] {
  const us = (ns: number): string => (ns / 1000).toFixed(ns < 10_000 ? 3 : 1)
  const moved = row.bytes === null ? '' : formatBytes(Math.round(row.bytes))
  return [
    row.op,
    row.coherence,
    String(row.ranks),
    formatBytes(row.pageBytes),
    us(row.p50Ns),
    us(row.p99Ns),
    us(row.maxNs),
    String(row.messages ?? ''),
    moved,
    row.hitRate === null ? '' : `${(100 * row.hitRate).toFixed(2)} %`,
    row.ratio === null ? '' : formatRatio(row.ratio),
    row.baseline ?? '',
  ]
}

/** What the ratios are asked for: a hit beside plain memory, and a fault beside a thread of C. */
function sentences(rows: readonly DsmRow[]): string[] {
  return rows.flatMap(({ op, coherence, ranks, pageBytes, p50Ns, ratio, baseline }) => {
    const isHit = op.startsWith('sum of a page through')
    const isFault = baseline?.startsWith('load, answered by a C thread') === true
    if (ratio === null || !(isHit || isFault)) return []
    const where = `${coherence}, ${ranks} processes, ${formatBytes(pageBytes)}`
    if (isHit) return [`${where}: a view is ${formatRatio(ratio)} a plain array`]
    return [
      `${where}: a fault that the agent answers alone takes ${formatTime(p50Ns / 1e6)}, ${formatRatio(ratio)} one that a C thread answers`,
    ]
  })
}
