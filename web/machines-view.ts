import type { FailOverFrame } from '../src/dashboard/wire.ts'
import { rankColour } from './canvas.ts'
import { card, fill, make, named, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { sparkLine } from './spark.ts'
import { countText, timeText } from './units.ts'
import type { View } from './view.ts'

/** Looks in a row's line: a minute. */
const LINE_LOOKS = 300

/** Replicated state machines: who leads each, and how far each member is. */
export class MachinesView implements View {
  readonly id = 'machines'
  readonly title = 'Machines'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #rows: Rows
  readonly #empty = make('div', { class: 'empty' })
  #shown = ''

  constructor(feed: Feed) {
    this.#feed = feed
    const parts = tableWith(
      '<machine',
      '<node',
      '<role',
      'term',
      'applied',
      'behind',
      'entries/s',
      '<last minute',
      'proposing',
      '<last fail-over',
    )
    parts.table.setAttribute('aria-label', 'Machines')
    this.#rows = new Rows(parts)
    const what = make(
      'small',
      {},
      'fail-over: from no leader to the candidacy · the promises · all adopted · the first entry',
    )
    const title = make('span', {}, 'Replicated state machines ', what)
    this.element = make(
      'section',
      { id: this.id },
      card(title, make('div', { class: 'scroll' }, this.#empty, parts.table)),
    )
  }

  update(): void {
    const { machines, frame, look } = this.#feed
    const theme = document.documentElement.dataset['theme']
    const shown = [machines.stamp, frame?.running, frame?.members.length, theme].join()
    if (shown === this.#shown) return
    this.#shown = shown
    const { replicas } = machines
    const hasRanks = frame?.members.some(({ rank }) => rank !== null) === true
    this.#rows.show(
      replicas.map(({ key, frame: replica, rates }) => ({
        key,
        cells: [
          replica.name,
          named(`${hasRanks ? 'rank' : 'member'} ${replica.number}`, rankColour(replica.number)),
          replica.leads ? make('b', {}, 'leads') : 'follows',
          countText(replica.term),
          replica.applied.toLocaleString('en-GB'),
          replica.behind === 0 ? '–' : countText(replica.behind),
          countText(replica.rate),
          sparkLine(rates.values(look, LINE_LOOKS)),
          replica.proposing === 0 ? '–' : countText(replica.proposing),
          replica.failOver === null ? '–' : stagesText(replica.failOver),
        ],
      })),
    )
    this.#rows.hidden = replicas.length === 0
    this.#empty.hidden = replicas.length > 0
    if (replicas.length === 0) fill(this.#empty, make('p', {}, ...this.#whyEmpty()))
  }

  /** An empty list says why it is empty. */
  #whyEmpty(): readonly (Node | string)[] {
    const { frame, machines, isRecording } = this.#feed
    if (isRecording && !machines.isKnown)
      return ['This recording has no machines: a version of Aether before them made it.']
    if (frame?.running !== true) return ['No space is running, so there are no machines.']
    return [
      'No member has opened a replicated state machine: ',
      make('code', {}, "await replicate(group, { name: 'accounts', machine })"),
      '.',
    ]
  }
}

function stagesText({ campaignNs, promisedNs, caughtUpNs, decidedNs }: FailOverFrame): string {
  return [campaignNs, promisedNs, caughtUpNs, decidedNs].map(timeText).join(' · ')
}
