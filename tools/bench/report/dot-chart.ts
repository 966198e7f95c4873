import type { Dot, DotPlot } from '../results/plot.ts'
import { escapeHtml, pixels, textWidth } from './html.ts'
import { scaleOf } from './scale.ts'
import { classOf, markOf, type StyleOf } from './series-style.ts'

const WIDTH = 600
const RIGHT = 28
const TOP = 8
const BOTTOM = 42
/** Letters of a line of a name, so that half of the width is left for the marks. */
const NAME_LETTERS = 34
const NAME_LINE = 14
/** Of a series within a band, and around all of them. */
const LANE = 9
const BAND_MIN = 20
const MARGIN = 7

/** The SVG of a plot, without its title and its legend. */
export function dotChart({ x, categories, series }: DotPlot, styleOf: StyleOf, label: string): string {
  const left = 10 + Math.max(...categories.flatMap(nameLines).map(textWidth))
  const bands = bandsOf(categories, series)
  const last = bands.at(-1)!
  const bottom = last.top + last.height
  const values = series.flatMap(({ points }) => points.flatMap(({ value, high }) => [value, high ?? value]))
  const toX = scaleOf(x, values, left + 8, WIDTH - RIGHT)
  const backs = bands.map(({ category, top, height }, index) => {
    const shade =
      index % 2 === 0 ? `<rect class="band" x="0" y="${top}" width="${WIDTH - RIGHT + 10}" height="${height}"/>` : ''
    const lines = nameLines(category)
    const first = top + height / 2 + 4 - (NAME_LINE * (lines.length - 1)) / 2
    const name = lines.map((line, number) => {
      const at = `x="${pixels(left - 4)}" y="${pixels(first + NAME_LINE * number)}"`
      return `<text ${at} text-anchor="end">${escapeHtml(line)}</text>`
    })
    return shade + name.join('')
  })
  const ticks = toX.ticks.map(({ value, text, isNamed }) => {
    const at = pixels(toX.at(value))
    const name = isNamed ? `<text x="${at}" y="${bottom + 16}" text-anchor="middle">${escapeHtml(text)}</text>` : ''
    return `<path class="grid" d="M${at} ${TOP}V${bottom + 3}"/>${name}`
  })
  const title = `<text class="axis" x="${pixels((left + WIDTH - RIGHT) / 2)}" y="${bottom + 34}" text-anchor="middle">${escapeHtml(x.title)}</text>`
  const bandOf = new Map(bands.map((band) => [band.category, band]))
  const yOf = (category: string, name: string): number => {
    const { top, height, names } = bandOf.get(category)!
    return top + height / 2 + LANE * (names.indexOf(name) - (names.length - 1) / 2)
  }
  const drawn = series.map(({ name, points }) => {
    const style = styleOf(name)
    const marks = points.map((dot) => {
      const [atX, atY] = [toX.at(dot.value), yOf(dot.category, name)]
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
  return `<svg viewBox="0 0 ${WIDTH} ${pixels(bottom + BOTTOM)}" role="img">${label}${[...backs, ...ticks, title, ...drawn].join('')}</svg>`
}

interface Band {
  readonly category: string
  readonly top: number
  readonly height: number
  /** Of the series that have a mark in it, from top to bottom. */
  readonly names: readonly string[]
}

/** One below the other, each as high as its marks need. */
function bandsOf(categories: readonly string[], series: DotPlot['series']): Band[] {
  let top = TOP
  return categories.map((category) => {
    const present = series.filter(({ points }) => points.some((dot) => dot.category === category))
    const name = NAME_LINE * nameLines(category).length
    const height = Math.max(BAND_MIN, name + MARGIN, LANE * present.length + MARGIN)
    const band = { category, top, height, names: present.map(({ name }) => name) }
    top += height
    return band
  })
}

/** Between words, where they are not too long. */
function nameLines(name: string): readonly string[] {
  const line = new RegExp(`\\S.{0,${NAME_LETTERS - 1}}(?=\\s|$)|\\S{${NAME_LETTERS}}`, 'g')
  return name.match(line) ?? ['']
}
