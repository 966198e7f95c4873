import type { RestoreReason } from '../cluster/index.ts'

/** Options of `space.save()`. */
export interface SaveOptions {
  /** Where to write it. Default: the file named by `open`, or `aether.save` in the space's directory. */
  readonly file?: string
  /**
   * Save all structures as they are at one instant. Operations on them wait in all processes for a moment, on their
   * threads: about 50 ms for 64 MiB in use, at most 5 s. As much memory is needed for a copy. Default: each entry is
   * whole, but a structure may be saved later than another.
   */
  readonly consistent?: boolean
  /** Stop. The file stays what it was. */
  readonly signal?: AbortSignal
}

/** Something of a space that a save does not have. */
export interface Omission {
  /** The region. */
  readonly region: string
  /** The structure in it; undefined: the whole region. */
  readonly structure?: string
  readonly reason: string
}

/** What a save has written. */
export interface SaveResult {
  readonly file: string
  readonly savedAt: Date
  /** Length of the file. */
  readonly bytes: number
  /** How many regions are in it, and how many structures. */
  readonly regions: number
  readonly structures: number
  /** What is not in it. */
  readonly omitted: readonly Omission[]
}

/** How a space is saved again and again. */
export interface SaveRepetition {
  readonly everyMs: number
  /** See {@link SaveOptions}. */
  readonly consistent: boolean
}

/** What `open` has restored. */
export interface Restored {
  readonly savedAt: Date
  /**
   * `restarted`: the machine was restarted, or crashed, without an orderly end of the space. `interrupted`: so was an
   * earlier restore. `missing`: there was no memory of the space.
   */
  readonly reason: RestoreReason
  /** What the save does not have, so that it is gone. */
  readonly omitted: readonly Omission[]
}
