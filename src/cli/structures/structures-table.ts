import type { StructureFrame } from '../../dashboard/index.ts'
import type { Screen } from '../output/screen.ts'
import type { Column } from '../output/table.ts'
import { formatBytes, formatCount, formatRate } from '../output/units.ts'

const right = (title: string): Column => ({ title, align: 'right' })
const left = (title: string): Column => ({ title, align: 'left' })

/** Structures by calls per second, the busiest first. */
export function busiestFirst(structures: readonly StructureFrame[]): readonly StructureFrame[] {
  return [...structures].sort((a, b) => b.reads + b.writes - (a.reads + a.writes) || (a.name < b.name ? -1 : 1))
}

/** One row for each structure. The region is shown if there are several. */
export function showStructuresTable(structures: readonly StructureFrame[], screen: Screen): void {
  const hasRegions = new Set(structures.map(({ region }) => region)).size > 1
  const columns = [
    left('structure'),
    left('kind'),
    right('entries'),
    right('bytes'),
    right('reads'),
    right('writes'),
    right('waiting'),
    right('evicted'),
    left('now'),
    ...(hasRegions ? [left('region')] : []),
  ]
  const rows = structures.map((structure) => [
    plainName(structure.name),
    structure.kind,
    entriesText(structure),
    bytesText(structure),
    rateText(structure.reads),
    rateText(structure.writes),
    formatCount(structure.waiting),
    formatCount(structure.evictions),
    structure.now,
    ...(hasRegions ? [structure.region] : []),
  ])
  screen.table(columns, rows)
}

/** A name on one line: its control characters would spoil a terminal. */
export function plainName(name: string): string {
  return name.replace(/\p{Cc}/gu, '?')
}

export function entriesText({ entries, isChanging }: StructureFrame): string {
  if (entries !== null) return formatCount(entries)
  return isChanging ? 'changing' : '-'
}

/** `~` stands before an estimate. */
export function bytesText({ bytes, isEstimate, isChanging }: StructureFrame): string {
  if (bytes !== null) return `${isEstimate ? '~' : ''}${formatBytes(bytes)}`
  return isChanging ? 'changing' : '-'
}

function rateText(rate: number): string {
  return rate === 0 ? '-' : formatRate(rate)
}
