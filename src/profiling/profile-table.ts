import type { BlockReading, CounterReading, HistogramReading } from './block-reading.ts'
import type { Finding } from './finding.ts'

/** What a table shows of a profile. */
interface ShownProfile {
  readonly unplaced: number
  readonly findings: readonly Finding[]
  counters(): readonly CounterReading[]
  histograms(): readonly HistogramReading[]
}

/** Format a profile for people: one line for each figure that is not 0, and the findings. */
export function profileTable(profile: ShownProfile): string {
  const rows: string[][] = []
  for (const reading of profile.counters())
    for (const [counter, value] of Object.entries(reading.values))
      if (value !== 0) rows.push([`${reading.name} ${counter}`, nameOf(reading), quantity(counter, value)])
  const times = profile.histograms().filter(({ count }) => count > 0)
  const sections = [table(rows), table(times.length === 0 ? [] : [TIMES, ...times.map(timesRow)])]
  if (profile.unplaced > 0)
    sections.push(`${profile.unplaced} blocks found no place: their figures are included in "others", or missing.`)
  sections.push(...profile.findings.map(({ text }) => text))
  return sections.filter((section) => section !== '').join('\n\n')
}

const TIMES = ['', '', 'count', 'mean', 'p50', 'p99', 'max']

function timesRow(reading: HistogramReading): string[] {
  const { name, count, meanNs, p50Ns, p99Ns, maxNs } = reading
  return [name, nameOf(reading), count.toLocaleString('en'), ...[meanNs, p50Ns, p99Ns, maxNs].map(duration)]
}

function nameOf({ label, rest }: BlockReading): string {
  return rest ? 'others' : label
}

function quantity(counter: string, value: number): string {
  if (counter.endsWith('Ns')) return duration(value)
  return counter.startsWith('bytes') ? bytes(value) : value.toLocaleString('en')
}

function duration(ns: number): string {
  if (ns < 1e3) return `${ns.toFixed(0)} ns`
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`
  return ns < 1e9 ? `${(ns / 1e6).toFixed(1)} ms` : `${(ns / 1e9).toFixed(2)} s`
}

function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  let scaled = value
  for (; scaled >= 1024 && unit < units.length - 1; unit += 1) scaled /= 1024
  return `${unit === 0 ? scaled : scaled.toFixed(1)} ${units[unit]}`
}

/** Names to the left, figures to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const cell = (text: string, column: number): string =>
    column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n')
}
