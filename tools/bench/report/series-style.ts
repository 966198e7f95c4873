import type { PlotSection } from '../results/plot.ts'
import { pixels } from './html.ts'

/** As many as the page has colours. */
export const COLOURS = 8
const SHAPES = 4

/** The number of a name's style, which its colour, its mark and its dashes follow. */
export type StyleOf = (name: string) => number

/** Names keep their style in all plots of a benchmark, where there are colours enough; elsewhere within a plot. */
export function stylesOf(sections: readonly PlotSection[]): (names: readonly string[]) => StyleOf {
  const all = sections.flatMap(({ groups }) =>
    groups.flatMap(({ plots }) => plots.flatMap(({ series }) => series.map(({ name }) => name))),
  )
  const shared = [...new Set(all)]
  return (names) => {
    const numbered = shared.length <= COLOURS ? shared : names
    return (name) => numbered.indexOf(name)
  }
}

export function classOf(style: number): string {
  return `c${style % COLOURS}${Math.floor(style / COLOURS) % 2 === 1 ? ' dashed' : ''}`
}

/** The mark of a style around a point: series are told apart without colours, too. */
export function markOf(style: number, x: number, y: number, title = ''): string {
  const [atX, atY] = [pixels(x), pixels(y)]
  const path = (d: string): string => `<path class="mark" d="M${atX} ${atY}${d}z">${title}</path>`
  // Those of one colour have different shapes.
  switch ((style + Math.floor(style / COLOURS)) % SHAPES) {
    case 1:
      return path('m-3.2-3.2h6.4v6.4h-6.4')
    case 2:
      return path('m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6')
    case 3:
      return path('m0-4.4l4.4 7.6h-8.8')
    default:
      return `<circle class="mark" cx="${atX}" cy="${atY}" r="3.5">${title}</circle>`
  }
}
