import { stripVTControlCharacters } from 'node:util'

/** A column of a table. */
export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

const gap = '  '

/** Lines of a table: titles, then rows, with aligned columns. Cells may contain colours and are never truncated. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map((column) => column.title), ...rows]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))))
  return lines.map((line) =>
    columns
      .map((column, index) => pad(line[index] ?? '', widths[index]!, column.align))
      .join(gap)
      .trimEnd(),
  )
}

function pad(cell: string, width: number, align: Column['align']): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cell)))
  return align === 'left' ? cell + blanks : blanks + cell
}

/** Width on a terminal. The texts here have no wide characters. */
function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length
}
