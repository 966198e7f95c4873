import type { AcceptedEntry } from './cell.ts'
import type { Configuration } from './configuration.ts'

/** Where in the log a snapshot was taken. */
export interface SnapshotHead {
  /** All entries up to this one are in it. */
  readonly index: number
  /** The term that began last. */
  readonly term: number
  /** The voters from that entry on. */
  readonly configuration: Configuration
}

/**
 * Where a replica keeps what it must not forget. Calls are records, in order. They return at once; how many records are
 * on the disk is told later. A replica that began again with what is there is the same acceptor.
 */
export interface Journal {
  /** No lower term is promised any more. */
  promise(term: number): void
  /** It replaces an entry of the same index. */
  append(entry: AcceptedEntry): void
  /** It replaces all entries up to its index. Its parts are one behind the other. */
  snapshot(head: SnapshotHead, ...parts: readonly Uint8Array[]): void
  /** Write what was recorded since the last call. */
  flush(): void
}

/** What a journal held when it was opened. */
export interface Recovered {
  /** The highest term that was promised, or in which anything was accepted. */
  readonly promise: number
  /** All entries up to this one are decided. */
  readonly decided: number
  readonly snapshot: { readonly head: SnapshotHead; readonly bytes: Uint8Array } | undefined
  /** Behind the snapshot, by index: of each the one that was accepted last. Up to `decided` none is missing. */
  readonly entries: readonly AcceptedEntry[]
}
