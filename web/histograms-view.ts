import { card, make, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { countText, timeText } from './units.ts'
import type { View } from './view.ts'

/** Every histogram of every member on one logarithmic axis, from 10 ns to 10 s. */
const LEAST = 1
const MOST = 10

export class HistogramsView implements View {
  readonly id = 'histograms'
  readonly title = 'Latencies'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #rows: Rows

  constructor(feed: Feed) {
    this.#feed = feed
    const parts = tableWith('<what', '<member', 'count', 'mean', 'p50', 'p99', 'most', '<10 ns to 10 s')
    this.#rows = new Rows(parts)
    const title = make(
      'span',
      {},
      'Latencies ',
      make('small', {}, 'from the median to the 99th percentile, on a logarithmic axis; the mark is the mean'),
    )
    this.element = make('section', { id: this.id }, card(title, make('div', { class: 'scroll' }, parts.table)))
  }

  update(): void {
    const { histograms = [], members = [] } = this.#feed.frame ?? {}
    const names = new Map(members.map(({ slot, rank }) => [slot, rank === null ? `member ${slot}` : `rank ${rank}`]))
    const ranks = new Map(members.map(({ slot, rank }) => [slot, rank ?? slot]))
    const order = (slot: number): number => ranks.get(slot) ?? slot
    const sorted = [...histograms].sort((a, b) =>
      a.name === b.name ? order(a.slot) - order(b.slot) : a.name < b.name ? -1 : 1,
    )
    this.#rows.show(
      sorted.map(({ name, slot, count, meanNs, p50Ns, p99Ns, maxNs }, index) => ({
        key: `${name} ${slot} ${index}`,
        cells: [
          name,
          names.get(slot) ?? String(slot),
          countText(count),
          timeText(meanNs),
          timeText(p50Ns),
          timeText(p99Ns),
          timeText(maxNs),
          bar(meanNs, p50Ns, p99Ns),
        ],
      })),
    )
  }
}

function bar(mean: number, from: number, to: number): HTMLElement {
  const at = (ns: number): number =>
    (100 * Math.min(MOST - LEAST, Math.max(0, Math.log10(Math.max(1, ns)) - LEAST))) / (MOST - LEAST)
  const range = make('i')
  range.style.left = `${at(from)}%`
  range.style.width = `${Math.max(0.5, at(to) - at(from))}%`
  const mark = make('b')
  mark.style.left = `${at(mean)}%`
  return make('div', { class: 'bar' }, range, mark)
}
