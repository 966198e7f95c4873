import type { StructureDetailFrame, StructureFrame } from '../src/dashboard/wire.ts'
import { card, fill, make, Rows, tableWith } from './dom.ts'
import { bytesText, countText, processText } from './units.ts'

/** All that is known of the chosen structure. */
export class StructureDetail {
  readonly element: HTMLElement
  readonly #heading = make('span')
  readonly #facts = make('dl', { class: 'facts-list' })
  readonly #users: Rows
  readonly #items: Rows
  readonly #itemsTitle = make('h3')
  readonly #note = make('p', { class: 'soft note' })

  constructor() {
    const users = tableWith('<member', 'process', 'reads', 'writes', 'waiting')
    const items = tableWith('<key', '<value')
    items.table.classList.add('items')
    this.#users = new Rows(users)
    this.#items = new Rows(items)
    const scroll = make('div', { class: 'scroll' }, this.#facts, users.table, this.#itemsTitle, items.table, this.#note)
    this.element = card(this.#heading, scroll)
  }

  /** `why`: why there is no detail although a structure is chosen. */
  show(frame: StructureFrame | undefined, detail: StructureDetailFrame | undefined, why: string): void {
    this.element.hidden = frame === undefined
    if (frame === undefined) return
    fill(this.#heading, `${frame.name} `, make('small', {}, `${frame.kind} in region ${frame.region}`))
    const facts = [
      ...factsOf(frame),
      ...(detail?.options ?? []),
      ['held by', detail?.holders.join('; ') ?? ''],
    ] as const
    const shown = facts.filter(([, text]) => text !== '' && text !== '–')
    fill(this.#facts, ...shown.flatMap(([name, text]) => [make('dt', {}, name!), make('dd', {}, text!)]))
    const users = detail?.users ?? []
    this.#users.show(
      users.map(({ member, processId, foreign, reads, writes, waiting }) => ({
        key: `${member} ${processId}`,
        cells: [member, processText({ processId, foreign }), countText(reads), countText(writes), countText(waiting)],
      })),
    )
    this.#users.hidden = users.length === 0
    const { title = '', items = [], isWhole = true } = detail ?? {}
    this.#itemsTitle.textContent = title === '' ? '' : items.length === 0 ? `no ${title}` : title
    this.#items.show(items.map(({ label, text }, index) => ({ key: String(index), cells: [label, text] })))
    this.#items.hidden = items.length === 0
    const more = title === '' || isWhole ? '' : 'There are more, or some changed too fast to be read.'
    this.#note.textContent = detail === undefined ? why : more
  }
}

function factsOf(frame: StructureFrame): readonly (readonly [string, string])[] {
  return [
    ['now', frame.now],
    ['entries', entriesText(frame)],
    ['bytes', sizeText(frame)],
    ['calls', `${countText(frame.reads)}/s that look, ${countText(frame.writes)}/s that may change it`],
    ['waiting', countText(frame.waiting)],
    ['removed', `${countText(frame.evictions)} for a bound, ${countText(frame.expirations)} expired`],
  ]
}

export function entriesText({ entries, isChanging }: StructureFrame): string {
  if (entries !== null) return countText(entries)
  return isChanging ? 'changing' : '–'
}

/** An estimate has a `~` in front. */
export function sizeText({ bytes, isEstimate, isChanging }: StructureFrame): string {
  if (bytes !== null) return `${isEstimate ? '~' : ''}${bytesText(bytes)}`
  return isChanging ? 'changing' : '–'
}
