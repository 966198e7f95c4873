import type { Protocol } from 'aether-dsm/internal/dsm'

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
  /** Those that {@link takeNew} has not told yet. */
  #told = 0

  readonly visit = (side: Side, state: string, event: string): void => {
    this.#visited.add(cellText({ side, state, event }))
  }

  /** Those taken for the first time since the last call. */
  takeNew(): string[] {
    if (this.#visited.size === this.#told) return none
    const found = [...this.#visited].slice(this.#told)
    this.#told = this.#visited.size
    return found
  }

  /** As {@link cellText}. */
  get visited(): string[] {
    return [...this.#visited]
  }
}

const none: string[] = []
