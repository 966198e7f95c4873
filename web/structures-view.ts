import type { StructureDetailFrame } from '../src/dashboard/wire.ts'
import { card, fill, make, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { bar, sparkLine } from './spark.ts'
import { entriesText, StructureDetail, sizeText } from './structure-detail.ts'
import type { KnownStructure } from './structure-list.ts'
import { bytesText, countText } from './units.ts'
import type { View } from './view.ts'

/** Rows beyond this many are left out: the busiest are shown. */
const ROWS_MAX = 200
/** Looks in a row's line: a minute. */
const LINE_LOOKS = 300
/** The interval at which the chosen structure is requested. */
const ASK_MS = 1000

const RECORDED = 'A recording has no keys, values and holders: they are read only while a space runs.'

/** The structures of the space, and everything about the chosen one. */
export class StructuresView implements View {
  readonly id = 'structures'
  readonly title = 'Structures'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #rows: Rows
  readonly #memory = make('span', { class: 'legend' })
  readonly #empty = make('div', { class: 'empty' })
  readonly #detail = new StructureDetail()
  #listed: readonly KnownStructure[] = []
  #chosen: string | undefined
  #known: StructureDetailFrame | undefined
  #askedMs = 0
  #shown = ''

  constructor(feed: Feed) {
    this.#feed = feed
    const parts = tableWith(
      '<structure',
      '<kind',
      'entries',
      'bytes',
      'calls/s',
      '<last minute',
      'waiting',
      'evicted',
      '<now',
    )
    parts.table.setAttribute('aria-label', 'Structures')
    this.#rows = new Rows(parts)
    this.#rows.onChoose = (key) => this.#choose(key)
    const keys = make(
      'small',
      {},
      'the busiest first · click a row, or press ↑ or ↓, for its keys and holders · Esc: back',
    )
    const title = make('span', {}, 'Structures ', keys)
    const list = card(title, make('div', { class: 'scroll' }, this.#empty, parts.table))
    list.querySelector('h2')!.append(make('span', { class: 'grow' }), this.#memory)
    this.element = make('section', { id: this.id }, list, this.#detail.element)
  }

  update(): void {
    const { structures, frame } = this.#feed
    const theme = document.documentElement.dataset['theme']
    const shown = [structures.stamp, frame?.running, frame?.members.length, this.#chosen, theme].join()
    if (shown === this.#shown) return
    this.#shown = shown
    this.#listed = structures.busiest(this.#feed.look)
    if (structures.get(this.#chosen) === undefined) this.#forget()
    this.#showRows()
    const chosen = structures.get(this.#chosen)
    this.element.classList.toggle('chosen', chosen !== undefined)
    this.#detail.show(chosen?.frame, this.#known, this.#feed.isRecording ? RECORDED : '')
  }

  draw(_clockMs: number, nowMs: number): void {
    const chosen = this.#feed.structures.get(this.#chosen)
    if (chosen === undefined || nowMs - this.#askedMs < ASK_MS) return
    this.#askedMs = nowMs
    const { region, name } = chosen.frame
    void this.#feed.askStructure(region, name).then((detail) => {
      if (this.#chosen !== chosen.key) return
      this.#known = detail
      this.#shown = ''
      this.update()
    })
  }

  key({ key }: KeyboardEvent): boolean {
    if (key === 'Escape') {
      this.#forget()
      this.update()
      return true
    }
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return false
    const at = this.#listed.findIndex((each) => each.key === this.#chosen)
    const next = at < 0 ? 0 : at + (key === 'ArrowDown' ? 1 : -1)
    const found = this.#listed.slice(0, ROWS_MAX)[next]
    if (found !== undefined) this.#choose(found.key)
    return true
  }

  #choose(key: string): void {
    if (key !== this.#chosen) this.#forget()
    this.#chosen = key
    this.update()
    this.#rows.reveal(key)
  }

  #forget(): void {
    this.#chosen = undefined
    this.#known = undefined
    this.#askedMs = 0
  }

  #showRows(): void {
    const { structures, look } = this.#feed
    const most = Math.max(1, ...this.#listed.map(({ frame }) => frame.reads + frame.writes))
    const hasRegions = structures.memory.length > 1
    this.#rows.show(
      this.#listed.slice(0, ROWS_MAX).map(({ key, frame, calls }) => ({
        key,
        chosen: key === this.#chosen,
        cells: [
          hasRegions ? make('span', {}, frame.name, make('small', { class: 'soft' }, ` ${frame.region}`)) : frame.name,
          frame.kind,
          entriesText(frame),
          sizeText(frame),
          bar(countText(frame.reads + frame.writes), (frame.reads + frame.writes) / most),
          sparkLine(calls.values(look, LINE_LOOKS)),
          frame.waiting === 0 ? '–' : make('b', { class: 'waiting' }, countText(frame.waiting)),
          frame.evictions + frame.expirations === 0 ? '–' : countText(frame.evictions),
          frame.now,
        ],
      })),
    )
    this.#rows.hidden = this.#listed.length === 0
    this.#empty.hidden = this.#listed.length > 0
    if (this.#listed.length === 0) fill(this.#empty, make('p', {}, ...this.#whyEmpty()))
    const more = this.#listed.length - ROWS_MAX
    fill(
      this.#memory,
      ...structures.memory
        .filter(({ isOther }) => !isOther)
        .map(({ region, usedBytes, sizeBytes, isEstimate }) =>
          bar(
            `${hasRegions ? `${region}: ` : ''}${isEstimate ? '~' : ''}${bytesText(usedBytes)} of ${bytesText(sizeBytes)}`,
            usedBytes / sizeBytes,
          ),
        ),
      more > 0 ? `and ${countText(more)} quiet ones` : null,
    )
  }

  /** An empty list says why it is empty. */
  #whyEmpty(): readonly (Node | string)[] {
    const { frame, structures, isRecording } = this.#feed
    if (isRecording && !structures.isKnown)
      return ['This recording has no structures: a version of Aether before them made it.']
    if (frame?.running !== true) return ['No space is running, so there are no structures.']
    const other = structures.memory.find(({ isOther }) => isOther)
    if (other !== undefined)
      return [
        `The structures of region ${other.region} were made by another version of Aether: watch them with that version.`,
      ]
    if (structures.memory.length > 0)
      return [
        'The structures of this space are open, but none has been made yet: ',
        make('code', {}, "await shared.map('sessions')"),
      ]
    const ranks = frame.members.some(({ rank }) => rank !== null)
      ? ' Those that ranks share over the network, by openStructures(group), are not shown.'
      : ''
    return [
      'No member of this space has opened structures: ',
      make('code', {}, 'await openStructures(space)'),
      `.${ranks}`,
    ]
  }
}
