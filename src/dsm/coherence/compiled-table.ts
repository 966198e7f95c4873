import type { Cell, StateRow, Table } from './protocol.ts'

/**
 * A table with its names resolved once: states and events are small numbers, a cell is found by two array reads, its
 * actions are functions.
 */
export class CompiledTable<Event extends string, Act> {
  readonly states: readonly string[]
  readonly initial: number
  readonly #cells: ReadonlyArray<ReadonlyArray<CompiledCell<Act> | undefined>>
  readonly #transient: readonly boolean[]

  constructor(
    table: Table<string, StateRow<Event, string, string>>,
    events: readonly Event[],
    meaning: Readonly<Record<string, Act>>,
  ) {
    this.states = Object.keys(table.states)
    this.initial = this.index(table.initial)
    this.#transient = this.states.map((state) => table.states[state]!.transient)
    this.#cells = this.states.map((state) => {
      const on = table.states[state]!.on as { readonly [E in Event]?: Cell<string, string> }
      return events.map((event) => {
        const cell = on[event]
        return cell && { actions: cell.actions.map((action) => meaning[action]!), next: this.index(cell.next) }
      })
    })
  }

  cell(state: number, event: number): CompiledCell<Act> | undefined {
    return this.#cells[state]?.[event]
  }

  isTransient(state: number): boolean {
    return this.#transient[state] === true
  }

  name(state: number): string {
    return this.states[state]!
  }

  /** The number of a state. */
  index(name: string): number {
    return this.states.indexOf(name)
  }
}

export interface CompiledCell<Act> {
  readonly actions: readonly Act[]
  readonly next: number
}

/** Compiles what is derived from a protocol once, however many nodes run it. */
export function oncePerProtocol<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>()
  return (key) => {
    let value = made.get(key)
    if (value === undefined) {
      value = make(key)
      made.set(key, value)
    }
    return value
  }
}
