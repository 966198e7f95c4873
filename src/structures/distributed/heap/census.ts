import type { BlockName } from './block-word.ts'

/** Which blocks and tables of a home something names. */
export interface Census {
  readonly blocks: ReadonlySet<number>
  readonly tables: ReadonlySet<number>
  /** Slots whose block is not there for readers yet, and what they are without it. */
  readonly tentative: readonly {
    readonly place: number
    readonly word: bigint
    readonly empty: bigint
    readonly block: BlockName
  }[]
  /** Maps with a bound: where they count, and by how much that is too few at least (or, negative, too many). */
  readonly miscounts: readonly { readonly place: number; readonly entries: number }[]
  readonly objects: readonly NamedObjects[]
}

/** Objects of MV-RLU, and where their body begins. */
export interface NamedObjects {
  readonly name: string
  readonly offset: number
}

/** A census that goes on. */
export interface Found {
  readonly blocks: Set<number>
  readonly tables: Set<number>
  readonly tentative: Census['tentative'][number][]
  readonly miscounts: Census['miscounts'][number][]
  readonly objects: NamedObjects[]
}
