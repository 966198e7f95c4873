import type { ArrayFrame } from '../src/dashboard/wire.ts'
import { rankColour } from './canvas.ts'
import { card, fill, make, named, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { bytesText, countText } from './units.ts'
import type { View } from './view.ts'

/** As in src/dashboard/array-looks.ts: every member has it. */
const ALL = -2

/** Named arrays: which rank has which elements, and what came to each from others. */
export class ArraysView implements View {
  readonly id = 'arrays'
  readonly title = 'Arrays'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #arrays: Rows
  readonly #moved: Rows
  readonly #empty = make('div', { class: 'empty' })
  #shown = ''

  constructor(feed: Feed) {
    this.#feed = feed
    const arrays = tableWith('<array', '<shape', '<type', '<partition', '<elements by rank', 'memory', '<ranks')
    const moved = tableWith('<rank', 'came from others', 'exchanges')
    arrays.table.setAttribute('aria-label', 'Arrays')
    moved.table.setAttribute('aria-label', 'Moved')
    this.#arrays = new Rows(arrays)
    this.#moved = new Rows(moved)
    const what = make('small', {}, 'the first axis goes down and the second to the right; the colour is the rank')
    const tables = [arrays.table, make('h3', {}, 'What moved, for all arrays'), moved.table]
    this.element = make(
      'section',
      { id: this.id },
      card(
        make('span', {}, 'Arrays that have a name ', what),
        make('div', { class: 'scroll' }, this.#empty, ...tables),
      ),
    )
  }

  update(): void {
    const { arrays, arraysStamp, frame } = this.#feed
    const theme = document.documentElement.dataset['theme']
    const shown = [arraysStamp, frame?.running, frame?.members.length, theme].join()
    if (shown === this.#shown) return
    this.#shown = shown
    this.#arrays.show((arrays?.arrays ?? []).map((array) => this.#arrayRow(array)))
    this.#moved.show(
      (arrays?.moved ?? []).map(({ number, bytes, exchanges }) => ({
        key: String(number),
        cells: [this.#member(number), bytesText(bytes), countText(exchanges)],
      })),
    )
    const isEmpty = (arrays?.arrays ?? []).length === 0
    this.element.classList.toggle('none', isEmpty)
    this.#empty.hidden = !isEmpty
    if (isEmpty) fill(this.#empty, make('p', {}, ...this.#whyEmpty()))
  }

  #arrayRow({ name, dtype, shape, axes, partition, cells, parts }: ArrayFrame) {
    const more = axes > shape.length ? ' × …' : ''
    const ranks = parts.map(({ number, elements }) => {
      const each = named(String(number), rankColour(number))
      each.title = `${countText(elements)} elements`
      return each
    })
    return {
      key: name,
      cells: [
        name,
        shape.length === 0 ? 'scalar' : shape.join(' × ') + more,
        dtype,
        partition.join(' × '),
        pictureOf(cells, parts.length),
        bytesText(parts.reduce((sum, { bytes }) => sum + bytes, 0)),
        make('span', { class: 'replicas' }, ...ranks),
      ],
    }
  }

  #member(number: number): HTMLElement {
    const hasRanks = this.#feed.frame?.members.some(({ rank }) => rank !== null) === true
    return named(`${hasRanks ? 'rank' : 'member'} ${number}`, rankColour(number))
  }

  /** An empty list says why it is empty. */
  #whyEmpty(): readonly (Node | string)[] {
    const { frame, arrays, isRecording } = this.#feed
    if (isRecording && arrays === undefined)
      return ['This recording has no arrays: a version of Aether before them made it.']
    if (frame?.running !== true) return ['No space is running, so there are no arrays.']
    const call = "await xp.named('heat', { shape: [4096, 4096], partition: 'block' })"
    return ['No rank has an array with a name: ', make('code', {}, call), '.']
  }
}

function pictureOf(cells: readonly (readonly number[])[], parts: number): HTMLElement {
  if (cells[0]?.[0] === ALL) return make('span', {}, `all ${parts} have every element`)
  const rows = cells.map((row) =>
    make(
      'span',
      {},
      ...row.map((number) => {
        const cell = make('i', { title: number < 0 ? 'lost' : `rank ${number}` })
        if (number >= 0) cell.style.background = rankColour(number)
        return cell
      }),
    ),
  )
  return make('span', { class: 'cells' }, ...rows)
}
