/** A table as far as a page shows it. */
export interface ShownTable {
  readonly initial: string
  readonly states: Readonly<Record<string, ShownRow>>
}

interface ShownRow {
  readonly describe: string
  readonly transient: boolean
  readonly on: Readonly<Record<string, { readonly actions: readonly string[]; readonly next: string } | undefined>>
}

/**
 * A table as a state diagram in Mermaid's language: an arrow for each pair of states, with the events that lead along
 * it.
 */
export function stateDiagram({ initial, states }: ShownTable): string {
  const lines = ['stateDiagram-v2', '  direction LR', `  [*] --> ${initial}`]
  for (const [state, { on }] of Object.entries(states)) {
    const eventsTo = new Map<string, string[]>()
    for (const [event, cell] of Object.entries(on)) {
      if (cell === undefined || cell.next === state) continue
      eventsTo.set(cell.next, [...(eventsTo.get(cell.next) ?? []), event])
    }
    for (const [next, events] of eventsTo) lines.push(`  ${state} --> ${next}: ${events.join(', ')}`)
  }
  return lines.join('\n')
}
