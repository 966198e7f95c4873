import type { BenchResult } from '../results/bench-result.ts'
import type { Plot, PlotSection } from '../results/plot.ts'
import type { BenchTable } from '../results/row-kind.ts'
import { figureHtml } from './figure.ts'
import { escapeHtml } from './html.ts'
import { pageStyle } from './page-style.ts'
import { stylesOf } from './series-style.ts'

/** The maximum number of visible plots in a section, unless its first group has more. Other groups are folded. */
const PLOTS_SEEN = 9

export interface ReportPage {
  readonly title: string
  /** Machine, versions, when, and with which command: one line each. */
  readonly facts: readonly string[]
  /** What was not here, and why: one line each. */
  readonly missing: readonly string[]
  readonly results: readonly BenchResult[]
}

/**
 * A page that needs nothing else: no script, no font, nothing that is fetched. It has all plots of all results, and
 * their tables.
 */
export function reportPage({ title, facts, missing, results }: ReportPage): string {
  const isOne = results.length === 1
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...[...facts, ...missing].map((fact) => `<p class="quiet">${escapeHtml(fact)}</p>`),
    ...(isOne ? [] : [contents(results)]),
    ...results.flatMap((result) => [
      `<section id="${escapeHtml(result.suite)}">`,
      ...(isOne ? [] : [`<h2>${escapeHtml(result.suite)}</h2>`]),
      ...resultHtml(result),
      '</section>',
    ]),
  ]
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${pageStyle}</style>`
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body.join('\n')}</body></html>\n`
}

function contents(results: readonly BenchResult[]): string {
  const links = results.map(({ suite }) => `<li><a href="#${escapeHtml(suite)}">${escapeHtml(suite)}</a></li>`)
  return `<nav aria-label="Benchmarks"><ul>${links.join('')}</ul></nav>`
}

function resultHtml({ table, lines, sections }: BenchResult): string[] {
  const styles = stylesOf(sections)
  return [
    ...sections.flatMap((section) => sectionHtml(section, styles)),
    '<h3>All rows</h3>',
    tableHtml(table),
    ...paragraphs(lines).map((text) => `<p class="quiet">${text.map(escapeHtml).join('<br>')}</p>`),
  ]
}

function sectionHtml({ title, explained, groups }: PlotSection, styles: ReturnType<typeof stylesOf>): string[] {
  const head = [`<h3>${escapeHtml(title)}</h3>`, `<p class="quiet">${escapeHtml(explained)}</p>`]
  // Groups of one plot each have their place beside one another.
  if (groups.every(({ plots }) => plots.length === 1)) {
    const named = groups.flatMap(({ title: name, plots }) =>
      plots.map((plot) => ({ ...plot, title: name === '' ? plot.title : `${plot.title}, ${name}` })),
    )
    return [...head, plotsHtml(named, styles)]
  }
  let seen = 0
  const folds = groups.map(({ title: name, plots }, index) => {
    seen += plots.length
    if (name === '') return plotsHtml(plots, styles)
    const isOpen = index === 0 || seen <= PLOTS_SEEN
    return `<details class="group"${isOpen ? ' open' : ''}><summary>${escapeHtml(name)}</summary>${plotsHtml(plots, styles)}</details>`
  })
  return [...head, ...folds]
}

function plotsHtml(plots: readonly Plot[], styles: ReturnType<typeof stylesOf>): string {
  const figures = plots.map((plot) => figureHtml(plot, styles(plot.series.map(({ name }) => name))))
  return `<div class="plots">${figures.join('\n')}</div>`
}

function tableHtml({ columns, cells }: BenchTable): string {
  const classOf = (index: number): string => (columns[index]!.align === 'left' ? ' class="left"' : '')
  const titles = columns.map(({ title }, index) => `<th scope="col"${classOf(index)}>${escapeHtml(title)}</th>`)
  const lines = cells.map(
    (line) => `<tr>${line.map((cell, index) => `<td${classOf(index)}>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  )
  return `<div class="wide" role="region" aria-label="All rows" tabindex="0"><table><thead><tr>${titles.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`
}

/** Lines between empty ones. */
function paragraphs(lines: readonly string[]): string[][] {
  const found: string[][] = [[]]
  for (const line of lines) {
    if (line === '') found.push([])
    else found.at(-1)!.push(line)
  }
  return found.filter((text) => text.length > 0)
}
