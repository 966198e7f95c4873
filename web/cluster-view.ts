import { rankColour } from './canvas.ts'
import { card, make, named, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { Flow } from './flow.ts'
import { bytesText, countText, processText, rateText, timeText } from './units.ts'
import type { View } from './view.ts'

/** The members, what each uses, and the traffic between them. */
export class ClusterView implements View {
  readonly id = 'cluster'
  readonly title = 'Cluster'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #flow = new Flow()
  readonly #members: Rows
  readonly #regions: Rows
  readonly #empty = make(
    'div',
    { class: 'empty over' },
    make(
      'p',
      {},
      'No member is running. Start a program that shares memory: ',
      make('code', {}, 'npx aether-dsm run -n 4 app.js'),
    ),
  )

  constructor(feed: Feed) {
    this.#feed = feed
    const members = tableWith('<node', '<state', 'cpu', 'memory', 'waits/s', 'in', 'out', 'wait p50', 'p99', 'pid')
    const regions = tableWith('<region', '<coherence', 'size', 'pages', '<open at')
    this.#members = new Rows(members)
    this.#regions = new Rows(regions)
    const side = make(
      'div',
      { class: 'side' },
      card('Nodes', make('div', { class: 'scroll' }, members.table)),
      card('Regions', make('div', { class: 'scroll' }, regions.table)),
    )
    side.style.cssText =
      'display:grid;gap:16px;grid-template-rows:minmax(0,1.5fr) minmax(0,1fr);min-height:0;min-width:0'
    const title = make(
      'span',
      {},
      'Flow ',
      make('small', {}, 'width and speed: bytes/s · in a node: bytes/s sent · arc: CPU'),
    )
    this.#flow.stage.element.append(this.#empty)
    this.element = make('section', { id: this.id }, card(title, this.#flow.stage.element), side)
  }

  update(): void {
    const { members = [], regions = [] } = this.#feed.frame ?? {}
    this.#members.show(
      members.map((member) => {
        const number = member.rank ?? member.slot
        return {
          key: `${member.epoch}`,
          cells: [
            named(member.rank === null ? `member ${number}` : `rank ${number}`, rankColour(number)),
            make('span', { class: `state ${member.state}` }, member.state),
            member.foreign ? '–' : `${Math.round(100 * member.processors)} %`,
            member.foreign ? '–' : bytesText(member.residentBytes),
            countText(member.waits),
            rateText(member.bytesIn),
            rateText(member.bytesOut),
            member.waitP50Ns > 0 ? timeText(member.waitP50Ns) : '–',
            member.waitP99Ns > 0 ? timeText(member.waitP99Ns) : '–',
            processText(member),
          ],
        }
      }),
    )
    this.#regions.show(
      regions.map(({ name, coherence, size, pages, pageBytes, openAt }) => ({
        key: name,
        cells: [name, coherence, bytesText(size), `${countText(pages)} × ${bytesText(pageBytes)}`, openAt.join(' ')],
      })),
    )
  }

  draw(clockMs: number): void {
    const { members = [] } = this.#feed.frame ?? {}
    const version = `${this.#feed.look} ${document.documentElement.dataset['theme']}`
    this.#flow.draw(members, this.#feed.flows.values(), version, clockMs)
    this.#empty.hidden = members.length > 0
  }
}
