import { Chart } from './chart.ts'
import { card, make, named, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { type Ends, Matrix } from './matrix.ts'
import type { OperationHistory } from './operation-list.ts'
import { bandwidthLines, latencyLines, linkText, type TransferLines } from './transfer-lines.ts'
import { countText, rateText, timeText } from './units.ts'
import type { View } from './view.ts'

/** How many operations are listed if no link is selected. */
const ROWS_MAX = 60

const moves: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** A chart of transfers with its heading. */
class TransferChart {
  readonly element: HTMLElement
  readonly #chart = new Chart()
  readonly #title = make('span')
  readonly #legend = make('span', { class: 'legend' })

  constructor() {
    const heading = make('h2', {}, this.#title, make('span', { class: 'grow' }), this.#legend)
    this.element = make('div', { class: 'card' }, heading, this.#chart.stage.element)
  }

  show({ title, of, lines, ...use }: TransferLines, times: readonly number[]): void {
    this.#title.replaceChildren(`${title} `, make('small', {}, of))
    this.#legend.replaceChildren(...lines.map(({ name, colour }) => named(name, colour)))
    this.#chart.draw(lines, times, { ...use, label: `${title} over time, ${of}` })
  }
}

/** A matrix of links, the operations of the selected link, and bandwidth and latency over time. */
export class TransfersView implements View {
  readonly id = 'transfers'
  readonly title = 'Transfers'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #matrix = new Matrix()
  readonly #bandwidth = new TransferChart()
  readonly #latency = new TransferChart()
  readonly #rows: Rows
  readonly #rowsTitle = make('span')
  readonly #empty = make('div', { class: 'empty small' })
  /** The selection, for screen readers. */
  readonly #said = make('p', { class: 'said', role: 'status' })
  #link: Ends | undefined
  #operation: string | undefined
  #listed: readonly OperationHistory[] = []

  constructor(feed: Feed) {
    this.#feed = feed
    const { canvas, element } = this.#matrix.stage
    canvas.tabIndex = 0
    canvas.addEventListener('click', ({ offsetX, offsetY }) => {
      const at = this.#matrix.at(offsetX, offsetY)
      const { from, to } = this.#link ?? {}
      this.#choose(at?.from === from && at?.to === to ? undefined : at)
    })
    const parts = tableWith('<link', '<operation', '<of', 'per second', 'bytes/s', 'p50', 'p99')
    parts.table.setAttribute('aria-label', 'Operations')
    this.#rows = new Rows(parts)
    this.#rows.onChoose = (key) => this.#enter(key)
    const keys = make('small', {}, 'bytes/s · click or arrow keys: a link · Enter: its operations · Esc: back')
    this.element = make(
      'section',
      { id: this.id },
      card(make('span', {}, 'From, to ', keys), element),
      make(
        'div',
        { class: 'charts' },
        this.#bandwidth.element,
        this.#latency.element,
        card(this.#rowsTitle, make('div', { class: 'scroll' }, this.#empty, parts.table)),
      ),
      this.#said,
    )
  }

  update(): void {
    const { flows, frame, times } = this.#feed
    const nodes = (frame?.members ?? []).map(({ rank, slot }) => rank ?? slot)
    if (this.#link !== undefined && !(nodes.includes(this.#link.from) && nodes.includes(this.#link.to)))
      this.#link = undefined
    const operation = this.#feed.operations.get(this.#operation)
    if (operation === undefined) this.#operation = undefined
    this.#matrix.draw(nodes, [...flows.values()], this.#link)
    this.#bandwidth.show(bandwidthLines(this.#feed, { link: this.#link, operation }), times)
    this.#latency.show(latencyLines(this.#feed, { link: this.#link, operation }), times)
    this.#showRows()
  }

  /** Arrow keys move from link to link or, if an operation is selected, from operation to operation. */
  key({ key }: KeyboardEvent): boolean {
    const [down, right] = moves[key] ?? [0, 0]
    if (key === 'Escape') return this.#back()
    if (key === 'Enter') return this.#enter(this.#operation ?? this.#listed[0]?.key)
    if (down === 0 && right === 0) return false
    if (this.#operation !== undefined) {
      const at = this.#listed.findIndex((each) => each.key === this.#operation)
      this.#enter(this.#listed[Math.max(0, at + down)]?.key)
      return true
    }
    const next = this.#link === undefined ? this.#busiest() : this.#matrix.beside(this.#link, down, right)
    this.#matrix.stage.canvas.focus()
    if (next !== undefined) this.#choose(next)
    return true
  }

  #enter(key: string | undefined): boolean {
    if (key === undefined) return false
    this.#operation = key
    const { from, to } = this.#feed.operations.get(key)?.now ?? {}
    if (from !== undefined && typeof to === 'number') this.#link = { from, to }
    this.update()
    this.#rows.reveal(key)
    this.#rows.focus(key)
    this.#say()
    return true
  }

  #back(): boolean {
    if (this.#operation === undefined && this.#link === undefined) return false
    this.#choose(this.#operation === undefined ? undefined : this.#link)
    this.#matrix.stage.canvas.focus()
    return true
  }

  #choose(link: Ends | undefined): void {
    this.#link = link
    this.#operation = undefined
    this.update()
    this.#say()
  }

  #busiest(): Ends | undefined {
    const [first] = [...this.#feed.flows.values()]
      .filter(({ from, to }) => from !== to)
      .sort((a, b) => b.bytes - a.bytes)
    return first ?? this.#matrix.first
  }

  #say(): void {
    const operation = this.#feed.operations.get(this.#operation)?.now
    const link = this.#link
    let text = 'all links'
    if (operation !== undefined) {
      const { name, rate, bytes, p50Ns, p99Ns } = operation
      const took = p50Ns === null || p99Ns === null ? '' : `, p50 ${timeText(p50Ns)}, p99 ${timeText(p99Ns)}`
      text = `${linkText(operation)}: ${name}, ${countText(rate)} per second, ${rateText(bytes)}${took}`
    } else if (link !== undefined) {
      const bytes = this.#feed.flows.get(`${link.from} ${link.to}`)?.bytes ?? 0
      text = `${linkText(link)}: ${rateText(bytes)}, ${this.#listed.length} operations`
    }
    this.#said.textContent = text
    this.#matrix.stage.canvas.setAttribute(
      'aria-label',
      `Bytes per second from each node to each other node; selected: ${text}`,
    )
  }

  #showRows(): void {
    this.#listed = this.#feed.operations.of(this.#link, this.#feed.look, ROWS_MAX)
    const of = this.#link === undefined ? 'the busiest' : linkText(this.#link)
    this.#rowsTitle.replaceChildren('Operations ', make('small', {}, `${of}, in the last second`))
    this.#empty.hidden = this.#listed.length > 0
    this.#empty.textContent =
      this.#link === undefined
        ? 'Nothing has been counted yet. Messages of coherent regions are always counted. Requests, messages and calls are counted if the members run with AETHER_PROFILE=1.'
        : 'Nothing has been sent over this link since the page was opened.'
    this.#rows.show(
      this.#listed.map(({ key, now }) => ({
        key,
        chosen: key === this.#operation,
        cells: [
          linkText(now),
          now.name,
          now.layer,
          now.rate < 10 && now.rate > 0 ? now.rate.toFixed(1) : countText(now.rate),
          now.bytes > 0 ? rateText(now.bytes) : '–',
          now.p50Ns === null ? '–' : timeText(now.p50Ns),
          now.p99Ns === null ? '–' : timeText(now.p99Ns),
        ],
      })),
    )
  }
}
