import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import type { DsmRow } from '../dsm-row.ts'
import { bytesAxis, countAxis, distributionPlan, medianExplained, timeAxis } from './axes.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  { title: 'access', align: 'left' },
  { title: 'coherence', align: 'left' },
  ...['processes', 'page', 'p50', 'p99', 'max', 'messages', 'moved', 'hits', 'ratio'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  { title: 'of', align: 'left' },
]

function cellsOf(row: DsmRow): string[] {
  return [
    row.op,
    row.coherence,
    String(row.ranks),
    formatBytes(row.pageBytes),
    ...[row.p50Ns, row.p99Ns, row.maxNs].map((ns) => formatTime(ns / 1e6)),
    String(row.messages ?? ''),
    row.bytes === null ? '' : formatBytes(Math.round(row.bytes)),
    row.hitRate === null ? '' : `${(100 * row.hitRate).toFixed(2)} %`,
    row.ratio === null ? '' : formatRatio(row.ratio),
    row.baseline ?? '',
  ]
}

/** What the ratios are asked for: a hit beside plain memory, and faults beside threads of C and C++. */
function sentences(rows: readonly DsmRow[]): string[] {
  return rows.flatMap(({ op, coherence, ranks, pageBytes, p50Ns, ratio, baseline }) => {
    const isHit = op.startsWith('sum of a page through')
    const isFault = baseline?.startsWith('load, answered by a C thread') === true
    const isFetch = baseline?.startsWith('load, in C++') === true
    if (ratio === null || !(isHit || isFault || isFetch)) return []
    const where = `${coherence}, ${ranks} processes, ${formatBytes(pageBytes)}`
    if (isHit) return [`${where}: a view is ${formatRatio(ratio)} a plain array`]
    if (isFetch)
      return [
        `${where}: a page from another process takes ${formatTime(p50Ns / 1e6)}, ${formatRatio(ratio)} the same exchange in C++`,
      ]
    return [
      `${where}: a fault that the agent answers alone takes ${formatTime(p50Ns / 1e6)}, ${formatRatio(ratio)} one that a C thread answers`,
    ]
  })
}

/** A cell of the grid, as its rows are called. */
const cell = /^(\d+) % shared, (\d+) % stores$/
const isCell = ({ op }: DsmRow): boolean => cell.test(op)
const isAccess = (row: DsmRow): boolean => !isCell(row)
const ofOp = ({ op }: DsmRow): string => op
const ofCoherence = ({ coherence }: DsmRow): string => coherence
const pagesOf = ({ pageBytes }: DsmRow): string => `pages of ${formatBytes(pageBytes)}`
const processesOf = ({ ranks }: DsmRow): string => `${ranks} processes`
const whereOf = (row: DsmRow): string => `${processesOf(row)}, ${pagesOf(row)}`

/** Rows of `aether bench dsm`. */
export const dsmKind: RowKind<DsmRow> = {
  identity: ['op', 'coherence', 'ranks', 'pageBytes'],
  cost: { title: 'the median time', of: ({ p50Ns }) => p50Ns },
  mark: { category: (row) => `${row.op}; ${whereOf(row)}`, series: ofCoherence },
  table: rowTable(columns, cellsOf),
  sentences,
  notes: [
    'The agents sleep before each measured access, as they do beside a program that computes, so waking them is part of the time. Messages and',
    'moved bytes are those of all processes for one access, counted separately. Fewer CPUs than threads (two per process) make everything slower.',
    'The grid: all processes load and store single words at random, at the same time, as fast as they can, in 64 pages that they share and 64',
    'of their own. A sample is the time of all processes in a twentieth of the cell, divided by their accesses.',
  ],
  plots: [
    {
      kind: 'dots',
      section: 'Accesses',
      explained: medianExplained,
      where: isAccess,
      group: whereOf,
      figure: () => 'time of one access',
      category: ofOp,
      series: ofCoherence,
      x: timeAxis,
      value: ({ p50Ns, p99Ns }) => ({ value: p50Ns, high: p99Ns }),
    },
    {
      kind: 'dots',
      section: 'Messages of one access',
      explained: 'Counted over all processes.',
      where: (row) => isAccess(row) && row.messages !== null,
      group: whereOf,
      figure: () => 'messages of one access',
      category: ofOp,
      series: ofCoherence,
      x: countAxis('messages', 'linear'),
      value: ({ messages }) => (messages === null ? null : { value: messages }),
    },
    {
      kind: 'lines',
      section: 'By sharing',
      explained: `Random accesses by all processes at the same time, by the share of accesses to pages that all use. ${medianExplained}`,
      where: isCell,
      group: whereOf,
      figure: ({ op }) => `${cell.exec(op)![2]} % of the accesses are stores`,
      series: ofCoherence,
      x: { title: 'accesses to pages that all use', scale: 'linear', format: (share) => `${share} %` },
      y: timeAxis,
      points: ({ op, p50Ns, p99Ns }) => [{ x: Number(cell.exec(op)![1]), y: p50Ns, high: p99Ns }],
    },
    {
      kind: 'lines',
      section: 'By number of processes',
      explained: medianExplained,
      group: pagesOf,
      figure: ofOp,
      series: ofCoherence,
      x: countAxis('processes'),
      y: timeAxis,
      points: ({ ranks, p50Ns, p99Ns }) => [{ x: ranks, y: p50Ns, high: p99Ns }],
    },
    {
      kind: 'lines',
      section: 'By length of a page',
      explained: medianExplained,
      where: isAccess,
      group: processesOf,
      figure: ofOp,
      series: ofCoherence,
      x: bytesAxis,
      y: timeAxis,
      points: ({ pageBytes, p50Ns, p99Ns }) => [{ x: pageBytes, y: p50Ns, high: p99Ns }],
    },
    distributionPlan({ where: isAccess, group: whereOf, figure: ofOp, series: ofCoherence }),
  ],
}
