import type { CellCount, RegionFrame } from '../src/dashboard/wire.ts'
import { card, make } from './dom.ts'
import type { Feed } from './feed.ts'
import { countText } from './units.ts'
import type { View } from './view.ts'

/** The tables of the protocol. Each cell shows how often it was used; cells in use glow. */
export class ProtocolView implements View {
  readonly id = 'protocol'
  readonly title = 'Protocol'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #body = make('div', { class: 'scroll' })
  readonly #title = make('span')
  readonly #before = new Map<string, number>()
  readonly #heat = new Map<string, number>()

  constructor(feed: Feed) {
    this.#feed = feed
    this.element = make('section', { id: this.id }, card(this.#title, this.#body))
  }

  update(): void {
    const regions = (this.#feed.frame?.regions ?? []).filter(({ hasPages }) => hasPages)
    const region = regions.find(({ name }) => name === this.#feed.region) ?? regions[0]
    if (region === undefined) {
      this.#title.textContent = 'Protocol'
      this.#body.replaceChildren(
        make(
          'div',
          { class: 'empty' },
          'There is no coherent region to show. Regions with hardware coherence have no protocol.',
        ),
      )
      return
    }
    this.#warm(region)
    this.#title.replaceChildren(
      `${region.coherence} `,
      make(
        'small',
        {},
        `region ${region.name}: uses of each cell since you started to watch, all ranks together; cells in use glow`,
      ),
    )
    this.#body.replaceChildren(
      make(
        'div',
        { class: 'tables' },
        this.#table('At copies', region, 'cache'),
        this.#table('At homes', region, 'directory'),
      ),
    )
  }

  #warm({ name, cells }: RegionFrame): void {
    for (const cell of cells) {
      const key = keyOf(name, cell)
      const more = cell.count - (this.#before.get(key) ?? cell.count)
      this.#before.set(key, cell.count)
      const heat = 0.8 * (this.#heat.get(key) ?? 0) + (more > 0 ? Math.log2(1 + more) / 12 : 0)
      this.#heat.set(key, Math.min(0.75, heat))
    }
  }

  #table(title: string, { name, cells }: RegionFrame, side: CellCount['side']): HTMLElement {
    const taken = cells.filter((cell) => cell.side === side)
    const events = [...new Set(taken.map(({ event }) => event))].sort()
    const states = [...new Set(taken.map(({ state }) => state))].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    const by = new Map(taken.map((cell) => [`${cell.state} ${cell.event}`, cell]))
    const rows = states.map((state) =>
      make(
        'tr',
        {},
        make('td', {}, state),
        ...events.map((event) => {
          const cell = by.get(`${state} ${event}`)
          if (cell === undefined) return make('td', { class: 'none' }, '·')
          const place = make('td', {}, countText(cell.count))
          const heat = this.#heat.get(keyOf(name, cell)) ?? 0
          if (heat > 0.01)
            place.style.background = `color-mix(in srgb, var(--written) ${Math.round(100 * heat)}%, transparent)`
          return place
        }),
      ),
    )
    const head = make('tr', {}, make('th', {}, ''), ...events.map((event) => make('th', { class: 'event' }, event)))
    const table = make('table', { class: 'cells' }, make('thead', {}, head), make('tbody', {}, ...rows))
    table.style.width = 'auto'
    const heading = make('h3', {}, title)
    const around = make('div', {}, heading, table)
    table.style.marginLeft = '10px'
    return around
  }
}

function keyOf(region: string, { side, state, event }: CellCount): string {
  return `${region} ${side} ${state} ${event}`
}
