import type { HistogramFrame } from '../src/dashboard/wire.ts'
import { colour, rankColour } from './canvas.ts'
import { card, make, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { HistogramChart, inPairs, together } from './histogram-chart.ts'
import { countText, timeText } from './units.ts'
import type { View } from './view.ts'

/** The small distribution in a row spans 16 ns to 17 s. */
const PART_FIRST = 16
const PART_LAST = 136

interface Choice {
  readonly key: string
  readonly name: string
  /** The member's slot; undefined for all members together. */
  readonly slot: number | undefined
  readonly histogram: HistogramFrame
}

/** All histograms: for each name all members together, then each member. The selected one is drawn large. */
export class HistogramsView implements View {
  readonly id = 'histograms'
  readonly title = 'Latencies'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #rows: Rows
  readonly #distribution = new HistogramChart()
  readonly #heading = make('span')
  readonly #empty = make(
    'div',
    { class: 'empty' },
    'Nothing has been timed yet. Waits for pages are always timed. Verbs, messages and calls are timed if the members run with AETHER_PROFILE=1.',
  )
  #chosen: string | undefined
  #shown = ''
  #choices: readonly Choice[] = []

  constructor(feed: Feed) {
    this.#feed = feed
    const parts = tableWith('<name', '<member', 'count', 'mean', 'p50', 'p90', 'p99', 'max', '<16 ns to 17 s')
    this.#rows = new Rows(parts)
    this.#rows.onChoose = (key) => this.#choose(key)
    const title = make(
      'span',
      {},
      'Latencies ',
      make('small', {}, 'click a row, or press ↑ or ↓, to see its distribution'),
    )
    const table = make('div', { class: 'scroll' }, this.#empty, parts.table)
    this.element = make(
      'section',
      { id: this.id },
      make('div', { class: 'card large' }, make('h2', {}, this.#heading), this.#distribution.stage.element),
      card(title, table),
    )
  }

  update(): void {
    const { clientWidth, clientHeight } = this.#distribution.stage.element
    const { histogramsStamp, frame } = this.#feed
    const theme = document.documentElement.dataset['theme']
    const shown = [histogramsStamp, frame?.members.length, this.#chosen, clientWidth, clientHeight, theme].join()
    if (shown === this.#shown) return
    this.#shown = shown
    this.#choices = this.#list()
    const chosen = this.#choices.find(({ key }) => key === this.#chosen) ?? this.#choices[0]
    this.#empty.hidden = this.#choices.length > 0
    this.#rows.show(
      this.#choices.map(({ key, name, slot, histogram }) => ({
        key,
        chosen: key === chosen?.key,
        cells: [
          slot === undefined ? name : '',
          slot === undefined ? 'all' : this.#whose(slot),
          countText(histogram.count),
          timeText(histogram.meanNs),
          timeText(histogram.p50Ns),
          timeText(histogram.p90Ns),
          timeText(histogram.p99Ns),
          timeText(histogram.maxNs),
          spark(histogram, slot === undefined ? colour('accent') : rankColour(this.#number(slot))),
        ],
      })),
    )
    this.#distribution.draw(chosen?.histogram)
    const whose = chosen?.slot === undefined ? 'all members' : this.#whose(chosen.slot)
    this.#heading.replaceChildren(
      chosen === undefined ? 'Distribution' : chosen.name,
      make('small', {}, chosen === undefined ? '' : ` ${whose}, ${countText(chosen.histogram.count)} times`),
    )
  }

  key({ key }: KeyboardEvent): boolean {
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return false
    const at = Math.max(
      0,
      this.#choices.findIndex((choice) => choice.key === this.#chosen),
    )
    const next = this.#choices[at + (key === 'ArrowDown' ? 1 : -1)]
    if (next !== undefined) this.#choose(next.key)
    return true
  }

  #choose(key: string): void {
    this.#chosen = key
    this.update()
    this.#rows.reveal(key)
  }

  #number(slot: number): number {
    return this.#feed.frame?.members.find((each) => each.slot === slot)?.rank ?? slot
  }

  #whose(slot: number): string {
    const member = this.#feed.frame?.members.find((each) => each.slot === slot)
    if (member === undefined) return `slot ${slot}`
    return member.rank === null ? `member ${slot}` : `rank ${member.rank}`
  }

  #list(): readonly Choice[] {
    const byName = new Map<string, HistogramFrame[]>()
    for (const histogram of this.#feed.histograms.values()) {
      const known = byName.get(histogram.name)
      if (known === undefined) byName.set(histogram.name, [histogram])
      else known.push(histogram)
    }
    return [...byName]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, histograms]) => {
        const all = { key: name, name, slot: undefined, histogram: together(histograms)! }
        const each = histograms
          .sort((a, b) => this.#number(a.slot) - this.#number(b.slot))
          .map((histogram) => ({ key: `${name} ${histogram.slot}`, name, slot: histogram.slot, histogram }))
        return [all, ...each]
      })
  }
}

/** A small picture of the distribution, for a row. */
function spark({ parts, p50Ns, p99Ns }: HistogramFrame, fill: string): HTMLElement {
  const [width, height] = [260, 20]
  const canvas = make('canvas', { class: 'spark', 'aria-hidden': 'true' })
  canvas.width = width * devicePixelRatio
  canvas.height = height * devicePixelRatio
  const context = canvas.getContext('2d')!
  context.scale(devicePixelRatio, devicePixelRatio)
  const bars = inPairs(parts)
  const most = Math.max(1, ...bars.map(([, count]) => count))
  const each = width / (PART_LAST - PART_FIRST)
  context.fillStyle = fill
  for (const [part, count] of bars) {
    const at = Math.max(PART_FIRST, Math.min(PART_LAST - 1, part)) - PART_FIRST
    const high = Math.max(1, (count / most) * (height - 2))
    context.fillRect(at * each, height - high, Math.max(1, each - 0.4), high)
  }
  for (const [ns, of] of [
    [p50Ns, 'good'],
    [p99Ns, 'bad'],
  ] as const) {
    context.fillStyle = colour(of)
    context.fillRect(
      ((4 * Math.log2(Math.max(16, ns)) - PART_FIRST) / (PART_LAST - PART_FIRST)) * width,
      0,
      1.5,
      height,
    )
  }
  return canvas
}
