import type { Column } from 'aether-dsm/internal/cli'
import { formatRatio } from 'aether-dsm/internal/cli'
import type { BenchTable, RowKind } from './row-kind.ts'

const beforeColumn: Column = { title: 'before', align: 'right' }

/** A table with a line for each row, and, with an earlier run, its ratio to that in the last column. */
export function rowTable<Row>(
  columns: readonly Column[],
  cellsOf: (row: Row) => readonly string[],
): RowKind<Row>['table'] {
  return (rows, before): BenchTable => {
    if (before === undefined) return { columns, cells: rows.map(cellsOf) }
    const cells = rows.map((row) => [...cellsOf(row), beforeCell(before(row))])
    return { columns: [...columns, beforeColumn], cells }
  }
}

/** A ratio to an earlier run, or that there is none. */
function beforeCell(ratio: number | null): string {
  return ratio === null ? 'no such row' : formatRatio(ratio)
}
