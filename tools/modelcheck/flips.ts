import type { Protocol } from 'aether-dsm/internal/dsm'
import { type CellName, cellsOf, cellText } from './coverage.ts'

/** A protocol with one mistake in one cell. */
export interface Flip {
  /** `cache IS/DataShared -> M`, or `cache IS/DataShared without mapReadOnly`. */
  readonly name: string
  readonly cell: CellName
  readonly protocol: Protocol
}

interface AnyCell {
  readonly actions: readonly string[]
  readonly next: string
}

/** Every mistake of one cell that is a state taken for another or an action left out. */
export function flipsOf(protocol: Protocol): Flip[] {
  return cellsOf(protocol).flatMap((cell) => {
    const { actions, next } = cellAt(protocol, cell)
    const others = Object.keys(protocol[cell.side].states).filter((state) => state !== next)
    return [
      ...others.map((other) => flip(protocol, cell, `-> ${other}`, { actions, next: other })),
      ...actions.map((action, index) =>
        flip(protocol, cell, `without ${action}`, { actions: actions.filter((_, at) => at !== index), next }),
      ),
    ]
  })
}

/** The protocol with one cell replaced. @throws RangeError where it has no such cell. */
export function withCell(protocol: Protocol, cell: CellName, replacement: AnyCell): Protocol {
  cellAt(protocol, cell)
  const copy = structuredClone(protocol) as unknown as Record<
    CellName['side'],
    { states: Record<string, { on: Record<string, AnyCell> }> }
  >
  copy[cell.side].states[cell.state]!.on[cell.event] = replacement
  return copy as unknown as Protocol
}

function flip(protocol: Protocol, cell: CellName, what: string, replacement: AnyCell): Flip {
  return { name: `${cellText(cell)} ${what}`, cell, protocol: withCell(protocol, cell, replacement) }
}

function cellAt(protocol: Protocol, cell: CellName): AnyCell {
  const row = protocol[cell.side].states[cell.state]?.on as Readonly<Record<string, AnyCell>> | undefined
  const found = row?.[cell.event]
  if (found === undefined) throw new RangeError(`${protocol.name} has no cell ${cellText(cell)}`)
  return found
}
