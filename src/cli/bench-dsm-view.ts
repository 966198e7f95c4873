import type { DsmRow } from './bench/dsm-row.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatRatio } from './output/units.ts'

const columns: readonly Column[] = [
  { title: 'access', align: 'left' },
  ...['processes', 'page', 'p50 us', 'p99 us', 'max us', 'messages', 'moved'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
]

const notes = [
  'The agents sleep before each measured access, as beside a program that computes: waking them is part of the time. Messages and moved',
  'bytes are of all processes, for one access, counted apart. Fewer processors than threads (two a process) make everything slower.',
]

/** Rows as a table, with what to read out of them. */
export function showDsmBench(screen: Screen, rows: readonly DsmRow[]): void {
  screen.table(columns, rows.map(cells))
  screen.line()
  for (const line of [...ratios(rows), '', ...notes]) screen.line(line)
}

function cells({ op, ranks, pageBytes, p50Ns, p99Ns, maxNs, messages, bytes }: DsmRow): string[] {
  const us = (ns: number): string => (ns / 1000).toFixed(ns < 10_000 ? 3 : 1)
  const moved = bytes === null ? '' : formatBytes(bytes)
  return [op, String(ranks), formatBytes(pageBytes), us(p50Ns), us(p99Ns), us(maxNs), String(messages ?? ''), moved]
}

/** Medians of the same run, where one is to be held against the other. */
function ratios(rows: readonly DsmRow[]): string[] {
  const find = (text: string, like: DsmRow): DsmRow | undefined =>
    rows.find((row) => row.op.startsWith(text) && row.ranks === like.ranks && row.pageBytes === like.pageBytes)
  return rows.flatMap((view) => {
    if (!view.op.startsWith('sum of a page')) return []
    const plain = find('sum of a plain', view)
    const own = find('load, never touched, home here', view)
    const remote = find('load, written by its home', view)
    if (plain === undefined || own === undefined || remote === undefined) return []
    const size = `${view.ranks} processes, ${formatBytes(view.pageBytes)}`
    const hit = formatRatio(view.p50Ns / plain.p50Ns)
    const miss = formatRatio(remote.p50Ns / own.p50Ns)
    return [`${size}: a view is ${hit} a plain array; a remote load is ${miss} one that the agent answers alone`]
  })
}
