/** Tables in Markdown from rows of `aether bench … --json`. */

/**
 * A table with a line for each value of `line` and a column for each of `column`, in the order in which they come, or
 * the columns in that of `rank`; `cell` says what is in it. Where a line has nothing in a column, the cell is empty.
 */
export function pivot(rows, { title, line, column, cell, rank = () => 0 }) {
  const columns = [...new Set(rows.toSorted((one, other) => rank(one) - rank(other)).map(column))]
  const lines = new Map()
  for (const row of rows) {
    const name = line(row)
    if (!lines.has(name)) lines.set(name, new Map())
    lines.get(name).set(column(row), cell(row))
  }
  return markdown(
    [title, ...columns],
    [...lines].map(([name, cells]) => [name, ...columns.map((each) => cells.get(each) ?? '')]),
  )
}

/** A table of its own lines. */
export function markdown(head, lines) {
  const row = (cells) => `| ${cells.join(' | ')} |`
  return [row(head), `|${head.map(() => '---|').join('')}`, ...lines.map(row)].join('\n')
}
