import type { Dot, DotPlot } from '../results/plot.ts'
import { escapeHtml, pixels, textWidth } from './html.ts'
import { scaleOf } from './scale.ts'
import { classOf, markOf, type StyleOf } from './series-style.ts'

const WIDTH = 600
const RIGHT = 28
const TOP = 8
const BOTTOM = 42
/** Of a series within a band, and around all of them. */
const LANE = 9
const BAND_MIN = 20
const MARGIN = 7

/** The SVG of a plot, without its title and its legend. */
export function dotChart({ x, categories, series }: DotPlot, styleOf: StyleOf, label: string): string {
  const left = 10 + Math.max(...categories.map(textWidth))
  const band = Math.max(BAND_MIN, LANE * series.length + MARGIN)
  const bottom = TOP + band * categories.length
  const values = series.flatMap(({ points }) => points.flatMap(({ value, high }) => [value, high ?? value]))
  const toX = scaleOf(x, values, left + 8, WIDTH - RIGHT)
  const bands = categories.map((category, index) => {
    const top = TOP + band * index
    const shade =
      index % 2 === 0 ? `<rect class="band" x="0" y="${top}" width="${WIDTH - RIGHT + 10}" height="${band}"/>` : ''
    return `${shade}<text x="${pixels(left - 4)}" y="${pixels(top + band / 2 + 4)}" text-anchor="end">${escapeHtml(category)}</text>`
  })
  const ticks = toX.ticks.map(({ value, text, isNamed }) => {
    const at = pixels(toX.at(value))
    const name = isNamed ? `<text x="${at}" y="${bottom + 16}" text-anchor="middle">${escapeHtml(text)}</text>` : ''
    return `<path class="grid" d="M${at} ${TOP}V${bottom + 3}"/>${name}`
  })
  const title = `<text class="axis" x="${pixels((left + WIDTH - RIGHT) / 2)}" y="${bottom + 34}" text-anchor="middle">${escapeHtml(x.title)}</text>`
  const yOf = (category: string, lane: number): number =>
    TOP + band * (categories.indexOf(category) + 0.5) + LANE * (lane - (series.length - 1) / 2)
  const drawn = series.map(({ name, points }, lane) => {
    const style = styleOf(name)
    const marks = points.map((dot) => {
      const [atX, atY] = [toX.at(dot.value), yOf(dot.category, lane)]
      const { high } = dot
      const whisker =
        high === undefined || high === null
          ? ''
          : `<path class="whisker" d="M${pixels(atX)} ${pixels(atY)}H${pixels(toX.at(high))}m0-3v6"/>`
      return whisker + markOf(style, atX, atY, `<title>${escapeHtml(`${name}, ${told(dot)}`)}</title>`)
    })
    return `<g class="${classOf(style)}">${marks.join('')}</g>`
  })
  function told({ category, value, high }: Dot): string {
    return `${category}: ${x.format(value)}${high === undefined || high === null ? '' : `, p99 ${x.format(high)}`}`
  }
  return `<svg viewBox="0 0 ${WIDTH} ${pixels(bottom + BOTTOM)}" role="img">${label}${[...bands, ...ticks, title, ...drawn].join('')}</svg>`
}
