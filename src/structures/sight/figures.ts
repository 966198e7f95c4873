import { ownerEpoch, ownerSlot } from '../peers.ts'

/** A member that has something, as the heap names it. */
export interface Owner {
  readonly slot: number
  readonly epoch: number
}

/** What is known of a structure at a look. */
export interface StructureFigures {
  /** Entries, values, or records; undefined for kinds that have none, and while they change too fast to be counted. */
  readonly entries?: number
  /** Bytes of its blocks; undefined if they cannot be told from those of others, or change too fast. */
  readonly bytes?: number
  /** The bytes are estimated from a sample. */
  readonly isEstimate?: boolean
  /** Something changed too fast to be read, so it is missing. */
  readonly isChanging?: boolean
  /** Its value or state in a few words: `42`, `raised`, `2 of 8 free`. Empty if there is nothing to say. */
  readonly now?: string
  /** The one member that `now` is about: `held`, by whom. */
  readonly holder?: Owner
  /** Members that each hold a part of it, once for each part. */
  readonly holders?: readonly Owner[]
}

/** The member that a word of a lock names; undefined for 0. */
export function ownerOf(word: number): Owner | undefined {
  return word === 0 ? undefined : { slot: ownerSlot(word), epoch: ownerEpoch(word) }
}

/** The figures with the member that a word names, if it names one. */
export function heldBy(word: number, figures: StructureFigures): StructureFigures {
  const holder = ownerOf(word)
  return holder === undefined ? figures : { ...figures, holder }
}
