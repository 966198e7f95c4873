import { formatBytes, formatCount, formatRatio } from 'aether-dsm/internal/cli'
import type { ScalingRow } from '../scaling/scaling.ts'
import { scalingLines } from '../scaling/scaling-table.ts'
import { countAxis } from './axes.ts'
import type { PlotPlan } from './plot.ts'
import type { Before, BenchTable, RowKind } from './row-kind.ts'

/** A line for each protocol and miss, a column for each number of nodes. */
function table(rows: readonly ScalingRow[], before: Before<ScalingRow> | undefined): BenchTable {
  const sizes = [...new Set(rows.map(({ ranks }) => ranks))].sort((one, other) => one - other)
  const ratioOf = (row: ScalingRow): string => {
    const ratio = before?.(row) ?? null
    return ratio === null ? '' : ` (${formatRatio(ratio)})`
  }
  return {
    columns: [
      { title: 'protocol', align: 'left' },
      { title: 'miss', align: 'left' },
      ...sizes.map((size) => ({ title: `${formatCount(size)} nodes`, align: 'right' }) as const),
    ],
    cells: scalingLines(rows, sizes, ratioOf).map(({ protocol, miss, cells }) => [protocol, miss, ...cells]),
  }
}

const nodesAxis = countAxis('nodes')

/** A figure by the number of nodes: a plot for each miss, with a line for each protocol. */
const byNodes = (
  section: string,
  y: Extract<PlotPlan<ScalingRow>, { kind: 'lines' }>['y'],
  of: (row: ScalingRow) => number,
): PlotPlan<ScalingRow> => ({
  kind: 'lines',
  section,
  explained: 'Counted, not timed. Lines of protocols with the same counts overlap.',
  figure: ({ miss }) => miss,
  series: ({ protocol }) => protocol,
  x: nodesAxis,
  y,
  points: (row) => [{ x: row.ranks, y: of(row) }],
})

/** Rows of `aether bench scaling`. */
export const scalingKind: RowKind<ScalingRow> = {
  identity: ['protocol', 'miss', 'ranks'],
  cost: { title: 'the messages', of: ({ messages }) => messages },
  mark: {
    category: ({ miss, ranks }) => `${miss}, ${formatCount(ranks)} nodes`,
    series: ({ protocol }) => protocol,
  },
  table,
  notes: [
    'Messages / KiB per miss (pages of 4 KiB, including the messages) / consecutive messages until the access can be done.',
    'Counted exactly, by the state machines of the agents in one process. An upgrade has to reach every other reader, in any protocol.',
  ],
  plots: [
    byNodes('Messages by nodes', countAxis('messages'), ({ messages }) => messages),
    byNodes('Delays by nodes', countAxis('consecutive messages', 'linear'), ({ hops }) => hops),
    byNodes(
      'Bytes by nodes',
      { title: 'bytes, including messages', scale: 'log', format: formatBytes },
      ({ bytes }) => bytes,
    ),
  ],
}
