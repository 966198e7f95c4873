import type { Cell, Table } from './protocol.ts'

/** A table with its names resolved once: states are small numbers, cells are found by two array reads. */
export class CompiledTable<Event extends string, Action, State extends string> {
  readonly states: readonly State[]
  readonly initial: number
  readonly #cells: ReadonlyArray<ReadonlyArray<CompiledCell<Action> | undefined>>
  readonly #transient: readonly boolean[]

  constructor(table: Table<Event, Action, State>, events: readonly Event[]) {
    this.states = Object.keys(table.states) as State[]
    this.initial = this.states.indexOf(table.initial)
    this.#transient = this.states.map((state) => table.states[state].transient)
    this.#cells = this.states.map((state) => {
      const on = table.states[state].on as { readonly [E in Event]?: Cell<Action, State> }
      return events.map((event) => {
        const cell = on[event]
        return cell && { actions: cell.actions, next: this.states.indexOf(cell.next) }
      })
    })
  }

  cell(state: number, event: number): CompiledCell<Action> | undefined {
    return this.#cells[state]?.[event]
  }

  isTransient(state: number): boolean {
    return this.#transient[state] === true
  }

  name(state: number): State {
    return this.states[state]!
  }
}

export interface CompiledCell<Action> {
  readonly actions: readonly Action[]
  readonly next: number
}
