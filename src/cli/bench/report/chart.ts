/** A line of a chart. `high` is the end of a whisker up from a point: how far its distribution reaches. */
export interface ChartLine {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number; readonly high?: number }[]
}

export interface ChartOptions {
  readonly title: string
  readonly lines: readonly ChartLine[]
  readonly nameX: (x: number) => string
  readonly nameY: (y: number) => string
}

const WIDTH = 640
const HEIGHT = 300
const LEFT = 84
const RIGHT = 176
const TOP = 16
const BOTTOM = 36
const COLOURS = 8

/** Both axes are logarithmic: every value is greater than 0. Its own colours come from the classes `c0` to `c7` of the page. */
export function chartSvg({ title, lines, nameX, nameY }: ChartOptions): string {
  const points = lines.flatMap((line) => line.points)
  const xs = [...new Set(points.map(({ x }) => x))].sort((one, other) => one - other)
  const toX = scale(xs[0]!, xs.at(-1)!, LEFT, WIDTH - RIGHT)
  const ys = points.flatMap(({ y, high }) => [y, high ?? y])
  const decades = decadesOf(Math.min(...ys), Math.max(...ys))
  const toY = scale(decades[0]!, decades.at(-1)!, HEIGHT - BOTTOM, TOP)
  const gridY = decades.map((y) => {
    const at = round(toY(y))
    const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/>`
    return `${line}<text x="${LEFT - 8}" y="${at + 4}" text-anchor="end">${escapeHtml(nameY(y))}</text>`
  })
  const namesX = xs.map(
    (x) => `<text x="${round(toX(x))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${escapeHtml(nameX(x))}</text>`,
  )
  const drawn = lines.map(({ name, points: own }, index) => {
    const places = own.map(({ x, y }) => `${round(toX(x))},${round(toY(y))}`)
    const marks = own.map(({ x, y, high }) => {
      const [atX, atY] = [round(toX(x)), round(toY(y))]
      const whisker =
        high === undefined ? '' : `<line class="whisker" x1="${atX}" x2="${atX}" y1="${atY}" y2="${round(toY(high))}"/>`
      const told = high === undefined ? nameY(y) : `${nameY(y)}, p99 ${nameY(high)}`
      return `${whisker}<circle cx="${atX}" cy="${atY}" r="3"><title>${escapeHtml(`${name}, ${nameX(x)}: ${told}`)}</title></circle>`
    })
    const legend = `<text class="name" x="${WIDTH - RIGHT + 14}" y="${TOP + 12 + 18 * index}">${escapeHtml(name)}</text>`
    return `<g class="c${index % COLOURS}"><polyline points="${places.join(' ')}"/>${marks.join('')}${legend}</g>`
  })
  const label = escapeHtml(title)
  return `<figure><figcaption>${label}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${gridY.join('')}${namesX.join('')}${drawn.join('')}</svg></figure>`
}

/** For text between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function scale(from: number, to: number, fromPixel: number, toPixel: number): (value: number) => number {
  const span = Math.log(to / from)
  // One value only lies in the middle.
  if (span === 0) return () => (fromPixel + toPixel) / 2
  return (value) => fromPixel + ((toPixel - fromPixel) * Math.log(value / from)) / span
}

/** Powers of ten around all values: at least two. */
function decadesOf(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low))
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)))
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
}

function round(pixel: number): number {
  return Math.round(pixel * 10) / 10
}
