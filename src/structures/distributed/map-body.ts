import type { NameEntry } from './name-entry.ts'

/** Buckets of 8 slots in one part of a table, which is one chunk. */
export const TABLE_BUCKETS = 1024
export const BUCKET_SLOTS = 8
export const BUCKET_BYTES = 64

/** Parts of a table at one home: what fits into an entry's block that is read in one go. */
export const TABLES_MAX = 512
/** Of its slots a map is expected to fill so many: with two choices of eight a key is hardly ever refused before. */
const FILL = 0.7

/** How many parts a table for so many entries has. */
export function tablesFor(capacity: number): number {
  return Math.ceil(capacity / (TABLE_BUCKETS * BUCKET_SLOTS * FILL))
}

/**
 * The body of a map's entry, all there before the map is, and never changed: 64-bit floating point numbers, the seed of its hashes first, then where the parts of its table are.
 */
export function writeMapBody(seed: number, tables: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 + tables.length * 8)
  const view = new DataView(bytes.buffer)
  view.setFloat64(0, seed, true)
  for (const [at, table] of tables.entries()) view.setFloat64(8 + at * 8, table, true)
  return bytes
}

/** Of a map's entry. Its first parameter says how many parts there are. */
export function readMapBody({ parameters, body }: NameEntry): { readonly seed: number; readonly tables: number[] } {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const tables = Array.from({ length: parameters[0] as number }, (_, at) => view.getFloat64(8 + at * 8, true))
  return { seed: view.getFloat64(0, true), tables }
}
