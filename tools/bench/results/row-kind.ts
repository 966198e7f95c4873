import type { Column } from 'aether-dsm/internal/cli'
import type { PlotPlan } from './plot.ts'

/** What the rows of a benchmark are, as data: the table of the terminal, `--compare` and the page are drawn from it. */
export interface RowKind<Row> {
  /**
   * What tells a row from all others of its run: an earlier run has the same of the same row. All are texts or numbers.
   */
  readonly identity: readonly (keyof Row & string)[]
  /** What is held against an earlier run, in words and as a number: less is better. */
  readonly cost: { readonly title: string; readonly of: (row: Row) => number }
  /** Where a row is drawn beside its earlier self. */
  readonly mark: { readonly category: (row: Row) => string; readonly series: (row: Row) => string }
  readonly table: (rows: readonly Row[], before: Before<Row> | undefined) => BenchTable
  /** What is read out of the rows, for people: a line each. */
  readonly sentences?: (rows: readonly Row[]) => readonly string[]
  /** How to read the table: a line each. */
  readonly notes: readonly string[]
  readonly plots: readonly PlotPlan<Row>[]
}

/** How many times its cost in an earlier run a row has; null where that has no such row. */
export type Before<Row> = (row: Row) => number | null

export interface BenchTable {
  readonly columns: readonly Column[]
  readonly cells: readonly (readonly string[])[]
}
