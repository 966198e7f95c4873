/**
 * What all ranks must agree on, kept by rank 0: names of regions with their parameters, and which ranks have them open.
 * Parameters are compared as text; the first rank that opens a name decides.
 */
export interface RegistryEntry {
  readonly id: number
  readonly parameters: string
  /** Ranks that had ended when it was made. */
  readonly ended: readonly number[]
  readonly openers: Set<number>
}

/**
 * The answer to an opener. `parameters` are those that are in force; `ended` are the ranks that had ended when the
 * region was made.
 */
export type RegistryAnswer =
  | { readonly kind: 'opened'; readonly id: number; readonly parameters: string; readonly ended: readonly number[] }
  | { readonly kind: 'other'; readonly parameters: string }
  | { readonly kind: 'absent' }
  /** The registry is gone with its rank. */
  | { readonly kind: 'gone'; readonly rank: number }

export class RegionRegistry {
  readonly #entries = new Map<string, RegistryEntry>()
  readonly #ended: number[] = []
  #nextId = 1

  /** Rank `rank` opens `name`; without `parameters` it must exist. */
  open(rank: number, name: string, parameters: string | undefined): RegistryAnswer {
    const known = this.#entries.get(name)
    if (known === undefined) {
      if (parameters === undefined) return { kind: 'absent' }
      const made = { id: this.#nextId++, parameters, ended: [...this.#ended], openers: new Set([rank]) }
      this.#entries.set(name, made)
      return opened(made)
    }
    if (parameters !== undefined && parameters !== known.parameters)
      return { kind: 'other', parameters: known.parameters }
    known.openers.add(rank)
    return opened(known)
  }

  /** What `open` without parameters would answer; nothing is opened. */
  lookUp(name: string): RegistryAnswer {
    const known = this.#entries.get(name)
    return known === undefined ? { kind: 'absent' } : opened(known)
  }

  /** Rank `rank` no longer needs it. Returns the id once no rank does: then the name is free again. */
  close(rank: number, name: string): number | undefined {
    const known = this.#entries.get(name)
    if (known === undefined) return undefined
    known.openers.delete(rank)
    if (known.openers.size > 0) return undefined
    this.#entries.delete(name)
    return known.id
  }

  /** A rank has ended. Returns the ids that no rank has open any more. */
  memberEnded(rank: number): number[] {
    this.#ended.push(rank)
    return [...this.#entries.keys()].map((name) => this.close(rank, name)).filter((id) => id !== undefined)
  }
}

const opened = ({ id, parameters, ended }: RegistryEntry): RegistryAnswer => ({ kind: 'opened', id, parameters, ended })
