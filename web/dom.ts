/** The few helpers that the page uses instead of a framework. */

type Child = Node | string | number | null

/** An element with attributes and children. Attributes are named as in HTML; functions are listeners. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | ((event: never) => void)>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') element.setAttribute(name, value)
    else element.addEventListener(name, value as EventListener)
  }
  element.append(...children.filter((child) => child !== null).map(asNode))
  return element
}

function asNode(child: Node | string | number): Node | string {
  return typeof child === 'number' ? String(child) : child
}

/** Replace the children of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...children.filter((child) => child !== null).map(asNode))
}

/** The rows of a table. An update keeps rows with the same key. */
export class Rows {
  readonly #body: HTMLElement
  readonly #rows = new Map<string, HTMLTableRowElement>()
  readonly #left: readonly number[]
  readonly #table: HTMLTableElement
  #choose: ((key: string) => void) | undefined

  /** `left` has the columns that are aligned left. */
  constructor({ table, body, left }: TableParts) {
    this.#table = table
    this.#body = body
    this.#left = left
  }

  /** Makes rows selectable, by click or Enter. */
  set onChoose(choose: (key: string) => void) {
    this.#choose = choose
  }

  /** Hides the table, with its titles. */
  set hidden(isHidden: boolean) {
    this.#table.hidden = isHidden
  }

  /** Focus a row. */
  focus(key: string): void {
    this.#rows.get(key)?.focus()
  }

  /** Scroll a row into view. */
  reveal(key: string): void {
    this.#rows.get(key)?.scrollIntoView({ block: 'nearest' })
  }

  /** Show these rows. A cell is plain text or a node. */
  show(
    rows: readonly { readonly key: string; readonly cells: readonly (string | Node)[]; readonly chosen?: boolean }[],
  ): void {
    const keys = new Set(rows.map(({ key }) => key))
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    rows.forEach(({ key, cells, chosen }, index) => {
      const row = this.#rows.get(key) ?? this.#add(key, cells.length)
      row.classList.toggle('chosen', chosen === true)
      if (chosen === true) row.setAttribute('aria-current', 'true')
      else row.removeAttribute('aria-current')
      if (this.#body.children[index] !== row) this.#body.insertBefore(row, this.#body.children[index] ?? null)
      cells.forEach((cell, column) => {
        const place = row.cells[column]!
        if (typeof cell !== 'string') place.replaceChildren(cell)
        else if (place.textContent !== cell) place.textContent = cell
      })
    })
  }

  #add(key: string, cells: number): HTMLTableRowElement {
    const row = document.createElement('tr')
    for (let cell = 0; cell < cells; cell += 1) row.insertCell().classList.toggle('left', this.#left.includes(cell))
    this.#rows.set(key, row)
    if (this.#choose !== undefined) {
      row.tabIndex = 0
      row.addEventListener('click', () => this.#choose?.(key))
      row.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') this.#choose?.(key)
      })
    }
    return row
  }
}

export interface TableParts {
  readonly table: HTMLTableElement
  readonly body: HTMLElement
  readonly left: readonly number[]
}

/** A table with these titles. A title that starts with `<` makes its column left-aligned. */
export function tableWith(...titles: readonly string[]): TableParts {
  const head = titles.map((title) =>
    title.startsWith('<') ? make('th', { class: 'left' }, title.slice(1)) : make('th', {}, title),
  )
  const body = make('tbody')
  const left = titles.flatMap((title, column) => (title.startsWith('<') ? [column] : []))
  return { table: make('table', {}, make('thead', {}, make('tr', {}, ...head)), body), body, left }
}

export function card(title: Child, ...children: readonly Child[]): HTMLElement {
  return make('div', { class: 'card' }, make('h2', {}, title), ...children)
}

/** A text after a mark in this colour. */
export function named(text: string, swatch: string): HTMLElement {
  const mark = make('span', { class: 'swatch' })
  mark.style.background = swatch
  return make('span', {}, mark, text)
}
