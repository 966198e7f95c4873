import type { LinePlot, LinePoint } from '../results/plot.ts'
import { escapeHtml, pixels, textWidth } from './html.ts'
import { scaleOf } from './scale.ts'
import { classOf, markOf, type StyleOf } from './series-style.ts'

const WIDTH = 600
const HEIGHT = 300
const RIGHT = 28
const TOP = 30
const BOTTOM = 46

/** The SVG of a plot, without its title and its legend. */
export function lineChart({ x, y, series }: LinePlot, styleOf: StyleOf, label: string): string {
  const points = series.flatMap((line) => line.points)
  const toY = scaleOf(
    y,
    points.flatMap(({ y: value, high }) => [value, high ?? value]),
    HEIGHT - BOTTOM,
    TOP,
  )
  const left = 14 + Math.max(...toY.ticks.map(({ text }) => textWidth(text)))
  const toX = scaleOf(
    x,
    points.map(({ x: value }) => value),
    left + 10,
    WIDTH - RIGHT,
    { isSweep: true },
  )
  const gridY = toY.ticks.map(({ value, text }) => {
    const at = pixels(toY.at(value))
    return `<path class="grid" d="M${pixels(left)} ${at}H${WIDTH - RIGHT + 10}"/><text x="${pixels(left - 6)}" y="${at + 4}" text-anchor="end">${escapeHtml(text)}</text>`
  })
  const ticksX = toX.ticks.map(({ value, text, isNamed }) => {
    const at = pixels(toX.at(value))
    const name = isNamed
      ? `<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${escapeHtml(text)}</text>`
      : ''
    return `<path class="grid" d="M${at} ${HEIGHT - BOTTOM}v4"/>${name}`
  })
  const titles = [
    `<text class="axis" x="0" y="12">${escapeHtml(y.title)}</text>`,
    `<text class="axis" x="${pixels((left + WIDTH - RIGHT) / 2)}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(x.title)}</text>`,
  ]
  const told = ({ x: atX, y: value, high }: LinePoint): string =>
    `${x.format(atX)}: ${y.format(value)}${high === undefined || high === null ? '' : `, p99 ${y.format(high)}`}`
  const lines = series.map(({ name, points: own }) => {
    const places = own.map((point) => `${pixels(toX.at(point.x))},${pixels(toY.at(point.y))}`).join(' ')
    return { name, own, places }
  })
  const drawn = lines.map(({ name, own, places }, index) => {
    const style = styleOf(name)
    // Of lines that lie on one another the lower ones are wider, so that they are seen.
    const covers = lines.slice(index + 1).filter((line) => line.places === places).length
    const width = covers === 0 ? '' : ` style="stroke-width:${2 + 3 * covers}"`
    const marks = own.map((point) => {
      const [atX, atY] = [toX.at(point.x), toY.at(point.y)]
      const { high } = point
      const whisker =
        high === undefined || high === null
          ? ''
          : `<path class="whisker" d="M${pixels(atX)} ${pixels(atY)}V${pixels(toY.at(high))}m-3 0h6"/>`
      return whisker + markOf(style, atX, atY, `<title>${escapeHtml(`${name}, ${told(point)}`)}</title>`)
    })
    return `<g class="${classOf(style)}"><polyline points="${places}"${width}/>${marks.join('')}</g>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${label}${[...gridY, ...ticksX, ...titles, ...drawn].join('')}</svg>`
}
