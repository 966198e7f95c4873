import { ratioAxis } from './axes.ts'
import { type PlotPlan, type PlotSection, plotSections } from './plot.ts'
import type { Before, BenchTable, RowKind } from './row-kind.ts'

/**
 * What a benchmark found, ready to be shown: the terminal prints the table and the lines, `--json` the rows, the page
 * all but the rows.
 */
export interface BenchResult {
  readonly suite: string
  /** As `--json` has them. */
  readonly rows: readonly object[]
  readonly table: BenchTable
  /** What to read out of the table, and how; an empty one is a space between two. */
  readonly lines: readonly string[]
  readonly sections: readonly PlotSection[]
}

/** Rows of one kind, with what `before` says of them where there is an earlier run. */
export function benchResult<Row extends object>(
  suite: string,
  kind: RowKind<Row>,
  rows: readonly Row[],
  before: Before<Row> | undefined,
): BenchResult {
  const told = before === undefined ? [] : [beforeNote(kind, rows, before)]
  const sentences = kind.sentences?.(rows) ?? []
  return {
    suite,
    rows: rows.map((row) => ({ suite, ...row, ...(before !== undefined && { beforeRatio: before(row) }) })),
    table: kind.table(rows, before),
    lines: [...sentences, ...(sentences.length > 0 ? [''] : []), ...kind.notes, ...told],
    sections: plotSections(before === undefined ? kind.plots : [beforePlan(kind, before), ...kind.plots], rows),
  }
}

function beforeNote<Row>({ cost }: RowKind<Row>, rows: readonly Row[], before: Before<Row>): string {
  const found = rows.filter((row) => before(row) !== null).length
  const whole = `before: ${cost.title} divided by that of the earlier run; below 1 is less than before.`
  return found === rows.length ? whole : `${whole} The earlier run has ${found} of these ${rows.length} rows.`
}

/** What has changed since the earlier run, at a glance. */
function beforePlan<Row>({ mark, cost }: RowKind<Row>, before: Before<Row>): PlotPlan<Row> {
  return {
    kind: 'dots',
    section: 'Compared with the earlier run',
    explained: `Shows ${cost.title} divided by that of the earlier run: left of 1 is less than before.`,
    figure: () => 'this run over the earlier one',
    category: mark.category,
    series: mark.series,
    x: ratioAxis,
    value: (row) => {
      const ratio = before(row)
      return ratio === null ? null : { value: ratio }
    },
  }
}
