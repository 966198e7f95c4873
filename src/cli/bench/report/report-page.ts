import { formatBytes, formatRate, formatTime } from '../../output/units.ts'
import { type BenchRow, timeOf } from '../row.ts'
import { type ChartLine, chartSvg, escapeHtml } from './chart.ts'

export interface ReportSection {
  readonly rows: readonly BenchRow[]
  readonly columns: readonly string[]
  /** Of the table, in the order of rows. */
  readonly cells: readonly (readonly string[])[]
  readonly notes: readonly string[]
}

export interface ReportPage extends ReportSection {
  readonly title: string
  /** Machine, versions, when, and with which command: one line each. */
  readonly facts: readonly string[]
}

/** What is measured with N of something: `call-16`, `clients-4`; and of what. */
const counted = /^([a-z]+)-(\d+)$/
const countedTitles: Readonly<Record<string, string>> = {
  call: 'calls under way',
  clients: 'client processes',
  reads: 'reads by processes',
  writes: 'writes by processes',
  calls: 'calls by processes',
}

/** A page that needs nothing else: time by length of each operation with p50 and p99, rate by number of calls, clients or processes, and all rows. */
export function reportPage({ title, facts, ...section }: ReportPage): string {
  return pageOf(title, facts, sectionBody(section))
}

/** The same of several suites, one after the other. Where rows have another shape than {@link BenchRow} there is the table only, and `rows` is empty. */
export function reportPageOfSuites(
  title: string,
  facts: readonly string[],
  suites: readonly (ReportSection & { readonly name: string })[],
): string {
  const body = suites.flatMap(({ name, ...section }) => [
    `<section><h1>${escapeHtml(name)}</h1>`,
    ...sectionBody(section),
    '</section>',
  ])
  return pageOf(title, facts, body)
}

function sectionBody({ rows, columns, cells, notes }: ReportSection): string[] {
  const byLength = sizeCharts(rows)
  const explained =
    'A point is the median (of streams the mean), its whisker reaches to p99. Both axes are logarithmic.'
  return [
    ...(byLength.length === 0 ? [] : [`<h2>By length</h2><p>${explained}</p>`, ...byLength]),
    ...rateSection(rows),
    '<h2>All rows</h2>',
    `<table><thead><tr>${columns.map((name) => `<th>${escapeHtml(name)}</th>`).join('')}</tr></thead><tbody>`,
    ...cells.map((line) => `<tr>${line.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`),
    '</tbody></table>',
    `<p>${notes.map(escapeHtml).join(' ')}</p>`,
  ]
}

function pageOf(title: string, facts: readonly string[], body: readonly string[]): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>`
  const top = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<ul>${facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join('')}</ul>`,
  ]
  return `<!doctype html><html lang="en"><head>${head}<style>${style}</style></head><body>${[...top, ...body].join('\n')}</body></html>\n`
}

function sizeCharts(rows: readonly BenchRow[]): string[] {
  return [...new Set(rows.map(({ op }) => op))].flatMap((op) => {
    const own = rows.filter((row) => row.op === op)
    // A single length is no sweep.
    if (new Set(own.map(({ bytes }) => bytes)).size < 2) return []
    return [
      chartSvg({
        title: op,
        lines: linesOf(own, (row) => ({
          x: row.bytes,
          y: Math.max(0.1, timeOf(row)),
          ...(row.p99Ns === null ? {} : { high: row.p99Ns }),
        })),
        nameX: formatBytes,
        nameY: (ns) => formatTime(ns / 1e6),
      }),
    ]
  })
}

/** Where something was measured with several numbers of calls under way, or of clients. */
function rateSection(rows: readonly BenchRow[]): string[] {
  const many = rows.filter(({ op }) => counted.test(op))
  const charts = Object.entries(countedTitles).flatMap(([what, name]) => {
    const own = many.filter(({ op }) => op.startsWith(`${what}-`))
    if (new Set(own.map(({ op }) => op)).size < 2) return []
    return [...new Set(own.map(({ bytes }) => bytes))].map((bytes) =>
      chartSvg({
        title: `${name}, ${formatBytes(bytes)}`,
        lines: linesOf(
          own.filter((row) => row.bytes === bytes),
          ({ op, opsPerSec }) => ({ x: Number(counted.exec(op)![2]), y: Math.max(1, opsPerSec) }),
        ),
        nameX: String,
        nameY: formatRate,
      }),
    )
  })
  return charts.length === 0 ? [] : ['<h2>By number</h2><p>Operations a second.</p>', ...charts]
}

function linesOf(rows: readonly BenchRow[], point: (row: BenchRow) => ChartLine['points'][number]): ChartLine[] {
  return [...new Set(rows.map(({ provider }) => provider))].map((name) => ({
    name,
    points: rows
      .filter(({ provider }) => provider === name)
      .map(point)
      .sort((one, other) => one.x - other.x),
  }))
}

const light = ['#0b62c4', '#c2410c', '#15803d', '#9333ea', '#a16207', '#be185d', '#0e7490', '#475569']
const dark = ['#6cb0ff', '#ff9a5c', '#5fd38a', '#c59bff', '#e6c34f', '#ff8cc0', '#5cd0e6', '#a9b6c8']
const colours = (list: readonly string[]): string =>
  list.map((colour, index) => `.c${index}{stroke:${colour}}.c${index} circle,.c${index} text{fill:${colour}}`).join('')

const style = `:root{color-scheme:light dark;--text:#1b1f24;--page:#fff;--grid:#d8dee4}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:1400px;margin:2rem auto;padding:0 1rem}
figure{display:inline-block;margin:0 1rem 1rem 0;width:min(640px,100%)}figcaption{font-weight:600}
svg{width:100%;height:auto}svg text{font-size:12px;fill:var(--text);stroke:none}.grid{stroke:var(--grid)}
polyline{fill:none;stroke-width:2}.whisker{stroke-width:1;opacity:.6}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--grid)}
td:nth-child(-n+2),th:nth-child(-n+2){text-align:left}
${colours(light)}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--page:#0d1117;--grid:#30363d}${colours(dark)}}`
