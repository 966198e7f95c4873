import type { Protocol } from '../../dsm/index.ts'

export type Side = 'cache' | 'directory'

/** A cell of a protocol's tables. */
export interface CellName {
  readonly side: Side
  readonly state: string
  readonly event: string
}

export const cellText = ({ side, state, event }: CellName): string => `${side} ${state}/${event}`

/** Every cell of both tables. */
export function cellsOf(protocol: Protocol): CellName[] {
  return (['cache', 'directory'] as const).flatMap((side) =>
    Object.entries(protocol[side].states).flatMap(([state, row]) =>
      Object.keys(row.on).map((event) => ({ side, state, event })),
    ),
  )
}

/** Which cells of a protocol's tables were taken. */
export class Coverage {
  readonly #visited = new Set<string>()

  readonly visit = (side: Side, state: string, event: string): void => {
    this.#visited.add(cellText({ side, state, event }))
  }

  /** As {@link cellText}. */
  get visited(): string[] {
    return [...this.#visited]
  }
}

/** Cells that only a death leads to. Nobody dies in these explorations. */
export function isOfDeaths({ event }: CellName): boolean {
  return event === 'Refused'
}
