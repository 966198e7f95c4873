import type { Axis, Plot } from '../results/plot.ts'
import { dotChart } from './dot-chart.ts'
import { escapeHtml } from './html.ts'
import { lineChart } from './line-chart.ts'
import { classOf, markOf, type StyleOf } from './series-style.ts'

/** A plot with its title, its legend, and the same as a table, for those who cannot see it or want the numbers. */
export function figureHtml(plot: Plot, styleOf: StyleOf): string {
  const label = `<title>${escapeHtml(plot.title)}</title><desc>${escapeHtml(describe(plot))}</desc>`
  const svg = plot.kind === 'lines' ? lineChart(plot, styleOf, label) : dotChart(plot, styleOf, label)
  const caption = `<figcaption>${escapeHtml(plot.title)}</figcaption>`
  return `<figure>${caption}${legend(plot, styleOf)}${svg}${numbers(plot)}</figure>`
}

function describe({ kind, x, series, ...plot }: Plot): string {
  const what = 'y' in plot ? `${plot.y.title} by ${x.title}` : `${x.title} of each`
  const names = series.map(({ name }) => name).join('; ')
  return `${what}, ${kind === 'lines' ? 'lines' : 'marks'} of: ${names}. The table below has the numbers.`
}

function legend({ kind, series }: Plot, styleOf: StyleOf): string {
  const entries = series.map(({ name }) => {
    const style = styleOf(name)
    const line = kind === 'lines' ? '<path class="line" d="M0 6H26"/>' : ''
    return `<li class="${classOf(style)}"><svg width="26" height="12" aria-hidden="true">${line}${markOf(style, 13, 6)}</svg>${escapeHtml(name)}</li>`
  })
  return `<ul class="legend">${entries.join('')}</ul>`
}

/** Lines across, what they are drawn over down. */
function numbers(plot: Plot): string {
  const { series } = plot
  const head = plot.kind === 'lines' ? plot.x.title : ''
  const rows = plot.kind === 'lines' ? linesByX(plot) : dotsByCategory(plot)
  const titles = [head, ...series.map(({ name }) => name)].map((name) => `<th scope="col">${escapeHtml(name)}</th>`)
  const lines = rows.map(
    ([name, ...cells]) =>
      `<tr><th scope="row">${escapeHtml(name!)}</th>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  )
  const table = `<table><thead><tr>${titles.join('')}</tr></thead><tbody>${lines.join('')}</tbody></table>`
  return `<details><summary>Numbers</summary><div class="wide">${table}</div></details>`
}

function linesByX({ x, y, series }: Extract<Plot, { kind: 'lines' }>): string[][] {
  const values = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))]
  return values
    .sort((one, other) => one - other)
    .map((value) => [
      x.format(value),
      ...series.map(({ points }) => {
        const point = points.find((each) => each.x === value)
        return point === undefined ? '' : withHigh(y, point.y, point.high)
      }),
    ])
}

function dotsByCategory({ x, categories, series }: Extract<Plot, { kind: 'dots' }>): string[][] {
  return categories.map((category) => [
    category,
    ...series.map(({ points }) => {
      const dot = points.find((each) => each.category === category)
      return dot === undefined ? '' : withHigh(x, dot.value, dot.high)
    }),
  ])
}

function withHigh({ format }: Axis, value: number, high: number | null | undefined): string {
  return high === null || high === undefined ? format(value) : `${format(value)}; p99 ${format(high)}`
}
