import { colour, FONT, rankColour, Stage } from './canvas.ts'
import { Chart } from './chart.ts'
import { card, make } from './dom.ts'
import type { Feed } from './feed.ts'
import { HISTORY, type LinkHistory } from './link-history.ts'
import { rateText, timeText } from './units.ts'
import type { View } from './view.ts'

const LEGEND_MAX = 6

/** Who sends how much to whom: a matrix, and bandwidth and latency of the links over time. */
export class TransfersView implements View {
  readonly id = 'transfers'
  readonly title = 'Transfers'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #matrix = new Stage('Bytes a second from each rank (rows) to each (columns)')
  readonly #bandwidth = new Chart('Bandwidth of links over time', (value) => rateText(value), 1024)
  readonly #latency = new Chart(
    'How long a page takes over each link, over time',
    (value) => timeText(1000 * value),
    1000,
  )
  readonly #legend = make('span', { class: 'legend' })
  #chosen: string | undefined

  constructor(feed: Feed) {
    this.#feed = feed
    this.#matrix.canvas.tabIndex = 0
    this.#matrix.canvas.addEventListener('click', (event) => this.#choose(event))
    const title = make(
      'span',
      {},
      'From, to ',
      make('small', {}, 'bytes a second; click a cell to single out its link'),
    )
    const over = make('span', {}, 'Bandwidth ', make('small', {}, 'of the busiest links'))
    const heading = make('h2', {}, over, make('span', { class: 'grow' }), this.#legend)
    this.element = make(
      'section',
      { id: this.id },
      card(title, this.#matrix.element),
      make(
        'div',
        { class: 'charts' },
        make('div', { class: 'card' }, heading, this.#bandwidth.stage.element),
        card(
          make('span', {}, 'Latency ', make('small', {}, 'mean time that a thread waited for a page from there')),
          this.#latency.stage.element,
        ),
      ),
    )
  }

  update(): void {
    this.#drawMatrix()
    const shown = this.#shown()
    const { times } = this.#feed
    const { look } = this.#feed
    const lines = shown.map(([key, link], index) => ({
      key,
      stroke: rankColour(shown.length === 1 ? link.from : index),
      bytes: link.bytes(look, times.length),
      latencyUs: link.latencyUs(look, times.length),
    }))
    const slots = Math.min(HISTORY, Math.max(HISTORY / 4, times.length))
    this.#bandwidth.draw(
      lines.map(({ bytes, stroke }) => ({ values: smooth(bytes), colour: stroke, fill: lines.length < 3 })),
      times,
      slots,
    )
    this.#latency.draw(
      lines.map(({ latencyUs, stroke }) => ({ values: smooth(latencyUs), colour: stroke })),
      times,
      slots,
    )
    this.#legend.replaceChildren(
      ...lines.map(({ key, stroke }) => {
        const mark = make('span', { class: 'swatch' })
        mark.style.background = stroke
        return make('span', {}, mark, key.replace(' ', ' → '))
      }),
    )
  }

  key(event: KeyboardEvent): boolean {
    if (event.key !== 'Escape' || this.#chosen === undefined) return false
    this.#chosen = undefined
    this.update()
    return true
  }

  #shown(): readonly (readonly [string, LinkHistory])[] {
    const { links, look } = this.#feed
    const chosen = this.#chosen === undefined ? undefined : links.get(this.#chosen)
    if (chosen !== undefined) return [[this.#chosen!, chosen]]
    return [...links]
      .map(([key, link]) => ({ key, link, recent: link.recent(look) }))
      .filter(({ recent }) => recent > 0)
      .sort((a, b) => b.recent - a.recent)
      .slice(0, LEGEND_MAX)
      .map(({ key, link }) => [key, link])
  }

  #geometry() {
    const ranks = (this.#feed.frame?.members ?? []).map(({ rank, slot }) => rank ?? slot)
    const { width, height } = this.#matrix
    const cell = Math.min(96, (Math.min(width, height) - 52) / Math.max(1, ranks.length))
    return {
      ranks,
      cell,
      left: Math.max(36, (width - cell * ranks.length) / 2),
      top: Math.max(30, (height - cell * ranks.length) / 2 - 10),
    }
  }

  #drawMatrix(): void {
    const context = this.#matrix.clear()
    const { ranks, cell, left, top } = this.#geometry()
    const links = [...this.#feed.flows.values()]
    const most = Math.max(1, ...links.map(({ bytes }) => bytes))
    const at = new Map(ranks.map((rank, index) => [rank, index]))
    context.font = FONT
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.fillStyle = colour('soft')
    const every = Math.ceil(16 / cell)
    ranks.forEach((rank, index) => {
      if (index % every !== 0) return
      context.fillText(String(rank), left + (index + 0.5) * cell, top - 12)
      context.fillText(String(rank), left - 14, top + (index + 0.5) * cell)
    })
    const gap = cell > 8 ? 2 : 0
    for (let row = 0; row < ranks.length; row++)
      for (let column = 0; column < ranks.length; column++) {
        context.fillStyle = row === column ? colour('ground') : colour('untouched')
        context.fillRect(left + column * cell, top + row * cell, cell - gap, cell - gap)
      }
    for (const { from, to, bytes } of links) {
      const [row, column] = [at.get(from), at.get(to)]
      if (row === undefined || column === undefined) continue
      const share = bytes <= 0 ? 0 : 0.1 + 0.9 * Math.sqrt(bytes / most)
      context.fillStyle = rankColour(from, share)
      context.fillRect(left + column * cell, top + row * cell, cell - gap, cell - gap)
      if (cell >= 52 && bytes > 0) {
        context.fillStyle = share > 0.62 ? '#fff' : colour('ink')
        const [number = '', unit = ''] = rateText(bytes).split(' ')
        context.fillText(number, left + (column + 0.5) * cell - gap / 2, top + (row + 0.5) * cell - 7)
        context.fillText(unit, left + (column + 0.5) * cell - gap / 2, top + (row + 0.5) * cell + 8)
      }
      if (`${from} ${to}` !== this.#chosen) continue
      context.strokeStyle = colour('accent')
      context.lineWidth = 2
      context.strokeRect(left + column * cell, top + row * cell, cell - gap, cell - gap)
    }
  }

  #choose({ offsetX, offsetY }: MouseEvent): void {
    const { ranks, cell, left, top } = this.#geometry()
    const [column, row] = [Math.floor((offsetX - left) / cell), Math.floor((offsetY - top) / cell)]
    const key = `${ranks[row]} ${ranks[column]}`
    this.#chosen = this.#chosen === key || !this.#feed.links.has(key) ? undefined : key
    this.update()
  }
}

/** The mean of the last second at each point: single looks jump. A null where there was nothing for so long. */
function smooth(values: readonly (number | null)[]): (number | null)[] {
  return values.map((_, index) => {
    const near = values.slice(Math.max(0, index - 4), index + 1).filter((value) => value !== null)
    return near.length === 0 ? null : near.reduce((sum, value) => sum + value, 0) / near.length
  })
}
