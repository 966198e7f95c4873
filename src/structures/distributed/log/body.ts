import type { NameEntry } from '../heap/name-entry.ts'
import { waitingRanksBytes } from '../waiting/waiting-ranks.ts'

/**
 * The body of a log's or channel's entry:
 *
 * ```
 *  0  end, as it was not long ago: see view.ts   8  the same of the first   16  who waits   …
 *       where the tables of its slots are, Float64 each
 * ```
 */
export const LogBodyOffset = { End: 0, First: 8, Waiting: 16 } as const

/** Bytes of what changes. */
export function logMarksBytes(ranks: number): number {
  return LogBodyOffset.Waiting + waitingRanksBytes(ranks)
}

/** Slots in one table, which is one chunk. */
export const TABLE_SLOTS = 8192

/** The most entries that a log keeps: so that the block of its name is read in one go. */
export const GROUP_LOG_CAPACITY_MAX: number = 512 * TABLE_SLOTS

/** How many tables the slots of this many entries take. */
export function tablesForLog(capacity: number): number {
  return Math.ceil(capacity / TABLE_SLOTS)
}

export function writeLogBody(tables: readonly number[], ranks: number): Uint8Array {
  const first = logMarksBytes(ranks)
  const bytes = new Uint8Array(first + tables.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [at, table] of tables.entries()) view.setFloat64(first + at * 8, table, true)
  return bytes
}

/** Where the tables are. The first parameter of a log's entry is its capacity. */
export function readLogBody({ parameters, body }: NameEntry, ranks: number): readonly number[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const count = tablesForLog(parameters[0]!)
  return Array.from({ length: count }, (_, at) => view.getFloat64(logMarksBytes(ranks) + at * 8, true))
}
