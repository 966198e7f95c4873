import type { PageFrame } from '../src/dashboard/wire.ts'
import { colour } from './canvas.ts'
import { card, fill, make, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { PageAdvice } from './page-advice.ts'
import { classes, PageGrid } from './page-grid.ts'
import { PageTimeline } from './page-timeline.ts'
import { countText } from './units.ts'
import type { View } from './view.ts'

/** The interval at which the selected page is requested. */
const ASK_MS = 300

/** Shown for what this machine, or a recording, does not know. */
const UNKNOWN = 'unknown'

/** The pages of one region, and the history of one page. */
export class PagesView implements View {
  readonly id = 'pages'
  readonly title = 'Pages'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #grid = new PageGrid()
  readonly #timeline = new PageTimeline()
  readonly #choice = make('select', { 'aria-label': 'Region' })
  readonly #legend = make('span', { class: 'legend' })
  readonly #tip = make('div', { class: 'tip', role: 'status' })
  readonly #facts = make('dl', { class: 'facts-list' })
  readonly #heading = make('span', {}, 'No page is selected')
  readonly #advice = new PageAdvice()
  readonly #empty = make('div', { class: 'empty over' })
  readonly #copies: Rows
  readonly #events: Rows
  #known: PageFrame | undefined
  #tipped: PageFrame | undefined
  #askedMs = 0
  /** The counts in the legend are older than the cells, or their colours are others. */
  #isLegendOld = true

  constructor(feed: Feed) {
    this.#feed = feed
    feed.onPages = (blocks) => {
      this.#isLegendOld = true
      if (blocks === 'all') this.#grid.show(feed.pages)
      else this.#grid.changed(blocks)
    }
    this.#choice.addEventListener('change', () => this.#listen(this.#choice.value))
    const copies = tableWith('<rank', '<copy', 'faults', 'losses')
    const events = tableWith('µs', '<rank', '<what', '<detail')
    this.#copies = new Rows(copies)
    this.#events = new Rows(events)
    this.#listenToPointer()
    const hint = make(
      'div',
      { class: 'hint' },
      'scroll: zoom · drag: move · click: history · o: colour by owner · f: show all',
    )
    this.#grid.stage.element.append(this.#tip, hint, this.#empty)
    const heading = make('h2', {}, this.#choice, this.#legend)
    const history = make(
      'div',
      { class: 'card' },
      make(
        'h2',
        {},
        'History ',
        make('small', {}, '○ wanted, ● granted · red arrow: takes the page away · orange arrow: brings bytes'),
      ),
      this.#timeline.stage.element,
      make('div', { class: 'scroll' }, events.table),
    )
    this.#timeline.stage.element.style.cssText = 'flex:0 0 210px'
    const side = make(
      'div',
      {},
      card(this.#heading, this.#facts, this.#advice.element, make('div', { class: 'scroll' }, copies.table)),
      history,
    )
    side.style.cssText =
      'display:grid;gap:16px;grid-template-rows:minmax(0,.9fr) minmax(0,1.1fr);min-height:0;min-width:0'
    this.element = make(
      'section',
      { id: this.id },
      make('div', { class: 'card' }, heading, this.#grid.stage.element),
      side,
    )
  }

  update(): void {
    const regions = (this.#feed.frame?.regions ?? []).filter(({ hasPages }) => hasPages).map(({ name }) => name)
    const { region } = this.#feed
    // The selected region has ended, or none was selected.
    if (region === undefined || !regions.includes(region)) this.#listen(regions[0])
    const shown = [...this.#choice.options].map(({ value }) => value)
    if (regions.join('\n') !== shown.join('\n'))
      this.#choice.replaceChildren(
        ...regions.map((name) => new Option(name, name, name === this.#feed.region, name === this.#feed.region)),
      )
    this.#isLegendOld = true
    this.#showEmpty(regions.length === 0)
  }

  draw(_clockMs: number, nowMs: number): void {
    this.#grid.draw()
    // With the cells, and not when a look arrives: the pages of a look come after it.
    if (this.#isLegendOld) this.#showLegend()
    if (this.#grid.chosen >= 0 && nowMs - this.#askedMs > ASK_MS) {
      this.#askedMs = nowMs
      void this.#ask(this.#grid.chosen).then((page) => this.#show(page))
    }
    this.#timeline.draw(this.#known?.history ?? [])
  }

  key({ key }: KeyboardEvent): boolean {
    const grid = this.#grid
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -grid.columns,
      ArrowDown: grid.columns,
    }
    if (key === 'o') {
      grid.byOwner = !grid.byOwner
      grid.repaint()
    } else if (key === 'f') grid.fit()
    else if (key === '+' || key === '=') grid.zoom(1.5)
    else if (key === '-') grid.zoom(1 / 1.5)
    else if (key === 'Escape') this.#choose(-1)
    else if (key in steps)
      this.#choose(Math.min(this.#feed.pages.length - 1, Math.max(0, grid.chosen + steps[key]!)), true)
    else return false
    return true
  }

  /** Paint again, after a change of the theme. */
  repaint(): void {
    this.#grid.repaint()
  }

  #listen(region: string | undefined): void {
    if (region === this.#feed.region) return
    this.#choose(-1)
    this.#feed.choose(region)
  }

  #choose(page: number, reveal = false): void {
    this.#grid.chosen = page
    this.#known = undefined
    this.#askedMs = 0
    this.#show(undefined)
    if (reveal && page >= 0) this.#grid.reveal(page)
    this.#grid.touch()
  }

  #ask(page: number): Promise<PageFrame | undefined> {
    return this.#feed.askPage(page)
  }

  #show(page: PageFrame | undefined): void {
    if (page !== undefined && (page.page !== this.#grid.chosen || page.region !== this.#feed.region)) return
    this.#known = page
    this.#heading.textContent =
      this.#grid.chosen < 0 ? 'No page is selected' : `Page ${this.#grid.chosen.toLocaleString('en-GB')}`
    const who = (rank: number | null): string => (rank === null ? '–' : `rank ${rank}`)
    const facts: readonly (readonly [string, string])[] =
      page === undefined
        ? []
        : [
            ['state', classes[page.class]?.name ?? '?'],
            ['owner', who(page.owner)],
            ['home', page.home === null ? UNKNOWN : `${who(page.home)}, state ${page.homeState ?? '?'}`],
            [
              'readers',
              page.sharers === null ? UNKNOWN : page.sharers.map((rank) => `rank ${rank}`).join(', ') || 'none',
            ],
            ['version', page.version === null ? UNKNOWN : String(page.version)],
          ]
    fill(this.#facts, ...facts.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]))
    this.#advice.show(page?.advice)
    this.#copies.show(
      (page?.copies ?? []).map(({ rank, state, faults, losses }) => ({
        key: String(rank),
        cells: [`rank ${rank}`, state, ...[faults, losses].map((each) => (each === null ? '–' : countText(each)))],
      })),
    )
    const events = (page?.history ?? []).slice(-60).reverse()
    const last = events[0]?.atUs ?? 0
    this.#events.show(
      events.map(({ atUs, rank, what, peer, text }, index) => ({
        key: String(index),
        cells: [(atUs - last).toFixed(1).replace('-', '−'), `rank ${rank}`, said(what, peer), text],
      })),
    )
  }

  #showLegend(): void {
    this.#isLegendOld = false
    const { counts } = this.#feed
    const marks = classes.map(({ name, colour: of }, index) => {
      const mark = make('span', { class: 'swatch' })
      mark.style.background = colour(of)
      return make('span', {}, mark, `${name} ${countText(counts[index] ?? 0)}`)
    })
    fill(this.#legend, ...(this.#grid.byOwner ? ['coloured by owner'] : marks))
  }

  /** An empty grid says why it is empty. */
  #showEmpty(isEmpty: boolean): void {
    this.#empty.hidden = !isEmpty
    if (isEmpty) fill(this.#empty, make('p', {}, ...whyEmpty(this.#feed)))
  }

  #listenToPointer(): void {
    const { canvas } = this.#grid.stage
    canvas.tabIndex = 0
    let dragged: { x: number; y: number; moved: boolean } | undefined
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault()
        this.#grid.zoom(1.0015 ** -event.deltaY, event.offsetX, event.offsetY)
      },
      { passive: false },
    )
    canvas.addEventListener('pointerdown', ({ offsetX, offsetY }) => {
      dragged = { x: offsetX, y: offsetY, moved: false }
    })
    canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
      if (dragged !== undefined && (dragged.moved || Math.hypot(offsetX - dragged.x, offsetY - dragged.y) > 4)) {
        this.#grid.move(offsetX - dragged.x, offsetY - dragged.y)
        dragged = { x: offsetX, y: offsetY, moved: true }
      }
      this.#hover(offsetX, offsetY)
    })
    canvas.addEventListener('pointerup', ({ offsetX, offsetY }) => {
      if (dragged?.moved === false) this.#choose(this.#grid.pageAt(offsetX, offsetY))
      dragged = undefined
    })
    canvas.addEventListener('pointerleave', () => {
      dragged = undefined
      this.#hover(-1, -1)
    })
  }

  #hover(x: number, y: number): void {
    const page = x < 0 ? -1 : this.#grid.pageAt(x, y)
    this.#tip.style.display = page < 0 ? 'none' : 'block'
    if (page >= 0) {
      this.#tip.style.left = `${Math.min(x + 16, this.#grid.stage.width - 250)}px`
      this.#tip.style.top = `${y + 18}px`
    }
    if (page === this.#grid.hovered) return
    this.#grid.hovered = page
    this.#grid.touch()
    this.#tipped = undefined
    this.#fillTip(page)
    if (page >= 0)
      void this.#ask(page).then((known) => {
        if (this.#grid.hovered !== page) return
        this.#tipped = known
        this.#fillTip(page)
      })
  }

  #fillTip(page: number): void {
    const state = this.#feed.pages[page] ?? 0
    const owner = (state >> 4) - 1
    const known = this.#tipped
    const faults = known?.copies.reduce<number | null>(
      (sum, copy) => (sum === null || copy.faults === null ? null : sum + copy.faults),
      0,
    )
    const more =
      known === undefined
        ? null
        : make(
            'div',
            { class: 'soft' },
            `sharers ${known.sharers === null ? '–' : known.sharers.join(' ') || 'none'} · version ${known.version ?? '–'} · faults ${faults ?? '–'}`,
          )
    fill(
      this.#tip,
      make('b', {}, `page ${page.toLocaleString('en-GB')}`),
      ` ${classes[state & 15]?.name ?? ''}${owner >= 0 ? ` · rank ${owner}` : ''}`,
      more,
    )
  }
}

function whyEmpty({ frame, isRecording }: Feed): readonly (Node | string)[] {
  if (frame?.running !== true) return ['No space is running, so there are no pages.']
  const coherent = frame.regions.filter(({ coherence }) => coherence !== 'hardware')
  if (coherent.length > 0)
    return [
      isRecording
        ? 'This recording has no pages: its regions have too many, or were left out.'
        : `The pages of ${coherent.map(({ name }) => name).join(', ')} cannot be shown: no rank of this machine shows them. A rank shows up to 32 regions.`,
    ]
  const has = frame.regions.length === 0 ? 'This space has no regions.' : 'This space has only hardware regions.'
  const why =
    ' All members use the same memory of those, so their pages have no state. Pages are shown of coherent regions, which ranks of a group open: '
  return [has, why, make('code', {}, "group.openRegion('grid', { size: '64MiB' })")]
}

function said(what: string, peer: number | null): string {
  if (peer === null) return what
  return what === 'received' ? `received from ${peer}` : `${what} to ${peer}`
}
