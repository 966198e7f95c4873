import type { ScalingRow } from './scaling.ts'

/**
 * A line for each kind of miss of a protocol, with a cell for each number of ranks: `messages / KiB / hops`, empty
 * where it needs more ranks.
 */
export interface ScalingLine {
  readonly protocol: string
  readonly miss: string
  readonly cells: readonly string[]
}

export function scalingLines(
  rows: readonly ScalingRow[],
  ranks: readonly number[],
  noteOf: (row: ScalingRow) => string = () => '',
): ScalingLine[] {
  const lines = new Map(rows.map(({ protocol, miss }) => [`${protocol}, ${miss}`, { protocol, miss }]))
  return [...lines.values()].map(({ protocol, miss }) => {
    const of = rows.filter((row) => row.protocol === protocol && row.miss === miss)
    return {
      protocol,
      miss,
      cells: ranks.map((size) =>
        cell(
          of.find((row) => row.ranks === size),
          noteOf,
        ),
      ),
    }
  })
}

function cell(row: ScalingRow | undefined, noteOf: (row: ScalingRow) => string): string {
  if (row === undefined) return ''
  return `${row.messages} / ${(row.bytes / 1024).toFixed(1)} / ${row.hops}${noteOf(row)}`
}
